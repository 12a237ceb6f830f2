/** Work: what a source hands out to be mined. Parsed once, never changed. */

import { viewOf } from './bytes.ts';
import { HEADER_BYTES, HEADER_OFFSET, PARENT_BYTES, TARGET_BYTES, WORK_BYTES, WORK_OFFSET } from './layout.ts';

export interface Work {
  /** The source's own name for it, unique within the source. */
  readonly id: string;
  /** The chain that the node selected: informational, and what `/mining/updates` is asked about. */
  readonly chain: number;
  /** Block height as written in the header: for display. */
  readonly height: bigint;
  /** 32 bytes, little-endian. The record's target decides; it may be easier than the one inside the header. */
  readonly target: Uint8Array;
  /** 286 bytes, as received. */
  readonly header: Uint8Array;
  /** The only lane that may be searched, when the source assigns one. */
  readonly lane?: number;
  /** Whether the creation time may be moved forward. */
  readonly rollTime: boolean;
  /** A node's work ends with its first solution; a pool's goes on until it is replaced. */
  readonly until: 'solved' | 'replaced';
}

/** Work that breaks the wire format. */
export class WorkFormatError extends Error {
  override readonly name = 'WorkFormatError';
}

/** What the 322 bytes do not say. The defaults are those of a node's work: its time may roll, and one solution ends it. */
export type WorkTerms = { readonly id: string } & Partial<Pick<Work, 'lane' | 'rollTime' | 'until'>>;

/**
 * Parses a work record: chain u32 (4) | target (32) | header (286).
 * @throws WorkFormatError unless it is exactly 322 bytes.
 */
export function parseWork(record: Uint8Array, terms: WorkTerms): Work {
  if (record.length !== WORK_BYTES) {
    throw new WorkFormatError(`a work record is ${WORK_BYTES} bytes, not ${record.length}`);
  }
  const own = copyOf(record);
  const header = own.subarray(WORK_OFFSET.header, WORK_OFFSET.header + HEADER_BYTES);
  return {
    rollTime: true,
    until: 'solved',
    ...terms,
    chain: viewOf(own).getUint32(WORK_OFFSET.chain, true),
    height: viewOf(header).getBigUint64(HEADER_OFFSET.height, true),
    target: own.subarray(WORK_OFFSET.target, WORK_OFFSET.target + TARGET_BYTES),
    header,
  };
}

/** Header bytes 8..16: microseconds since the UNIX epoch, signed. */
export function creationTimeOf(header: Uint8Array): bigint {
  return viewOf(header).getBigInt64(HEADER_OFFSET.creationTime, true);
}

/** Header bytes 16..48. */
export function parentOf(header: Uint8Array): Uint8Array {
  return header.subarray(HEADER_OFFSET.parent, HEADER_OFFSET.parent + PARENT_BYTES);
}

/** Header bytes 278..286. */
export function nonceOf(header: Uint8Array): bigint {
  return viewOf(header).getBigUint64(HEADER_OFFSET.nonce, true);
}

/** A copy of the header with another creation time (µs since the UNIX epoch). */
export function withCreationTime(header: Uint8Array, creationTimeUs: bigint): Uint8Array {
  const copy = copyOf(header);
  viewOf(copy).setBigInt64(HEADER_OFFSET.creationTime, creationTimeUs, true);
  return copy;
}

/** A copy of the header with another nonce (u64). */
export function withNonce(header: Uint8Array, nonce: bigint): Uint8Array {
  const copy = copyOf(header);
  viewOf(copy).setBigUint64(HEADER_OFFSET.nonce, nonce, true);
  return copy;
}

/** Node's Buffer is a Uint8Array whose `slice` shares memory: copy in a way that holds for both. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}
