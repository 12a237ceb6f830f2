/**
 * A work: a block's header and target, issued by a source for mining. A work is parsed once and never changes, and each
 * of its solutions refers to the same object.
 */

import { HEADER_BYTES, HEADER_OFFSET, PARENT_BYTES, TARGET_BYTES, viewOf, WORK_BYTES, WORK_OFFSET } from './bytes.ts';
import { NO_NONCE1, type Nonce1 } from './nonce.ts';

export interface Work {
  /** Number of the chain that the node selected. The source of a node's work opens this chain's update stream. */
  readonly chain: number;
  /** Height of the block, from the header. */
  readonly height: bigint;
  /** Target of a solution: 32 bytes, little-endian. For a pool's work, this is the target of a share. */
  readonly target: Uint8Array;
  /** Target of a block: 32 bytes, little-endian. For a node's work, this is the same as `target`. */
  readonly blockTarget: Uint8Array;
  /** The header as issued, 286 bytes. */
  readonly header: Uint8Array;
  /** The low bytes of the nonce that the source has assigned. */
  readonly nonce1: Nonce1;
  /** Whether the miner may move the creation time forward. */
  readonly rollTime: boolean;
  /**
   * `solved`: the work ends with its first solution, as a node's work does. `replaced`: the work ends when the source
   * issues another work, as a pool does, and each solution is a share.
   */
  readonly until: 'solved' | 'replaced';
}

export class WorkFormatError extends Error {
  override readonly name = 'WorkFormatError';
}

/** The properties of a work that are not in its record. The defaults describe a node's work. */
export type WorkTerms = Partial<Pick<Work, 'blockTarget' | 'nonce1' | 'rollTime' | 'until'>>;

/**
 * Parses a work record: chain u32 (4) | target (32) | header (286). The work's target is the target before the
 * header. It may be easier than the target inside the header.
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

/** @param header 286 bytes @returns a node's work with this header and with the header's chain and target */
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

/** Reads header bytes 266..270: the number of the network, a u32, little-endian. */
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

/** @returns a copy. For a Buffer, `slice` would return a view of the same memory */
function copyOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}

/*
 * A block's creation time must be later than those of its parents, and must not lie in the future (document 1). The
 * creation time in a work is valid, so pickaxe moves it only forward, and never past a time that the node's clock has
 * certainly reached.
 */

/**
 * Moves a work's creation time forward. Points in time are microseconds since the UNIX epoch.
 * @param latestUs the latest time that the node certainly accepts: the earlier of pickaxe's clock and the node's clock
 * @param marginUs microseconds between the new time and `latestUs`
 * @returns `latestUs − marginUs`, or `workTimeUs` if that is later
 */
export function rolledCreationTime(workTimeUs: bigint, latestUs: bigint, marginUs: bigint): bigint {
  const safe = latestUs - marginUs;
  return safe > workTimeUs ? safe : workTimeUs;
}
