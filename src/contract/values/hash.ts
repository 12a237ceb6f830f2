/** The hashes of contract code: BLAKE2b-256, in base64url. */

import { blake2b } from '@noble/hashes/blake2.js';
import { encodeBase64url } from '../../protocol/ledger/json.ts';
import { jsonTextOf } from './json.ts';
import type { Storable } from './values.ts';

const HASH_BYTES = 32;

/** @returns the hash of the text's UTF-8 bytes: 43 characters of base64url without padding */
export function hashText(text: string): string {
  return hashBytes(new TextEncoder().encode(text));
}

/** @returns the hash of the bytes: 43 characters of base64url without padding */
export function hashBytes(bytes: Uint8Array): string {
  return encodeBase64url(blake2b(bytes, { dkLen: HASH_BYTES }));
}

/** Whether this is the text of 32 bytes in base64url, as `hashText` returns it. */
export function isHashText(text: string): boolean {
  return /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(text);
}

/**
 * @returns the text that the native `hash` hashes for a value: a text as it is, any other value as JSON
 * @throws ContractError as `jsonTextOf`
 */
export function hashedText(value: Storable): string {
  return typeof value === 'string' ? value : jsonTextOf(value);
}
