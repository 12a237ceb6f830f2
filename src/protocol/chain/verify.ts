/**
 * The check of candidates: only `verify` makes a `Solution` from an engine's candidate, and only a Solution can be
 * submitted. After one wrong submission, a node drops the work, which other rigs may be mining, too. A pool refuses
 * nonces whose low bytes are not the assigned nonce1. `verify` hashes the whole header, with code that the kernels do
 * not use.
 */

import { blake2s } from '@noble/hashes/blake2.js';
import { HEADER_BYTES } from './bytes.ts';
import type { Job } from './job.ts';
import { isNonceWithin } from './nonce.ts';
import { meetsTarget } from './target.ts';
import { type Work, withNonce } from './work.ts';

declare const verified: unique symbol;

/** A header whose proof-of-work hash meets the target of its work. */
export interface Solution {
  readonly [verified]: true;
  readonly work: Work;
  readonly nonce: bigint;
  /** The header with the nonce, ready to be submitted: 286 bytes. */
  readonly header: Uint8Array;
  /** The header's proof-of-work hash: 32 bytes, little-endian. */
  readonly powHash: Uint8Array;
  /** Whether the hash also meets the work's block target. This is always true for a node's work. */
  readonly isBlock: boolean;
  /** Whether the work accepts several solutions, as a pool's work does. */
  readonly isShare: boolean;
}

/**
 * Computes blake2s-256 of the whole header (document 1, "Mining work bytes"). The block hash is a different hash.
 * @param header 286 bytes @returns 32 bytes, little-endian @throws RangeError for any other length
 */
export function powHash(header: Uint8Array): Uint8Array {
  if (header.length !== HEADER_BYTES) throw new RangeError(`a header is ${HEADER_BYTES} bytes, not ${header.length}`);
  return blake2s(header, { dkLen: 32 });
}

export interface Verification {
  /** The proof-of-work hash of the header with the nonce: 32 bytes, little-endian. */
  readonly powHash: Uint8Array;
  /**
   * Whether the work's nonce1 allows the nonce, and the hash meets the job's search target. If this is false for a
   * nonce that an engine has reported, its device computes wrong hashes or searches nonces outside of the given range.
   */
  readonly proves: boolean;
  /** The solution, if the work's nonce1 allows the nonce and the hash meets the work's target; otherwise undefined. */
  readonly solution: Solution | undefined;
}

/** @param nonce any integer. Below 0 or above 2^64 − 1, `proves` is false and there is no solution */
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
