/** Parses the code of commands. Nodes do so before they accept a command. */

import type { Dialect } from '../../contract/dialect.ts';
import { ContractError } from '../../contract/errors.ts';
import { formsIn } from '../../contract/syntax/form-parser.ts';
import type { Form } from '../../contract/syntax/forms.ts';
import { topLevelOf } from '../../contract/syntax/program.ts';
import type { Payload } from '../../protocol/ledger/command/command-payload.ts';

/**
 * Maximum size of a command's `cmd` in bytes. A larger command would need more gas than a block allows by default. A
 * proof in it costs no gas, but even the longest proofs of real nodes are far smaller.
 */
export const MAX_COMMAND_BYTES = 300_000;

/** Message of dialect 4 for code that has no form at its beginning. */
const NOTHING_READ = 'Failed reading: mzero';
/** Message of dialect 4 for code with a syntax error after its first form. */
const NOT_AT_END = 'endOfInput';

/** @returns the forms of a command's code @throws ContractError of kind `syntax` with the message of real nodes */
export function formsOfCode(code: string, dialect: Dialect): readonly Form[] {
  const forms: Form[] = [];
  try {
    for (const form of formsIn(code, dialect)) forms.push(form);
  } catch (error) {
    if (!(error instanceof ContractError) || dialect === 5) throw error;
    throw new ContractError('syntax', forms.length === 0 ? NOTHING_READ : NOT_AT_END);
  }
  if (forms.length === 0 && dialect === 4) throw new ContractError('syntax', NOTHING_READ);
  return forms;
}

/**
 * Checks whether a command's code can be parsed. In dialect 4, this means only that the code consists of forms;
 * `whyMeaningless` then checks the forms. In dialect 5, the forms are checked here, too.
 * @returns the fault; undefined if there is none
 */
export function unreadable({ payload }: Payload, dialect: Dialect): ContractError | undefined {
  if ('cont' in payload) return undefined;
  const { code } = payload.exec;
  return faultOf(() => {
    const forms = formsOfCode(code, dialect);
    if (dialect === 5) for (const form of forms) topLevelOf(form, dialect);
  });
}

/**
 * In dialect 4, checks whether the forms of a command's code are valid expressions and definitions.
 * @returns the message of real nodes for invalid forms; undefined for valid forms, and always in dialect 5
 */
export function whyMeaningless({ payload }: Payload, dialect: Dialect): string | undefined {
  if ('cont' in payload || dialect === 5) return undefined;
  const { code } = payload.exec;
  const fault = faultOf(() => {
    for (const form of formsOfCode(code, dialect)) topLevelOf(form, dialect);
  });
  if (!fault) return undefined;
  const column = Array.from(code.slice(0, fault.position?.offset ?? 0)).length;
  return `<interactive>:0:${column}: Failure: Syntax error: ${fault.message}`;
}

/**
 * @returns the syntax error that `read` throws, if any. Other faults, such as two definitions of one name, are ignored,
 *   because nodes find them only when the code runs
 */
function faultOf(read: () => void): ContractError | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return error.kind === 'syntax' ? error : undefined;
  }
}
