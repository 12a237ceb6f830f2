/** Helpers for bytes. Hex text is in wire order, two digits per byte; `toHex` writes lower case. */

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';

export { bytesToHex as toHex };

/** @throws Error when `hex` is not an even number of hex digits. */
export function fromHex(hex: string): Uint8Array {
  return hexToBytes(hex);
}

/** @returns a view of the same memory, for reading and writing integers in place */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/*
 * Sizes and offsets of the wire format, in bytes. All integers are little-endian. A work record is `chain (4) | target
 * (32) | header (286)` (document 1, "Mining work bytes"); its creation time is at bytes 44..52, which are bytes 8..16
 * of the header.
 */

export const CHAIN_BYTES = 4;
export const TARGET_BYTES = 32;
export const HEADER_BYTES = 286;
export const WORK_BYTES = CHAIN_BYTES + TARGET_BYTES + HEADER_BYTES;

export const WORK_OFFSET = { chain: 0, target: CHAIN_BYTES, header: CHAIN_BYTES + TARGET_BYTES } as const;

/**
 * Offsets inside the header. A miner writes `creationTime` and `nonce`, and must leave all other bytes as they are: the
 * first 8, for example, are nonzero in some real headers.
 */
export const HEADER_OFFSET = {
  creationTime: 8,
  parent: 16,
  target: 158,
  chain: 222,
  height: 258,
  version: 266,
  nonce: 278,
} as const;

export const PARENT_BYTES = 32;
export const NONCE_BYTES = 8;

/** Header bytes before the block with the nonce: 4 blake2s blocks, hashed once per job into the midstate. */
export const MIDSTATE_BYTES = 256;
