/** Adds signatures to an unsigned form, from keys or from other copies of the form, in any order. */

import { decodeBase64url } from '../base64url.ts';
import type { KeyPair } from '../command/keys.ts';
import { RequestFileError } from './errors.ts';
import { checkForm, signatureLines, signersOf, type UnsignedForm } from './unsigned-form.ts';

/** A form and the name of its file. */
export interface NamedForm {
  readonly file: string;
  readonly form: UnsignedForm;
}

/**
 * @param pairs the keys that sign
 * @throws RequestFileError for a key that is not one of the form's, and as `checkForm`.
 */
export function addSignatures({ form, file }: NamedForm, pairs: readonly KeyPair[]): UnsignedForm {
  checkForm(form, file);
  const hash = decodeBase64url(form.hash, 32);
  const sigs = new Map(form.sigs);
  for (const pair of pairs) {
    if (!sigs.has(pair.publicKey))
      throw new RequestFileError(`${file}: ${pair.publicKey} is not a key that is to sign this command.`);
    sigs.set(pair.publicKey, pair.sign(hash));
  }
  return { ...form, sigs };
}

/** Signatures by public key, and the name of their file. */
export interface NamedSignatures {
  readonly file: string;
  readonly sigs: ReadonlyMap<string, string | null>;
}

/**
 * Adds signatures that were made elsewhere, over the form's hash.
 * @throws RequestFileError for a key that is not one of the form's, for a signature of another command, and as
 * `checkForm`.
 */
export function putSignatures({ form, file }: NamedForm, added: readonly NamedSignatures[]): UnsignedForm {
  checkForm(form, file);
  const all = new Map(form.sigs);
  for (const { sigs, file: from } of added) {
    for (const [key, signature] of sigs) {
      if (!all.has(key)) throw new RequestFileError(`${from}: ${key} is not a key that is to sign this command.`);
      if (signature !== null) all.set(key, signature);
    }
    checkForm({ ...form, sigs: all }, from);
  }
  return { ...form, sigs: all };
}

/**
 * Puts the signatures of several copies of one form together. A copy may be condensed, and may lack keys.
 * @returns a form with the command's text, and with all its signers' keys in their order
 * @throws RequestFileError unless there is exactly one hash and one text in all copies, and as `checkForm`.
 */
export function combineForms(forms: readonly NamedForm[]): UnsignedForm {
  for (const { form, file } of forms) checkForm(form, file);
  const [first] = forms;
  if (!first) throw new RequestFileError('There are no files to combine.');
  const other = forms.find(({ form }) => form.hash !== first.form.hash);
  if (other)
    throw new RequestFileError(
      `${other.file}: this form has another hash than ${first.file}, so it is of another command.`,
    );
  const full = forms.find(({ form }) => form.cmd !== null);
  if (!full)
    throw new RequestFileError(`None of the files has cmd: add the form that ${first.file} was condensed from.`);
  // As the hash is that of the text, all copies have the same text.
  const { hash } = first.form;
  const cmd = full.form.cmd!;
  const signatureOf = (key: string) => forms.map(({ form }) => form.sigs.get(key)).find((sig) => sig) ?? null;
  const form = { hash, sigs: new Map(signersOf(cmd, full.file).map((key) => [key, signatureOf(key)])), cmd };
  for (const { file, form: copy } of forms) checkForm({ ...copy, cmd }, file);
  return form;
}

/**
 * @param hash of a command, 43 characters of base64url
 * @returns YAML with one signature for each key; it ends with a newline
 * @throws LedgerFormatError unless the hash is one.
 */
export function signHash(hash: string, pairs: readonly KeyPair[]): string {
  const bytes = decodeBase64url(hash.trim(), 32);
  return signatureLines(new Map(pairs.map((pair) => [pair.publicKey, pair.sign(bytes)])));
}
