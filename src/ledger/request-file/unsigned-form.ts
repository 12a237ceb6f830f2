/**
 * A command on its way to its signers (document 2, "Signing workflow"): the text, its hash, and a signature or null for
 * each key. The condensed form leaves the text out, so that it fits where there is little room.
 */

import { equalBytes } from '../../chain/bytes.ts';
import { decodeBase64url } from '../base64url.ts';
import { changedPart } from '../command/command.ts';
import { hashOfCmd } from '../command/hash.ts';
import { inToolOrder } from '../command/key-order.ts';
import { isSignature } from '../command/keys.ts';
import { parsePayload } from '../command/payload.ts';
import { LedgerFormatError } from '../errors.ts';
import { RequestFileError } from './errors.ts';
import { Place, readHash, readPublicKey } from './place.ts';
import { yamlText } from './yaml-text.ts';

export interface UnsignedForm {
  /** 43 characters of base64url. */
  readonly hash: string;
  /** By public key, 64 hex digits: a signature, 128 hex digits, or null. */
  readonly sigs: ReadonlyMap<string, string | null>;
  /** The command's text; null in the condensed form. */
  readonly cmd: string | null;
}

/**
 * Reads a form in YAML or JSON, and checks all that can be checked: the hash against the text, the keys against the
 * text's signers, and every signature against the hash.
 * @throws RequestFileError with the file's name, and the line if there is one.
 */
export function parseUnsignedForm(text: string, file: string): UnsignedForm {
  const form = readUnsignedForm(text, file);
  checkForm(form, file);
  return form;
}

/**
 * Reads a form whose parts may not belong together.
 * @throws RequestFileError with the file's name and the line for what has not the shape of a form.
 */
export function readUnsignedForm(text: string, file: string): UnsignedForm {
  const place = Place.read(text, file);
  if (place.hasAny(OF_REQUEST) && !place.hasAny(['hash'])) {
    throw new RequestFileError(`${file} is a request, not yet a command: pickaxe tx build makes a command of it.`);
  }
  const { hash, sigs, cmd } = place.fields('hash', 'sigs', 'cmd');
  return { hash: readHash(hash), sigs: readSignatures(sigs), cmd: cmd.isAbsent ? null : cmd.text() };
}

/** What says which code runs and who pays for it: a request has some of these, and a form none. */
const OF_REQUEST = ['code', 'codeFile', 'publicMeta', 'pactTxHash', 'flowTxHash'];

/**
 * Reads lines of public keys and signatures, as `signatureLines` writes them.
 * @throws RequestFileError with the file's name and the line.
 */
export function parseSignatureLines(text: string, file: string): ReadonlyMap<string, string | null> {
  return readSignatures(Place.read(text, file));
}

function readSignatures(place: Place): Map<string, string | null> {
  return new Map(place.entries().map(([key, each]) => [readPublicKey(key, each), readSignature(each)]));
}

function readSignature(place: Place): string | null {
  if (place.isAbsent) return null;
  const signature = place.text();
  if (!/^[\da-f]{128}$/.test(signature)) throw place.fault('must be null or a signature: 128 lower-case hex digits');
  return signature;
}

/**
 * @param file whose form it is
 * @throws RequestFileError that names what does not belong together.
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
      throw new RequestFileError(`${file}: the signature of ${key} is not its signature over the hash.`);
    }
  }
}

/**
 * @returns the public keys of the command's signers, in their order
 * @throws RequestFileError unless the text can be read.
 */
export function signersOf(cmd: string, file: string): string[] {
  try {
    return parsePayload(cmd).signers.map(({ pubKey }) => pubKey);
  } catch (error) {
    if (error instanceof LedgerFormatError) throw new RequestFileError(`${file}: ${error.message}.`);
    throw error;
  }
}

/** @returns YAML, byte for byte as the contract tool writes it; it ends with a newline */
export function formatUnsignedForm({ hash, sigs, cmd }: UnsignedForm): string {
  const command = cmd === null ? '' : `cmd: ${yamlText(cmd)}\n`;
  return `hash: ${yamlText(hash)}\n${sigs.size === 0 ? 'sigs: {}\n' : `sigs:\n${signatureLines(sigs, '  ')}`}${command}`;
}

/** @returns a line for each key, in the tool's order */
export function signatureLines(sigs: ReadonlyMap<string, string | null>, indent = ''): string {
  const line = (key: string, signature: string | null) =>
    `${indent}${yamlText(key)}: ${signature === null ? 'null' : yamlText(signature)}\n`;
  return inToolOrder(sigs.keys())
    .map((key) => line(key, sigs.get(key)!))
    .join('');
}
