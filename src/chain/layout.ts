/**
 * Every size and offset of the wire format, once. All integers are little-endian.
 *
 * A work record is `chain (4) | target (32) | header (286)` (document 1, "Mining work bytes"). Document 1 puts the
 * creation time at bytes 44 to 52: that counts from the start of the record, so in the header it is at 8..16.
 */

export const CHAIN_BYTES = 4;
export const TARGET_BYTES = 32;
export const HEADER_BYTES = 286;
export const WORK_BYTES = CHAIN_BYTES + TARGET_BYTES + HEADER_BYTES;

/** Offsets inside the work record. */
export const WORK_OFFSET = { chain: 0, target: CHAIN_BYTES, header: CHAIN_BYTES + TARGET_BYTES } as const;

/**
 * Offsets inside the header. A miner writes `creationTime` and `nonce`, reads the others for display only, and never
 * interprets the rest (the first 8 bytes are nonzero in some real headers).
 */
export const HEADER_OFFSET = {
  creationTime: 8,
  parent: 16,
  target: 158,
  chain: 222,
  height: 258,
  nonce: 278,
} as const;

export const PARENT_BYTES = 32;
export const NONCE_BYTES = 8;

/** Bytes of the header that are whole blake2s blocks before the nonce: hashed once a job, into the midstate. */
export const MIDSTATE_BYTES = 256;
