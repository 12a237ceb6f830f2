/** What became of a command's code: its value, or a failure in the words of the node's version. */

import type { ContractError, ErrorKind } from '../../contract/errors.ts';

/** The contract language's texts: of versions up to 4, or of version 5. */
export type Words = 'old' | 'new';

/** The name of a failure's kind in a command's result. */
export type FailureKind =
  | 'TxFailure'
  | 'EvalError'
  | 'GasError'
  | 'ArgsError'
  | 'DbError'
  | 'SyntaxError'
  | 'ContinuationError';

export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
}

const KINDS: Readonly<Record<ErrorKind, FailureKind>> = {
  'tx-failure': 'TxFailure',
  eval: 'EvalError',
  gas: 'GasError',
  args: 'ArgsError',
  db: 'DbError',
  syntax: 'SyntaxError',
  continuation: 'ContinuationError',
};

/** Maximum length of a message in version 5: failures are stored in blocks. */
export const MAX_MESSAGE = 256;

/** @returns a failure as it is in a result. Version 5 has three kinds, and short texts */
export function failureOf({ kind, message, stored = message }: ContractError, words: Words): Failure {
  if (words === 'old') return { kind: KINDS[kind], message };
  const kind5 = kind === 'tx-failure' || kind === 'syntax' ? KINDS[kind] : 'EvalError';
  return { kind: kind5, message: stored.slice(0, MAX_MESSAGE) };
}
