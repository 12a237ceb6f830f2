/** `pickaxe tx add-sig`: adds signatures to a form, of key files or of what `pickaxe tx sign` has printed. */

import { EXIT } from '../../../app/exit-codes.ts';
import type { KeyPair } from '../../../ledger/command/keys.ts';
import { addSignatures, type NamedSignatures, putSignatures } from '../../../ledger/request-file/combine.ts';
import { parseSignatureLines, parseUnsignedForm } from '../../../ledger/request-file/unsigned-form.ts';
import { readKeyFile } from '../../key-file.ts';
import { readInput, readTextFile } from '../../tx/files.ts';
import type { Io } from '../../tx/io.ts';
import { printForm } from '../../tx/print-form.ts';
import { mayBeSigned } from '../../tx/show-before-signing.ts';

/** How a line of signatures begins; key files begin with the names of their keys. */
const SIGNATURE_LINE = /^['"]?[\da-f]{64}['"]?:/m;

export interface AddSigOptions {
  /** Whether a complete command is for /local. */
  readonly local: boolean;
  /** Whether not to ask before key files sign. */
  readonly yes: boolean;
}

/**
 * @param added files of keys or of signatures
 * @returns the exit code: failed when a person was asked and did not want to sign
 * @throws UsageError or RequestFileError for files that cannot be used, and for a key that is not one of the form's.
 */
export async function runTxAddSig(
  formFile: string,
  added: readonly string[],
  { local, yes }: AddSigOptions,
  io: Io,
): Promise<number> {
  const { file, text } = await readInput(formFile, io);
  const form = parseUnsignedForm(text, file);
  const { pairs, signatures } = sorted(added);
  const signed = addSignatures({ file, form: putSignatures({ file, form }, signatures) }, pairs);
  if (pairs.length > 0 && !(await mayBeSigned(file, form, yes, io))) return EXIT.failed;
  printForm({ file, form: signed }, local, io);
  return EXIT.done;
}

function sorted(files: readonly string[]): { pairs: KeyPair[]; signatures: NamedSignatures[] } {
  const isOfSignatures = (file: string) => SIGNATURE_LINE.test(readTextFile(file).text);
  const ofSignatures = files.filter(isOfSignatures);
  return {
    pairs: files.filter((file) => !ofSignatures.includes(file)).map(readKeyFile),
    signatures: ofSignatures.map((file) => ({ file, sigs: parseSignatureLines(readTextFile(file).text, file) })),
  };
}
