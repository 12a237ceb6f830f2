/**
 * Computes and parses fingerprints of nodes' certificates. They have the form of a peer's id (document 1, "Peer
 * information"): the SHA-256 of the certificate in DER, as Base64Url without padding (RFC 4648 §5), 43 characters.
 * Pure.
 */

import { createHash } from 'node:crypto';

/** @param der the certificate in DER. @returns 43 characters of Base64Url */
export function fingerprintOf(der: Uint8Array): string {
  return createHash('sha256').update(der).digest('base64url');
}

/** 32 bytes are 43 characters, and one of padding in Base64. */
const BASE64 = /^[\w+/-]{43}=?$/;
/** The format of openssl, with or without colons. */
const HEX = /^[\da-f]{2}(:?[\da-f]{2}){31}$/i;

/**
 * @param text Base64Url or Base64, or 64 hex digits with or without colons
 * @returns 43 characters of Base64Url; undefined when the text is not a fingerprint
 */
export function parseFingerprint(text: string): string | undefined {
  if (HEX.test(text)) return Buffer.from(text.replaceAll(':', ''), 'hex').toString('base64url');
  if (!BASE64.test(text)) return undefined;
  const plain = text.replace(/=$/, '').replaceAll('+', '-').replaceAll('/', '_');
  // 43 characters have two bits more than 32 bytes. These bits must be 0.
  return Buffer.from(plain, 'base64url').toString('base64url') === plain ? plain : undefined;
}

/** @returns the fingerprint in the format of openssl: 32 pairs of upper-case hex digits with colons between them */
export function hexOf(fingerprint: string): string {
  const hex = Buffer.from(fingerprint, 'base64url').toString('hex').toUpperCase();
  return hex.replace(/..(?=.)/g, '$&:');
}
