/**
 * Conversions between bytes, hex texts and integers, and the offsets of the wire format. A hex text has two digits for
 * each byte, in the order of the bytes. `toHex` writes lower case.
 */

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';

export { bytesToHex as toHex };

/** @throws Error when `hex` is not an even number of hex digits. */
export function fromHex(hex: string): Uint8Array {
  return hexToBytes(hex);
}

/** @returns a view of the bytes' own memory, for reading and writing integers in place */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/*
 * Sizes and offsets of the wire format, in bytes. All integers are little-endian. A work record is `chain (4) | target
 * (32) | header (286)` (document 1, "Mining work bytes"). The header's creation time is in bytes 8..16 of the header,
 * and so in bytes 44..52 of the record.
 */

export const CHAIN_BYTES = 4;
export const TARGET_BYTES = 32;
export const HEADER_BYTES = 286;
export const WORK_BYTES = CHAIN_BYTES + TARGET_BYTES + HEADER_BYTES;

export const WORK_OFFSET = { chain: 0, target: CHAIN_BYTES, header: CHAIN_BYTES + TARGET_BYTES } as const;

/**
 * Offsets inside the header. A miner writes `creationTime` and `nonce`, and must not change any other byte. The first 8
 * bytes, the feature flags, must not be set to zero: some real headers have other values there.
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

/**
 * Number of header bytes in the 4 blake2s blocks before the block with the nonce. These blocks are hashed once per job.
 */
export const MIDSTATE_BYTES = 256;
