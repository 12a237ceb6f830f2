/** The code of commands, which nodes parse before they accept a command. */

import type { Dialect } from '../../contract/dialect.ts';
import { ContractError } from '../../contract/errors.ts';
import { formsIn } from '../../contract/syntax/form-parser.ts';
import type { Form } from '../../contract/syntax/forms.ts';
import { topLevelOf } from '../../contract/syntax/program.ts';
import type { Payload } from '../../protocol/ledger/command/command-payload.ts';

/** Far more than the longest proof of real nodes. Larger commands cannot be paid for. */
export const MAX_COMMAND_BYTES = 300_000;

/**
 * The messages of dialect 4 for code that cannot be parsed: if there is no form at all, and if something follows the
 * forms.
 */
const NOTHING_READ = 'Failed reading: mzero';
const NOT_AT_END = 'endOfInput';

/** @returns the forms of a command's code @throws ContractError of kind `syntax` with the message of nodes */
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
 * Dialect 5 parses everything at once. In dialect 4, nodes parse only the forms at first, and their meaning later.
 * @returns the fault of a command's code if it cannot be parsed
 */
export function unreadable({ payload }: Payload, dialect: Dialect): ContractError | undefined {
  if ('cont' in payload) return undefined;
  const { code } = payload.exec;
  return faultOf(() => {
    const forms = formsOfCode(code, dialect);
    if (dialect === 5) for (const form of forms) topLevelOf(form, dialect);
  });
}

/** @returns the message of nodes of dialect 4 for code whose forms can be parsed, but have no meaning */
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

/** Some faults, such as two definitions of one name, are found only when the code runs. */
function faultOf(read: () => void): ContractError | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return error.kind === 'syntax' ? error : undefined;
  }
}
