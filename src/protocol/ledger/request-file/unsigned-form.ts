/**
 * The unsigned form: a command that its signers still have to sign (document 2, "Signing workflow"). The condensed form
 * does not have the command's text, so it is short.
 */

import { equalBytes } from '../../chain/bytes.ts';
import {
  type Command,
  changedPart,
  commandJson,
  hashOfCmd,
  isSignature,
  KeyPair,
  sendJson,
  verifyCommand,
} from '../command/command.ts';
import { parsePayload } from '../command/command-payload.ts';
import { inToolOrder } from '../command/tool-json.ts';
import { decodeBase64url, encodeBase64url, LedgerFormatError } from '../json.ts';
import { type ListForm, listFormJson, readSignatureList, signaturesOfList } from './signature-list.ts';
import { Place, RequestFileError, readHash, readPublicKey, readSignature, yamlText } from './yaml.ts';

export interface UnsignedForm {
  /** The command's hash: 43 characters of base64url. */
  readonly hash: string;
  /** The signature (128 hex digits) for each public key (64 hex digits). A missing signature is null. */
  readonly sigs: ReadonlyMap<string, string | null>;
  /** The command's text; null in the condensed form. */
  readonly cmd: string | null;
  /** How another program's file lists the signatures. Absent if they are a map, as the contract tool writes them. */
  readonly list?: ListForm;
}

/**
 * Reads a form and checks it with `checkForm`.
 * @throws RequestFileError with the file's name, and the line if there is one
 */
export function parseUnsignedForm(text: string, file: string): UnsignedForm {
  const form = readUnsignedForm(text, file);
  checkForm(form, file);
  return form;
}

/**
 * Reads a form without checking whether its parts match.
 * @throws RequestFileError with the file's name, and the line if there is one
 */
export function readUnsignedForm(text: string, file: string): UnsignedForm {
  const place = Place.read(text, file);
  if (place.hasAny(OF_REQUEST) && !place.hasAny(['hash'])) {
    throw new RequestFileError(`${file} is a request, not yet a command: pickaxe tx build makes a command of it.`);
  }
  const { hash, sigs, cmd } = place.fields('hash', 'sigs', 'cmd');
  if (sigs.isList) {
    const { signatures, isNamed } = readSignatureList(sigs);
    const text = cmd.text();
    const named = signaturesOfList(signatures, signersOf(text, file), sigs);
    const known = hash.isAbsent ? encodeBase64url(hashOfCmd(text)) : readHash(hash);
    return { hash: known, sigs: named, cmd: text, list: { isNamed, hasHash: !hash.isAbsent } };
  }
  return { hash: readHash(hash), sigs: readSignatures(sigs), cmd: cmd.isAbsent ? null : cmd.text() };
}

/** Keys that request files have and forms do not have. */
const OF_REQUEST = ['code', 'codeFile', 'publicMeta', 'pactTxHash', 'flowTxHash'];

/** Reads the output of `signatureLines`. @throws RequestFileError with the file's name, and the line if there is one */
export function parseSignatureLines(text: string, file: string): ReadonlyMap<string, string | null> {
  return readSignatures(Place.read(text, file));
}

function readSignatures(place: Place): Map<string, string | null> {
  return new Map(place.entries().map(([key, each]) => [readPublicKey(key, each), readSignature(each)]));
}

/**
 * Checks the hash against the text, the keys against the text's signers, and every signature against the hash. If the
 * form has no text, only the signatures are checked.
 * @throws RequestFileError that names the parts that do not match, and for a malformed text
 */
export function checkForm({ hash, sigs, cmd }: UnsignedForm, file: string): void {
  const bytes = decodeBase64url(hash, 32);
  if (cmd !== null) {
    const own = hashOfCmd(cmd);
    if (!equalBytes(own, bytes)) throw new RequestFileError(`${file}: ${changedPart(sigs, bytes, own).message}`);
    const signers = signersOf(cmd, file);
    const stranger = [...sigs.keys()].find((key) => !signers.includes(key));
    if (stranger !== undefined) throw new RequestFileError(`${file}: ${stranger} is not a signer of this command.`);
  }
  for (const [key, signature] of sigs) {
    if (signature !== null && !isSignature(signature, bytes, key)) {
      throw new RequestFileError(`${file}: the signature of ${key} does not sign the hash.`);
    }
  }
}

/** @returns the signers' public keys, in their order in the text @throws RequestFileError for a malformed text */
export function signersOf(cmd: string, file: string): string[] {
  try {
    return parsePayload(cmd).signers.map(({ pubKey }) => pubKey);
  } catch (error) {
    if (error instanceof LedgerFormatError) throw new RequestFileError(`${file}: ${error.message}.`);
    throw error;
  }
}

/**
 * @returns the form as it was read, with a newline at its end: JSON if its signatures are a list, otherwise YAML with
 *   the same bytes as the contract tool's output
 */
export function formatUnsignedForm({ hash, sigs, cmd, list }: UnsignedForm): string {
  if (list && cmd !== null) return listFormJson(list, { hash, cmd, sigs });
  const command = cmd === null ? '' : `cmd: ${yamlText(cmd)}\n`;
  return `hash: ${yamlText(hash)}\n${sigs.size === 0 ? 'sigs: {}\n' : `sigs:\n${signatureLines(sigs, '  ')}`}${command}`;
}

