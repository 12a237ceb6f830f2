/** Finds the commands in a text: JSON for /send, JSON for /local, or a form on its way to its signers. */

import { type Command, parseCommand } from '../../ledger/command/command.ts';
import { LedgerFormatError } from '../../ledger/errors.ts';
import { type ExactJson, type ExactJsonObject, isExactJsonObject, parseExactJson } from '../../ledger/exact-json.ts';
import { RequestFileError } from '../../ledger/request-file/errors.ts';
import { readUnsignedForm, type UnsignedForm } from '../../ledger/request-file/unsigned-form.ts';
import type { NamedText } from './files.ts';

/** A command, whole or on its way to its signers, as it was read: nothing is checked but its shape. */
export type Transaction =
  | { readonly kind: 'command'; readonly file: string; readonly command: Command }
  | { readonly kind: 'form'; readonly file: string; readonly form: UnsignedForm };

/** @throws RequestFileError or LedgerFormatError for a text that is none of these. */
export function parseTransactions({ text, file }: NamedText): Transaction[] {
  const json = jsonObjectIn(text);
  if (json && Array.isArray(json.cmds)) {
    const { cmds } = json;
    if (cmds.length === 0) throw new RequestFileError(`${file}: cmds has no command.`);
    return cmds.map((each, i) => commandIn(each, cmds.length === 1 ? file : `${file}, command ${i + 1}`));
  }
  if (json && Array.isArray(json.sigs)) return [commandIn(json, file)];
  return [{ kind: 'form', file, form: readUnsignedForm(text, file) }];
}

function jsonObjectIn(text: string): ExactJsonObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const json = parseExactJson(text);
    return isExactJsonObject(json) ? json : undefined;
  } catch (error) {
    // YAML can begin with a brace, too; its own reader says what is wrong.
    if (error instanceof LedgerFormatError) return undefined;
    throw error;
  }
}

function commandIn(json: ExactJson, file: string): Transaction {
  try {
    return { kind: 'command', file, command: parseCommand(json) };
  } catch (error) {
    if (error instanceof LedgerFormatError) throw new RequestFileError(`${file}: ${error.message}.`);
    throw error;
  }
}
