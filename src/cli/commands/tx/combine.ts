/** `pickaxe tx combine`: puts the signatures in copies of a form together. */

import { EXIT, UsageError } from '../../../app/exit-codes.ts';
import { combineForms } from '../../../ledger/request-file/combine.ts';
import { parseUnsignedForm } from '../../../ledger/request-file/unsigned-form.ts';
import { readInput } from '../../tx/files.ts';
import type { Io } from '../../tx/io.ts';
import { printForm } from '../../tx/print-form.ts';

/** @throws UsageError or RequestFileError for files that cannot be used, and for forms of different commands. */
export async function runTxCombine(
  files: readonly string[],
  { local }: { readonly local: boolean },
  io: Io,
): Promise<number> {
  if (files.filter((file) => file === '-').length > 1)
    throw new UsageError('Standard input (-) can be read only once.');
  const forms = [];
  for (const each of files) {
    const { file, text } = await readInput(each, io);
    forms.push({ file, form: parseUnsignedForm(text, file) });
  }
  printForm({ file: 'the combined form', form: combineForms(forms) }, local, io);
  return EXIT.done;
}
