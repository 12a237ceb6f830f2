/** A job is a work at one creation time, prepared for searching. */

import { BLOCK_BYTES, BLOCK_WORDS, compress, initialState, readWords } from './blake2s.ts';
import { HEADER_BYTES, MIDSTATE_BYTES, TARGET_BYTES } from './bytes.ts';
import { type NonceParts, word6Of } from './nonce.ts';
import { creationTimeOf, type Work, withCreationTime } from './work.ts';

/** The part of a job that a kernel needs. A nonce solves the puzzle if the nonce's hash is at most the target. */
export interface Puzzle {
  /** 8 words: the chaining value after the header's first 256 bytes. */
  readonly midstate: Uint32Array;
  /** 16 words: the header's last 30 bytes, zero-padded, with zero in the place of the nonce. */
  readonly tail: Uint32Array;
  /** The highest hash that solves the puzzle: 8 words, least significant first. */
  readonly target: Uint32Array;
}

export interface Job extends Puzzle {
  readonly work: Work;
  /** 286 bytes: the work's header at this job's creation time. */
  readonly header: Uint8Array;
  /**
   * The target that a hash must meet for an engine to report its nonce: 32 bytes, little-endian. It is the work's
   * target or an easier one.
   */
  readonly searchTarget: Uint8Array;
}

/** @param creationTimeUs microseconds since the UNIX epoch; by default, the creation time in the work's header */
export function prepareJob(work: Work, creationTimeUs = creationTimeOf(work.header)): Job {
  const header = withCreationTime(work.header, creationTimeUs);
  return { work, header, searchTarget: work.target, ...puzzleOf(header, work.target) };
}

/**
 * @param searchTarget 32 bytes, little-endian. If it is easier than the work's target, only some of the nonces that
 *   engines report are solutions
 */
export function withSearchTarget(job: Job, searchTarget: Uint8Array): Job {
  return { ...job, searchTarget, target: readWords(searchTarget, 0, TARGET_BYTES / 4) };
}

/** @param header 286 bytes, whose nonce is ignored @param target 32 bytes, little-endian */
export function puzzleOf(header: Uint8Array, target: Uint8Array): Puzzle {
  const midstate = initialState();
  for (let done = 0; done < MIDSTATE_BYTES; done += BLOCK_BYTES) {
    compress(midstate, readWords(header, done, BLOCK_WORDS), done + BLOCK_BYTES, false);
  }
  const tail = readWords(header, MIDSTATE_BYTES, BLOCK_WORDS);
  placeNonce(tail, { lane: 0, step: 1, counter: 0, page: 0 });
  return { midstate, tail, target: readWords(target, 0, TARGET_BYTES / 4) };
}

/** A puzzle for measuring speeds, which do not depend on the hashed bytes. Practically no nonce solves it. */
export const NOTHING_SOLVES: Puzzle = puzzleOf(new Uint8Array(HEADER_BYTES), new Uint8Array(TARGET_BYTES));

/** Writes a nonce into words 5, 6 and 7 of a puzzle's tail, as nonce.ts describes. */
export function placeNonce(tail: Uint32Array, nonce: NonceParts): void {
  tail[5] = (tail[5] & 0xffff) | (nonce.lane << 16);
  tail[6] = word6Of(nonce);
  tail[7] = nonce.page;
}

/**
 * Computes only the last compression, from the puzzle's midstate.
 * @returns the proof-of-work hash: 8 words, least significant first
 */
export function hashTail(puzzle: Puzzle, nonce: NonceParts): Uint32Array {
  const tail = puzzle.tail.slice();
  placeNonce(tail, nonce);
  const hash = puzzle.midstate.slice();
  compress(hash, tail, HEADER_BYTES, true);
  return hash;
}

/** @returns whether the hash of the nonce is at most the puzzle's target; both are read as 256-bit integers */
export function solves(puzzle: Puzzle, nonce: NonceParts): boolean {
  const hash = hashTail(puzzle, nonce);
  for (let i = 7; i >= 0; i--) {
    if (hash[i] !== puzzle.target[i]) return hash[i] < puzzle.target[i];
  }
  return true;
}
