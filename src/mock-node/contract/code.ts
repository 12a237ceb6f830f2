/** The code of commands: nodes read it before they take a command. */

import { ContractError } from '../../contract/errors.ts';
import { topLevelOf } from '../../contract/syntax/forms.ts';
import { type Form, formsIn } from '../../contract/syntax/reader.ts';
import { dialectOf } from './environment.ts';
import type { Words } from './outcome.ts';
import type { ReadCommand } from './read-command.ts';

/**
 * The texts of nodes up to version 4 for all code that cannot be read: when no form can, and when something is behind
 * the forms.
 */
const NOTHING_READ = 'Failed reading: mzero';
const NOT_AT_END = 'endOfInput';

/** @returns the forms of a command's code @throws ContractError of kind `syntax` in the words of nodes */
export function formsOfCode(code: string, words: Words): readonly Form[] {
  const forms: Form[] = [];
  try {
    for (const form of formsIn(code, dialectOf(words))) forms.push(form);
  } catch (error) {
    if (!(error instanceof ContractError) || words === 'new') throw error;
    throw new ContractError('syntax', forms.length === 0 ? NOTHING_READ : NOT_AT_END);
  }
  if (forms.length === 0 && words === 'old') throw new ContractError('syntax', NOTHING_READ);
  return forms;
}

/**
 * Version 5 reads everything at once. Up to version 4, nodes first read the forms, and know what they mean only later.
 * @returns what is wrong about a command's code, if it cannot be read
 */
export function unreadable({ payload: { payload } }: ReadCommand, words: Words): ContractError | undefined {
  if ('cont' in payload) return undefined;
  const { code } = payload.exec;
  return faultOf(() => {
    const forms = formsOfCode(code, words);
    if (words === 'new') for (const form of forms) topLevelOf(form, dialectOf(words));
  });
}

/** @returns what a node up to version 4 says of code whose forms can be read, but mean nothing */
export function whyMeaningless({ payload: { payload } }: ReadCommand, words: Words): string | undefined {
  if ('cont' in payload || words === 'new') return undefined;
  const { code } = payload.exec;
  const fault = faultOf(() => {
    for (const form of formsOfCode(code, words)) topLevelOf(form, dialectOf(words));
  });
  if (!fault) return undefined;
  const column = Array.from(code.slice(0, fault.position?.offset ?? 0)).length;
  return `<interactive>:0:${column}: Failure: Syntax error: ${fault.message}`;
}

/** Other faults of forms, such as two definitions of one name, are found only when the code runs. */
function faultOf(read: () => void): ContractError | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return error.kind === 'syntax' ? error : undefined;
  }
}
