/** A signed command: its text, the text's hash and the signatures (document 2, "Command"). */

import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { blake2b } from '@noble/hashes/blake2.js';
import { z } from 'zod';
import { fromHex, toHex } from '../../chain/bytes.ts';
import { checked } from '../fields.ts';
import { decodeBase64url, type ExactJson, encodeBase64url, LedgerFormatError } from '../json.ts';
import { fields, type Payload, parsePayload, type Signer } from './command-payload.ts';
import { jsonList, jsonObject, jsonText } from './tool-json.ts';

export interface Command {
  /** The command's text. It must never be reformatted, because its hash is signed. */
  readonly cmd: string;
  /** The hash of the text, which is also the request key: 43 characters of base64url. */
  readonly hash: string;
  /** The signatures, in the order of the signers. A missing signature is null. */
  readonly sigs: readonly (Signature | null)[];
}

export interface Signature {
  /** The signature. For Ed25519, it has 128 hex digits. */
  readonly sig: string;
}

type CommandPart = 'cmd' | 'hash' | 'cmd or hash' | 'signatures';

type Verdict =
  | { readonly kind: 'valid' }
  /** No fault was found, but the check is incomplete: the signed text is lost, or a signature scheme is unsupported. */
  | { readonly kind: 'not checkable'; readonly message: string }
  | { readonly kind: 'wrong'; readonly part: CommandPart; readonly message: string };

/**
 * The beginning of February 2022, in microseconds since 1970. In blocks before this time, the text of a command can
 * differ from the text that was hashed. The hashed text is then lost.
 */
const REENCODED_UNTIL_MICROSECONDS = BigInt(Date.UTC(2022, 1)) * 1000n;
const ED25519 = 'ED25519';

const Sig = fields({ sig: z.string().nullish() }).transform(({ sig }) => (sig ? { sig } : null));
const Command = fields({ cmd: z.string(), hash: z.string(), sigs: z.array(Sig.nullable()) });

/** @throws LedgerFormatError that names the wrong field */
export function parseCommand(json: ExactJson): Command {
  return checked(Command, json, 'command');
}

/** @returns JSON for /local, as the contract tool writes it */
export function commandJson({ hash, sigs, cmd }: Command): string {
  const signatures = sigs.map((each) => (each ? jsonObject([['sig', jsonText(each.sig)]]) : 'null'));
  return jsonObject([
    ['hash', jsonText(hash)],
    ['sigs', jsonList(signatures)],
    ['cmd', jsonText(cmd)],
  ]);
}

/** @returns JSON for /send, as the contract tool writes it */
export function sendJson(commands: readonly Command[]): string {
  return jsonObject([['cmds', jsonList(commands.map(commandJson))]]);
}

/**
 * Checks the hash, and all signatures in the order of the signers.
 * @param storedAt the creation time of the command's block, in microseconds since 1970. In old blocks, the signed text
 *   can be lost. So if the block is old and the hash does not match the text, only the signatures are checked against
 *   the hash. If they are right, the verdict is `not checkable`
 */
export function verifyCommand(command: Command, storedAt?: bigint): Verdict {
  const hash = bytesOfHash(command.hash);
  if (!hash) return wrong('hash', 'hash is not 43 characters of base64url.');
  const read = readPayload(command.cmd);
  if ('fault' in read) return wrong('cmd', read.fault);
  const { signers } = read.payload;
  const own = hashOfCmd(command.cmd);
  if (encodeBase64url(own) === command.hash) return verifySignatures(command, signers, hash);
  const lostText = storedAt !== undefined && storedAt < REENCODED_UNTIL_MICROSECONDS;
  if (lostText) return verifyLost(command, signers, hash);
  return changedPart(
    signers.map(({ pubKey }, i) => [pubKey, command.sigs[i]?.sig ?? null] as const),
    hash,
    own,
  );
}

function verifySignatures({ sigs }: Command, signers: readonly Signer[], hash: Uint8Array): Verdict {
  if (sigs.length !== signers.length) {
    return wrong('signatures', `There are ${sigs.length} signatures for ${signers.length} signers.`);
  }
  let verdict: Verdict = { kind: 'valid' };
  for (const [index, { pubKey, addr = pubKey, scheme = ED25519 }] of signers.entries()) {
    const signature = sigs[index];
    if (addr !== pubKey && scheme === ED25519) {
      return wrong('cmd', `The address of ${pubKey} is not this key, so nodes refuse the command.`);
    }
    if (!signature) return wrong('signatures', `The signature of ${pubKey} is missing.`);
    if (scheme !== ED25519) {
      verdict = {
        kind: 'not checkable',
        message: `Signatures of the scheme ${scheme}, as that of ${pubKey}, are not checked.`,
      };
    } else if (!isSignature(signature.sig, hash, pubKey)) {
      return wrong('signatures', `The signature of ${pubKey} does not sign the hash.`);
    }
  }
  return verdict;
}

/** Checks only the signatures against the hash. The hash itself cannot be checked, because its text is lost. */
function verifyLost(command: Command, signers: readonly Signer[], hash: Uint8Array): Verdict {
  const verdict = verifySignatures(command, signers, hash);
  if (verdict.kind === 'wrong') return verdict;
  const message =
    'The block stores the command in another encoding than the one that was hashed, so only the signatures were checked.';
  return { kind: 'not checkable', message };
}

