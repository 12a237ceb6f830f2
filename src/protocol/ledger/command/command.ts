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
  /** Never reformatted, because it is hashed. */
  readonly cmd: string;
  /** 43 characters of base64url; also the request key. */
  readonly hash: string;
  /** In the order of the signers; null for a missing signature. */
  readonly sigs: readonly (Signature | null)[];
}

export interface Signature {
  /** 128 hex digits for Ed25519. */
  readonly sig: string;
}

type CommandPart = 'cmd' | 'hash' | 'cmd or hash' | 'signatures';

type Verdict =
  | { readonly kind: 'valid' }
  /** No fault was found, but the text or the key for a complete check is not available. */
  | { readonly kind: 'not checkable'; readonly message: string }
  | { readonly kind: 'wrong'; readonly part: CommandPart; readonly message: string };

/** Blocks before February 2022 store commands in a new encoding. The texts that were hashed are lost. */
const REENCODED_UNTIL_MICROSECONDS = BigInt(Date.UTC(2022, 1)) * 1000n;
const ED25519 = 'ED25519';

const Sig = fields({ sig: z.string().nullish() }).transform(({ sig }) => (sig ? { sig } : null));
const Command = fields({ cmd: z.string(), hash: z.string(), sigs: z.array(Sig.nullable()) });

/** @throws LedgerFormatError that names the field */
export function parseCommand(json: ExactJson): Command {
  return checked(Command, json, 'command');
}

/** @returns JSON for /local, written like the contract tool */
export function commandJson({ hash, sigs, cmd }: Command): string {
  const signatures = sigs.map((each) => (each ? jsonObject([['sig', jsonText(each.sig)]]) : 'null'));
  return jsonObject([
    ['hash', jsonText(hash)],
    ['sigs', jsonList(signatures)],
    ['cmd', jsonText(cmd)],
  ]);
}

/** @returns JSON for /send, written like the contract tool */
export function sendJson(commands: readonly Command[]): string {
  return jsonObject([['cmds', jsonList(commands.map(commandJson))]]);
}

/**
 * Checks the hash, and all signatures in the order of the signers.
 * @param storedAt the creation time of the command's block, in microseconds since 1970. A command of an old block,
 *   whose text is lost, is "not checkable" if its signatures match the hash
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
      return wrong('signatures', `The signature of ${pubKey} is not its signature over the hash.`);
    }
  }
  return verdict;
}

/** Hash and signatures belong to the lost text. */
function verifyLost(command: Command, signers: readonly Signer[], hash: Uint8Array): Verdict {
  const verdict = verifySignatures(command, signers, hash);
  if (verdict.kind === 'wrong') return verdict;
  const message =
    'The block stores the command in another encoding than the one that was hashed, so only the signatures were checked.';
  return { kind: 'not checkable', message };
}

/**
 * Finds the changed part of a command whose hash does not match its text.
 * @param hash the command's hash, 32 bytes
 * @param own the hash of its text, 32 bytes
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

/* BLAKE2b-256 of the UTF-8 of `cmd`. Document 2 has BLAKE2s, but every command of the real network uses BLAKE2b. */

const HASH_BYTES = 32;

/** @returns 32 bytes */
export function hashOfCmd(cmd: string): Uint8Array {
  return blake2b(new TextEncoder().encode(cmd), { dkLen: HASH_BYTES });
}

/** @returns 43 characters of base64url */
export function requestKeyOfCmd(cmd: string): string {
  return encodeBase64url(hashOfCmd(cmd));
}

/* Ed25519 keys (RFC 8032). A secret key never leaves its object. */

const KEY_BYTES = 32;
/** The DER before the 32 bytes of a key (RFC 8410). */
const SECRET_PREFIX = fromHex('302e020100300506032b657004220420');
const PUBLIC_PREFIX = fromHex('302a300506032b6570032100');

const KEY = /^[0-9a-f]{64}$/;
const KEY_IN_ANY_CASE = /^[0-9a-f]{64}$/i;
const SIGNATURE = /^[0-9a-f]{128}$/;

/** Whether a text is 64 lower-case hex digits. */
export function isPublicKey(text: string): boolean {
  return KEY.test(text);
}

export class KeyPair {
  /** 64 lower-case hex digits. */
  readonly publicKey: string;
  readonly #secret: KeyObject;

  /**
   * @param secret 64 hex digits: the 32 bytes from which RFC 8032 derives both keys
   * @param publicKey 64 hex digits, compared with the derived key if given
   * @throws LedgerFormatError, which quotes neither key, for malformed keys and for a public key that does not match
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

  /** @param hash 32 bytes @returns 128 lower-case hex digits */
  sign(hash: Uint8Array): string {
    return toHex(Uint8Array.from(sign(null, hash, this.#secret)));
  }
}

/**
 * @param signature 128 lower-case hex digits; false for any other text
 * @param hash 32 bytes
 * @param publicKey 64 hex digits in any case, which nodes accept; false for any other text
 */
export function isSignature(signature: string, hash: Uint8Array, publicKey: string): boolean {
  if (!SIGNATURE.test(signature) || !KEY_IN_ANY_CASE.test(publicKey)) return false;
  const key = createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, fromHex(publicKey)]), format: 'der', type: 'spki' });
  return verify(null, hash, key, fromHex(signature));
}
