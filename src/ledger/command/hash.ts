/**
 * The hash of a command: BLAKE2b-256 over the UTF-8 of `cmd`, which is also its request key. Document 2 says BLAKE2s;
 * every command of the real network says BLAKE2b.
 */

import { blake2b } from '@noble/hashes/blake2.js';
import { encodeBase64url } from '../json.ts';

const HASH_BYTES = 32;

/** @returns 32 bytes */
export function hashOfCmd(cmd: string): Uint8Array {
  return blake2b(new TextEncoder().encode(cmd), { dkLen: HASH_BYTES });
}

/** @returns 43 characters of base64url */
export function requestKeyOfCmd(cmd: string): string {
  return encodeBase64url(hashOfCmd(cmd));
}
