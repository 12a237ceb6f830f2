/**
 * The referee: only `verify` makes a `Solution` from an engine's candidate, and only a Solution can be submitted. At
 * the first wrong submission of a work, a node drops this work for all rigs of a miner. A pool refuses nonces that it
 * has not assigned. `verify` hashes the whole header, with an implementation that shares no code with the kernels.
 */

import { blake2s } from '@noble/hashes/blake2.js';
import { HEADER_BYTES } from './bytes.ts';
import type { Job } from './job.ts';
import { isNonceWithin } from './nonce.ts';
import { meetsTarget } from './target.ts';
import { type Work, withNonce } from './work.ts';

declare const verified: unique symbol;

/** A header whose PoW hash meets its work's target. */
export interface Solution {
  readonly [verified]: true;
  readonly work: Work;
  readonly nonce: bigint;
  /** 286 bytes, ready to be submitted. */
  readonly header: Uint8Array;
  /** 32 bytes, little-endian. */
  readonly powHash: Uint8Array;
  /** Whether the hash meets the target of a block, too. For a node's work, it always does. */
  readonly isBlock: boolean;
  /** Whether its work accepts several solutions, as a pool's work does. */
  readonly isShare: boolean;
}

/**
 * blake2s-256 over the whole header (document 1, "Mining work bytes"). It is not the block hash.
 * @param header 286 bytes @returns 32 bytes, little-endian
 */
export function powHash(header: Uint8Array): Uint8Array {
  if (header.length !== HEADER_BYTES) throw new RangeError(`a header is ${HEADER_BYTES} bytes, not ${header.length}`);
  return blake2s(header, { dkLen: 32 });
}

export interface Verification {
  /** 32 bytes, little-endian. */
  readonly powHash: Uint8Array;
  /**
   * Whether the work's nonce1 allows the nonce, and its hash meets the job's search target. If not, the device computes
   * wrong hashes, or searches nonces outside of its range.
   */
  readonly proves: boolean;
  /** Undefined unless the hash meets the work's own target. */
  readonly solution: Solution | undefined;
}

/** @param nonce any integer; one below 0 or above 2^64 − 1 proves and solves nothing */
export function verify(job: Job, nonce: bigint): Verification {
  const header = withNonce(job.header, nonce);
  const hash = powHash(header);
  const { work } = job;
  const isBlock = meetsTarget(hash, work.blockTarget);
  const isShare = work.until === 'replaced';
  const isAllowed = isNonceWithin(work.nonce1, nonce);
  const solves = isAllowed && meetsTarget(hash, work.target);
  const solution = solves ? ({ work, nonce, header, powHash: hash, isBlock, isShare } as Solution) : undefined;
  return { powHash: hash, proves: isAllowed && meetsTarget(hash, job.searchTarget), solution };
}
