/** Stratum's hex texts of targets, headers and nonces. Pure. */

import { fromHex, HEADER_BYTES, NONCE_BYTES, TARGET_BYTES } from '../chain/bytes.ts';
import type { Nonce1 } from '../chain/nonce.ts';

/**
 * @param hex 1 to 64 hex digits, big-endian, perhaps after `0x`. Some servers leave out leading zeros
 * @returns 32 bytes, little-endian; undefined if the text is not a target
 */
export function parseTarget(hex: string): Uint8Array | undefined {
  if (!/^(0x)?[\da-f]{1,64}$/i.test(hex)) return undefined;
  return fromHex(hex.replace(/^0x/i, '').padStart(2 * TARGET_BYTES, '0')).toReversed();
}

/** @param hex 572 hex digits @returns 286 bytes; undefined if the text is not a header */
export function parseHeader(hex: string): Uint8Array | undefined {
  return hex.length === 2 * HEADER_BYTES && /^[\da-f]+$/i.test(hex) ? fromHex(hex) : undefined;
}

/** @returns nonce2, the bytes of the nonce above nonce1: 2 · (8 − nonce1.bytes) hex digits, big-endian */
export function formatNonce2(nonce: bigint, { bytes }: Nonce1): string {
  return (nonce >> BigInt(8 * bytes)).toString(16).padStart(2 * (NONCE_BYTES - bytes), '0');
}
