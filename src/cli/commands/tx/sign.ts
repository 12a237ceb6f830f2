/** `pickaxe tx sign`: prints signatures alone, so that nothing else has to be carried back from an offline machine. */

import { EXIT } from '../../../app/exit-codes.ts';
import { addSignatures, signHash } from '../../../ledger/request-file/combine.ts';
import { parseUnsignedForm, signatureLines } from '../../../ledger/request-file/unsigned-form.ts';
import { readKeyFile } from '../../key-file.ts';
import { type NamedText, readInput } from '../../tx/files.ts';
import type { Io } from '../../tx/io.ts';
import { mayBeSigned, mayHashBeSigned } from '../../tx/show-before-signing.ts';

/** A command's hash: 43 characters of base64url. */
const HASH = /^[\w-]{43}$/;

/**
 * @param what a hash, or the name of a file with a hash or a form in it
 * @returns the exit code: failed when a person was asked and did not want it
 * @throws UsageError or RequestFileError for files that cannot be used, and for a key that is not one of the form's.
 */
export async function runTxSign(
  what: string,
  keyFiles: readonly string[],
  { yes }: { readonly yes: boolean },
  io: Io,
): Promise<number> {
  const pairs = keyFiles.map(readKeyFile);
  const { file, text }: NamedText = HASH.test(what) ? { file: 'the hash', text: what } : await readInput(what, io);
  if (HASH.test(text.trim())) {
    const lines = signHash(text, pairs);
    if (!(await mayHashBeSigned(yes, io))) return EXIT.failed;
    io.out(lines);
    return EXIT.done;
  }
  const form = parseUnsignedForm(text, file);
  const { sigs } = addSignatures({ file, form }, pairs);
  if (!(await mayBeSigned(file, form, yes, io))) return EXIT.failed;
  io.out(signatureLines(new Map(pairs.map(({ publicKey }) => [publicKey, sigs.get(publicKey)!]))));
  return EXIT.done;
}
