/**
 * How stratum writes targets, nonces and headers: as hex digits, and numbers with the most significant digit first. The client and
 * the server share this. Pure.
 */

import { fromHex, toHex } from '../chain/bytes.ts';
import { HEADER_BYTES, NONCE_BYTES, TARGET_BYTES } from '../chain/layout.ts';
import type { Nonce1 } from '../chain/nonce.ts';

/** @param target 32 bytes, little-endian @returns 64 hex digits, big-endian */
export function formatTarget(target: Uint8Array): string {
  return toHex(target.toReversed());
}

/**
 * @param hex up to 64 hex digits, big-endian; some servers leave out leading zeros
 * @returns 32 bytes, little-endian; undefined when the text is no target
 */
export function parseTarget(hex: string): Uint8Array | undefined {
  if (!/^(0x)?[\da-f]{1,64}$/i.test(hex)) return undefined;
  return fromHex(hex.replace(/^0x/i, '').padStart(2 * TARGET_BYTES, '0')).toReversed();
}

/** @returns the header, 286 bytes, of 572 hex digits; undefined when the text is none */
export function parseHeader(hex: string): Uint8Array | undefined {
  return hex.length === 2 * HEADER_BYTES && /^[\da-f]+$/i.test(hex) ? fromHex(hex) : undefined;
}

/** @returns two hex digits for each byte of nonce1 */
export function formatNonce1({ value, bytes }: Nonce1): string {
  return bytes === 0 ? '' : value.toString(16).padStart(2 * bytes, '0');
}

/** @returns nonce2, the part of the nonce that the miner has chosen: two hex digits for each of its 8 − nonce1.bytes bytes */
export function formatNonce2(nonce: bigint, { bytes }: Nonce1): string {
  return (nonce >> BigInt(8 * bytes)).toString(16).padStart(2 * (NONCE_BYTES - bytes), '0');
}

/**
 * @param hex up to two hex digits for each byte of nonce2; some miners leave out leading zeros
 * @returns the nonce of nonce2 and nonce1; undefined when the text is no nonce2
 */
export function parseNonce2(hex: string, { value, bytes }: Nonce1): bigint | undefined {
  const digits = hex.replace(/^0x/i, '');
  if (digits.length > 2 * (NONCE_BYTES - bytes) || !/^[\da-f]+$/i.test(digits)) return undefined;
  return (BigInt(`0x${digits}`) << BigInt(8 * bytes)) | BigInt(value);
}
