/**
 * Base64url without padding (RFC 4648 §5), as hashes, weights, payloads and proofs are written (document 1, convention
 * 3). 32 bytes are 43 characters. Reading is strict: every sequence of bytes has exactly one text.
 */

import { LedgerFormatError, quoted } from './errors.ts';

/** How many characters 32 bytes take. */
export const HASH_CHARACTERS = 43;

export function encodeBase64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
}

/**
 * @param byteLength how many bytes the text must stand for; any number by default
 * @throws LedgerFormatError for characters outside `A-Z a-z 0-9 - _`, for padding, for bits after the last byte that
 * are not zero, and for another length.
 */
export function decodeBase64url(text: string, byteLength?: number): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64url'));
  // Buffer skips what it does not know, so only writing the bytes again shows whether the text was right.
  if (encodeBase64url(bytes) !== text) {
    throw new LedgerFormatError(`${quoted(text)} is not base64url without padding`);
  }
  if (byteLength !== undefined && bytes.length !== byteLength) {
    throw new LedgerFormatError(`${quoted(text)} stands for ${bytes.length} bytes, but must stand for ${byteLength}`);
  }
  return bytes;
}
