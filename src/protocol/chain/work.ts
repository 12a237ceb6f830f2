/**
 * A work: a block's header and target, issued by a source for mining. It is parsed once and never changes. Its
 * solutions refer to the same object.
 */

import { HEADER_BYTES, HEADER_OFFSET, PARENT_BYTES, TARGET_BYTES, viewOf, WORK_BYTES, WORK_OFFSET } from './bytes.ts';
import { NO_NONCE1, type Nonce1 } from './nonce.ts';

export interface Work {
  /** The chain that the node selected. For a node's work, the source opens the update stream of this chain. */
  readonly chain: number;
  /** Block height from the header, only for display. */
  readonly height: bigint;
  /** The target of a solution: 32 bytes, little-endian. For a pool's work it is the target of a share. */
  readonly target: Uint8Array;
  /** The target of a block: 32 bytes, little-endian. For a node's work it is the same as `target`. */
  readonly blockTarget: Uint8Array;
  /** 286 bytes, as issued. */
  readonly header: Uint8Array;
  /** The bytes of the nonce that the source has assigned. */
  readonly nonce1: Nonce1;
  /** Whether the creation time may be moved forward. */
  readonly rollTime: boolean;
  /**
   * A node's work ends with its first solution. A pool's work ends when another replaces it, and each solution is a
   * share.
   */
  readonly until: 'solved' | 'replaced';
}

export class WorkFormatError extends Error {
  override readonly name = 'WorkFormatError';
}

/** The properties of a work that its record lacks. The defaults are those of a node's work. */
export type WorkTerms = Partial<Pick<Work, 'blockTarget' | 'nonce1' | 'rollTime' | 'until'>>;

/**
 * Parses a work record: chain u32 (4) | target (32) | header (286). The record's target counts. It may be easier than
 * that in the header.
 * @throws WorkFormatError unless the record is exactly 322 bytes
 */
export function parseWork(record: Uint8Array, terms: WorkTerms = {}): Work {
  if (record.length !== WORK_BYTES) {
    throw new WorkFormatError(`a work record is ${WORK_BYTES} bytes, not ${record.length}`);
  }
  const own = copyOf(record);
  const header = own.subarray(WORK_OFFSET.header, WORK_OFFSET.header + HEADER_BYTES);
  const target = own.subarray(WORK_OFFSET.target, WORK_OFFSET.target + TARGET_BYTES);
  return {
    blockTarget: target,
    nonce1: NO_NONCE1,
    rollTime: true,
    until: 'solved',
    ...terms,
    chain: viewOf(own).getUint32(WORK_OFFSET.chain, true),
    height: viewOf(header).getBigUint64(HEADER_OFFSET.height, true),
    target,
    header,
  };
}

/** @param header 286 bytes @returns a node's work of this header, with the header's chain and target */
export function workOfHeader(header: Uint8Array): Work {
  const record = new Uint8Array(WORK_BYTES);
  viewOf(record).setUint32(WORK_OFFSET.chain, viewOf(header).getUint32(HEADER_OFFSET.chain, true), true);
  record.set(headerTargetOf(header), WORK_OFFSET.target);
  record.set(header, WORK_OFFSET.header);
  return parseWork(record);
}

/** Reads header bytes 8..16: microseconds since the UNIX epoch, signed, little-endian. */
export function creationTimeOf(header: Uint8Array): bigint {
  return viewOf(header).getBigInt64(HEADER_OFFSET.creationTime, true);
}

/** Reads header bytes 158..190: the target of the block, 32 bytes, little-endian. */
export function headerTargetOf(header: Uint8Array): Uint8Array {
  return header.subarray(HEADER_OFFSET.target, HEADER_OFFSET.target + TARGET_BYTES);
}

/** Reads header bytes 16..48: the hash of the parent on the same chain, 32 bytes. */
export function parentOf(header: Uint8Array): Uint8Array {
  return header.subarray(HEADER_OFFSET.parent, HEADER_OFFSET.parent + PARENT_BYTES);
}

/** Reads header bytes 266..270: the number of the network. */
export function networkNumberOf(header: Uint8Array): number {
  return viewOf(header).getUint32(HEADER_OFFSET.version, true);
}

/** Reads header bytes 278..286: the nonce, a u64, little-endian. */
export function nonceOf(header: Uint8Array): bigint {
  return viewOf(header).getBigUint64(HEADER_OFFSET.nonce, true);
}

/** @returns a copy of the header with this creation time (microseconds since the UNIX epoch) */
export function withCreationTime(header: Uint8Array, creationTimeUs: bigint): Uint8Array {
  const copy = copyOf(header);
  viewOf(copy).setBigInt64(HEADER_OFFSET.creationTime, creationTimeUs, true);
  return copy;
}

/** @returns a copy of the header with this nonce (0 … 2^64 − 1) */
export function withNonce(header: Uint8Array, nonce: bigint): Uint8Array {
  const copy = copyOf(header);
  viewOf(copy).setBigUint64(HEADER_OFFSET.nonce, nonce, true);
  return copy;
}

/** Copies the bytes. A Buffer's `slice` shares memory, so it would not do. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}

/*
 * A block's creation time must be greater than those of its parents, and must not lie in the future (document 1). The
 * time in the work is valid, so pickaxe only moves it forward, and never past a time that the node's own clock has
 * surely reached.
 */

/**
 * All times are in microseconds since the UNIX epoch.
 * @param latestUs the latest time that the node surely accepts: the earlier of pickaxe's clock and the node's
 * @param marginUs the result stays this far before `latestUs`, unless `workTimeUs` is later
 */
export function rolledCreationTime(workTimeUs: bigint, latestUs: bigint, marginUs: bigint): bigint {
  const safe = latestUs - marginUs;
  return safe > workTimeUs ? safe : workTimeUs;
}
