/**
 * Fingerprints of certificates. A fingerprint is the SHA-256 of the certificate's DER bytes, written as 43 characters
 * of Base64Url without padding (RFC 4648 §5). The ids of peers have the same form (document 1, "Peer information").
 * Pure.
 */

import { createHash } from 'node:crypto';

/** @param der the certificate @returns 43 characters of Base64Url */
export function fingerprintOf(der: Uint8Array): string {
  return createHash('sha256').update(der).digest('base64url');
}

/** Matches 32 bytes as Base64 or Base64Url, with or without padding. */
const BASE64 = /^[\w+/-]{43}=?$/;
/** Matches 32 bytes in hex. Between two bytes there may be a colon, as openssl prints them. */
const HEX = /^[\da-f]{2}(:?[\da-f]{2}){31}$/i;

/**
 * @param text Base64Url or Base64, with or without padding, or 64 hex digits with or without colons
 * @returns 43 characters of Base64Url; undefined when the text is not a fingerprint
 */
export function parseFingerprint(text: string): string | undefined {
  if (HEX.test(text)) return Buffer.from(text.replaceAll(':', ''), 'hex').toString('base64url');
  if (!BASE64.test(text)) return undefined;
  const plain = text.replace(/=$/, '').replaceAll('+', '-').replaceAll('/', '_');
  // 43 characters hold two bits more than 32 bytes do. The last two bits must be 0.
  return Buffer.from(plain, 'base64url').toString('base64url') === plain ? plain : undefined;
}

/** @returns 32 pairs of upper-case hex digits with colons between them, as openssl prints them */
export function hexOf(fingerprint: string): string {
  const hex = Buffer.from(fingerprint, 'base64url').toString('hex').toUpperCase();
  return hex.replace(/..(?=.)/g, '$&:');
}
