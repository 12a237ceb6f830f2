/** Failures of commands, with the texts of the contract language: of versions up to 4, or of version 5. */

import type { Keyset } from '../../ledger/command/coin.ts';

export type Words = 'old' | 'new';

/** The name of a failure's kind in a command's result. */
export type FailureKind = 'TxFailure' | 'EvalError' | 'GasError';

interface FailureFacts {
  /** The default is the kind of a contract's own refusals. */
  readonly kind?: FailureKind;
  /** The text of the same failure outside of blocks, if it differs. */
  readonly unabridged?: string;
}

export class ContractError extends Error {
  override readonly name = 'ContractError';
  readonly kind: FailureKind;
  readonly unabridged: string;

  constructor(message: string, { kind = 'TxFailure', unabridged = message }: FailureFacts = {}) {
    super(message);
    this.kind = kind;
    this.unabridged = unabridged;
  }
}

/**
 * Number of characters that version 5 shows of a key, and of a transfer's id. Failures are stored in blocks, so they
 * are short.
 */
const KEY_SHOWN = 10;
const ID_SHOWN = 20;
/** The same in older versions, for public keys only. */
const OLD_PUBLIC_KEY_SHOWN = 8;
/** Maximum length of a message in version 5. */
const MAX_MESSAGE = 256;

/** @returns a failure's message as it is in a result */
export function inResult(message: string, words: Words): string {
  return words === 'old' ? message : message.slice(0, MAX_MESSAGE);
}

export function noSuchAccount(account: string, words: Words): ContractError {
  if (words === 'old') return new ContractError(`with-read: row not found: ${account}`);
  const noValue = 'No value found in table coin_coin-table for key: ';
  return new ContractError(noValue + shortened(account, KEY_SHOWN), { unabridged: noValue + account });
}

export function alreadyCompleted(pactId: string, words: Words): ContractError {
  return new ContractError(
    words === 'old'
      ? `resumePact: pact completed: ${pactId}`
      : `Requested defpact execution already completed for defpact id: ${shortened(pactId, ID_SHOWN)}`,
    { kind: 'EvalError' },
  );
}

export function noPreviousStep(pactId: string, words: Words): ContractError {
  return new ContractError(
    words === 'old'
      ? `resumePact: no previous execution found for: ${pactId}`
      : // With two spaces, as it is.
        `No previous defpact execution found for defpact id:  ${shortened(pactId, ID_SHOWN)}`,
    { kind: 'EvalError' },
  );
}

export function keysetFailure({ keys, pred }: Keyset, words: Words): ContractError {
  const sorted = [...new Set(keys)].sort();
  const old = sorted.map((key) => shortened(key, OLD_PUBLIC_KEY_SHOWN)).join(', ');
  const unabridged = `Keyset failure (${pred}): [${old}]`;
  if (words === 'old') return new ContractError(unabridged);
  const shown = sorted.map((key) => shortened(key, KEY_SHOWN)).join(', ');
  return new ContractError(`Keyset failure ( ${pred} ):  ${shown}`, { unabridged });
}

/** @param args in the contract language, such as `"alice" "bob" 1.0` */
export function notInstalled(capability: string, args: string, words: Words): ContractError {
  return new ContractError(
    words === 'old'
      ? `Managed capability not installed: (${capability} ${args})`
      : `Capability ${capability} was not installed. Check the sigs field or the arguments to verify that the capability is specified correctly.`,
    { kind: 'EvalError' },
  );
}

export function gasExceeded(limit: number, gas: number, words: Words): ContractError {
  return words === 'old'
    ? new ContractError(`Gas limit (${limit}) exceeded: ${gas}`, { kind: 'GasError' })
    : // Without a space, as it is.
      new ContractError(`Gas limit "${limit}"exceeded: ${gas}`, { kind: 'EvalError' });
}

function shortened(text: string, shown: number): string {
  const characters = [...text];
  return characters.length > shown ? `${characters.slice(0, shown).join('')}...` : text;
}