/**
 * Finds the changed part of a command whose hash does not match its text.
 * @param hash the hash that is in the command, 32 bytes
 * @param own the hash that was computed from the command's text, 32 bytes
 */
export function changedPart(
  sigs: Iterable<readonly [publicKey: string, signature: string | null]>,
  hash: Uint8Array,
  own: Uint8Array,
): Extract<Verdict, { kind: 'wrong' }> {
  const signatures = [...sigs];
  const signs = (bytes: Uint8Array) => signatures.some(([key, signature]) => isSignature(signature ?? '', bytes, key));
  if (signs(hash)) {
    return wrong('cmd', 'cmd was changed: the signatures belong to the hash, but the hash is not that of cmd.');
  }
  if (signs(own)) return wrong('hash', 'hash was changed: the signatures belong to cmd, but the hash does not.');
  return wrong('cmd or hash', 'hash is not that of cmd: one of them was changed.');
}

function readPayload(cmd: string): { payload: Payload<unknown> } | { fault: string } {
  if (/\p{Surrogate}/u.test(cmd)) return { fault: 'cmd has half of a surrogate pair, so it is not Unicode.' };
  try {
    return { payload: parsePayload(cmd) };
  } catch (error) {
    if (error instanceof LedgerFormatError) return { fault: `${error.message}.` };
    throw error;
  }
}

function bytesOfHash(hash: string): Uint8Array | undefined {
  try {
    return decodeBase64url(hash, 32);
  } catch (error) {
    if (error instanceof LedgerFormatError) return undefined;
    throw error;
  }
}

function wrong(part: CommandPart, message: string): Extract<Verdict, { kind: 'wrong' }> {
  return { kind: 'wrong', part, message };
}

/*
 * A command's hash is BLAKE2b-256 of the UTF-8 of `cmd`. Document 2 specifies BLAKE2s, but all commands of the real
 * network use BLAKE2b.
 */

const HASH_BYTES = 32;

/** @returns the hash, 32 bytes */
export function hashOfCmd(cmd: string): Uint8Array {
  return blake2b(new TextEncoder().encode(cmd), { dkLen: HASH_BYTES });
}

/** @returns the request key: the hash as 43 characters of base64url */
export function requestKeyOfCmd(cmd: string): string {
  return encodeBase64url(hashOfCmd(cmd));
}

/* Ed25519 keys (RFC 8032). No method of `KeyPair` returns the secret key. */

const KEY_BYTES = 32;
/** The bytes that DER has before the 32 bytes of a secret key and of a public key (RFC 8410). */
const SECRET_PREFIX = fromHex('302e020100300506032b657004220420');
const PUBLIC_PREFIX = fromHex('302a300506032b6570032100');

const KEY = /^[0-9a-f]{64}$/;
const KEY_IN_ANY_CASE = /^[0-9a-f]{64}$/i;
const SIGNATURE = /^[0-9a-f]{128}$/;

/** @returns whether the text consists of 64 lower-case hex digits */
export function isPublicKey(text: string): boolean {
  return KEY.test(text);
}

export class KeyPair {
  /** The public key: 64 lower-case hex digits. */
  readonly publicKey: string;
  readonly #secret: KeyObject;

  /**
   * @param secret 64 hex digits in any case: the 32 bytes that RFC 8032 calls the private key
   * @param publicKey 64 hex digits in any case. If it is present, it must belong to the secret key
   * @throws LedgerFormatError for malformed keys, and for a public key that does not match. Messages quote no key
   */
  constructor(secret: string, publicKey?: string) {
    if (!KEY_IN_ANY_CASE.test(secret)) {
      throw new LedgerFormatError('a secret key is 64 hex digits');
    }
    const key = Buffer.concat([SECRET_PREFIX, fromHex(secret)]);
    this.#secret = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
    const der = createPublicKey(this.#secret).export({ format: 'der', type: 'spki' });
    this.publicKey = toHex(Uint8Array.from(der.subarray(-KEY_BYTES)));
    if (publicKey !== undefined && publicKey.toLowerCase() !== this.publicKey) {
      throw new LedgerFormatError('the secret key does not belong to its public key');
    }
  }

  /** @param hash 32 bytes @returns the signature of the hash: 128 lower-case hex digits */
  sign(hash: Uint8Array): string {
    return toHex(Uint8Array.from(sign(null, hash, this.#secret)));
  }
}

/**
 * @param signature 128 lower-case hex digits
 * @param hash 32 bytes
 * @param publicKey 64 hex digits in any case, as nodes accept
 * @returns whether the signature is valid for the hash and the key; false for a malformed signature or key
 */
export function isSignature(signature: string, hash: Uint8Array, publicKey: string): boolean {
  if (!SIGNATURE.test(signature) || !KEY_IN_ANY_CASE.test(publicKey)) return false;
  const key = createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, fromHex(publicKey)]), format: 'der', type: 'spki' });
  return verify(null, hash, key, fromHex(signature));
}