export function signatureLines(sigs: ReadonlyMap<string, string | null>, indent = ''): string {
  const line = (key: string, signature: string | null) =>
    `${indent}${yamlText(key)}: ${signature === null ? 'null' : yamlText(signature)}\n`;
  return inToolOrder(sigs.keys())
    .map((key) => line(key, sigs.get(key)!))
    .join('');
}

/* Adding signatures to a form, and combining copies of a form. */

export interface NamedForm {
  readonly file: string;
  readonly form: UnsignedForm;
}

/**
 * @returns the form with a signature of each key pair
 * @throws RequestFileError for a key pair whose public key is not in the form, and like `checkForm`
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

export interface NamedSignatures {
  readonly file: string;
  readonly sigs: ReadonlyMap<string, string | null>;
}

/**
 * @param added signatures to be added. A signature that is null changes nothing
 * @returns the form with these signatures
 * @throws RequestFileError for a key that is not in the form, for a signature of another command, and like `checkForm`
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
 * Combines the signatures of copies of one form. Copies may be condensed, or may lack keys of some signers.
 * @returns a form with the command's text, and with the keys of all signers in their order
 * @throws RequestFileError if there are no copies, if their hashes differ, if no copy has the text, and like
 *   `checkForm`
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
  const { hash } = first.form;
  // All copies have the same hash, so the command's text in `full` is the text of every copy.
  const cmd = full.form.cmd!;
  const signatureOf = (key: string) => forms.map(({ form }) => form.sigs.get(key)).find((sig) => sig) ?? null;
  const sigs = new Map(signersOf(cmd, full.file).map((key) => [key, signatureOf(key)]));
  const form = { ...full.form, hash, sigs, cmd };
  for (const { file, form: copy } of forms) checkForm({ ...copy, cmd }, file);
  return form;
}

/**
 * @param hash the hash of a command, 43 characters of base64url
 * @returns YAML with one line for each signature @throws LedgerFormatError if the hash is malformed
 */
export function signHash(hash: string, pairs: readonly KeyPair[]): string {
  const bytes = decodeBase64url(hash.trim(), 32);
  return signatureLines(new Map(pairs.map((pair) => [pair.publicKey, pair.sign(bytes)])));
}

/* Output like that of the contract tool: JSON if a command is complete, and YAML as long as signatures are missing. */

/**
 * The endpoint for a complete command. /send accepts several commands in one object, and /local accepts one command.
 */
type Recipient = 'send' | 'local';

/** @returns JSON with a newline at its end */
export function formatCommand(command: Command, recipient: Recipient): string {
  return `${recipient === 'local' ? commandJson(command) : sendJson([command])}\n`;
}

/**
 * @returns the command; undefined if a signature or the text is missing
 * @throws RequestFileError if the text is malformed, or if the complete command is not valid
 */
export function completed({ hash, sigs, cmd }: UnsignedForm, file: string): Command | undefined {
  if (cmd === null) return undefined;
  const signatures = signersOf(cmd, file).map((key) => sigs.get(key));
  const present = signatures.filter((sig) => typeof sig === 'string');
  if (present.length < signatures.length) return undefined;
  const command = { cmd, hash, sigs: present.map((sig) => ({ sig })) };
  const verdict = verifyCommand(command);
  if (verdict.kind !== 'valid') throw new RequestFileError(`${file}: ${verdict.message}`);
  return command;
}

/**
 * @returns JSON or YAML, with a newline at its end. A form whose signatures are a list stays such a form when it is
 *   complete, because the program that wrote it expects it back
 * @throws RequestFileError like `completed`
 */
export function formatForm(form: UnsignedForm, recipient: Recipient, file: string): string {
  const command = completed(form, file);
  return command && form.list === undefined ? formatCommand(command, recipient) : formatUnsignedForm(form);
}

/* Key files of the contract tool and of `pickaxe keygen`. No error quotes a secret. */

/** @throws RequestFileError unless the file has exactly one public key and the secret key that belongs to it */
export function parseKeyFile(text: string, file: string): KeyPair {
  const { publicKey, secretKey, ...named } = Place.read(text, file).fields(
    'public',
    'secret',
    'publicKey',
    'secretKey',
  );
  const ours = [publicKey, secretKey].find((key) => !key.isAbsent);
  if (ours && !(named.public.isAbsent && named.secret.isAbsent))
    throw ours.fault('must not stand beside public or secret: leave one pair out');
  const keys = ours ? { public: publicKey, secret: secretKey } : named;
  if (keys.public.isAbsent) throw keys.public.fault('must be there: the public key');
  return readKeyPair(keys);
}

/**
 * @param keys `public` and `address` may be absent. Both mean the public key
 * @throws RequestFileError for a missing or malformed secret key, and for keys that do not match
 */
export function readKeyPair(keys: {
  readonly secret: Place;
  readonly public: Place;
  readonly address?: Place;
}): KeyPair {
  const { secret, address } = keys;
  if (secret.isAbsent) throw secret.fault('must be there: the secret key');
  try {
    const text = secret.text();
    const pairs = [keys.public, address].map((key) => new KeyPair(text, key && !key.isAbsent ? key.text() : undefined));
    return pairs[0];
  } catch (error) {
    if (error instanceof LedgerFormatError) throw secret.fault(`is wrong: ${error.message}`);
    throw error;
  }
}
