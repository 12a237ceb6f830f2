/**
 * Ed25519 keys (RFC 8032) and signatures over the 32 bytes of a command's hash. A secret key never leaves its object.
 */

import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { fromHex, toHex } from '../../chain/bytes.ts';
import { LedgerFormatError } from '../json.ts';

const KEY_BYTES = 32;
/** What precedes the 32 bytes of a key in DER (RFC 8410). */
const SECRET_PREFIX = fromHex('302e020100300506032b657004220420');
const PUBLIC_PREFIX = fromHex('302a300506032b6570032100');

const KEY = /^[0-9a-f]{64}$/;
const KEY_IN_ANY_CASE = /^[0-9a-f]{64}$/i;
const SIGNATURE = /^[0-9a-f]{128}$/;

/** Whether a text is 64 lower-case hex digits, as a public key is written. */
export function isPublicKey(text: string): boolean {
  return KEY.test(text);
}

export class KeyPair {
  /** 64 lower-case hex digits. */
  readonly publicKey: string;
  readonly #secret: KeyObject;

  /**
   * @param secret 64 hex digits: the 32 bytes from which RFC 8032 derives both keys
   * @param publicKey 64 hex digits, when it is to be compared
   * @throws LedgerFormatError, which quotes neither key, for other texts and for a public key of another secret.
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

  /**
   * @param hash 32 bytes
   * @returns 128 lower-case hex digits
   */
  sign(hash: Uint8Array): string {
    return toHex(Uint8Array.from(sign(null, hash, this.#secret)));
  }
}

/**
 * Whether a signature is that of a key over a hash. Texts that are no signature or no key belong to nothing.
 * @param signature 128 lower-case hex digits
 * @param hash 32 bytes
 * @param publicKey 64 hex digits in any case, as nodes read them
 */
export function isSignature(signature: string, hash: Uint8Array, publicKey: string): boolean {
  if (!SIGNATURE.test(signature) || !KEY_IN_ANY_CASE.test(publicKey)) return false;
  const key = createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, fromHex(publicKey)]), format: 'der', type: 'spki' });
  return verify(null, hash, key, fromHex(signature));
}
