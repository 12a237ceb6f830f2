/** The interface of all CPU kernels, native or WebAssembly. native/search.h is its counterpart in C. */

import type { Puzzle } from '../../../chain/job.ts';
import type { Range } from '../../../chain/nonce.ts';
import type { KernelName } from '../kernel-names.ts';

/** A row has at most this many counters of one page. Kernels can stop between rows. */
export const ROW_COUNTERS = 512;

/** The length of a packed search, in words. */
const SEARCH_WORDS = 30;

/** The length of a hit list, in words: a count, then the offsets of the hits of one row. */
export const HIT_WORDS = 1 + ROW_COUNTERS;

/** Word 26 of a packed search: how many counters a row has. */
export const COUNTERS_WORD = 26;

/** Word 28 of a packed search: how many pages are to be searched. */
export const PAGES_WORD = 28;

export interface Kernel {
  readonly name: KernelName;
  /**
   * Searches row by row until the pages are done, a row had hits, or another run has become the current one. A hit is a
   * nonce that has passed a quick test; on average at most half of the hits do not solve the puzzle.
   *
   * @param search from `packSearch`
   * @param currentRun one word of shared memory: the number of the current run
   * @param hits HIT_WORDS words. Receives the number of hits in the last row, then their offsets from the first counter
   * @returns how many rows were searched: 0 when another run is the current one. A kernel may search fewer than asked
   *   for
   */
  search(search: Uint32Array, currentRun: Int32Array, hits: Uint32Array): number;
}

/**
 * @param run the number of the run that the search belongs to: 1 … 2^31 − 1
 * @param range a range of at most ROW_COUNTERS counters
 * @returns 30 words: `struct search` of native/search.h
 */
export function packSearch({ midstate, tail, target }: Puzzle, run: number, range: Range): Uint32Array {
  const packed = new Uint32Array(SEARCH_WORDS);
  packed.set(midstate, 0);
  packed.set(tail, 8);
  packed[8 + 5] = (tail[5] & 0xffff) | (range.lane << 16);
  packed.set([testMask(target), range.counter, range.counters, range.page, range.pages, run], 24);
  return packed;
}

/**
 * @returns the mask of the kernels' quick test. Its bits are those above the highest set bit of the target's word 7,
 *   rotated left by 7 as the kernels compute hash word 7. When the hash is at most the target, none of them is set in
 *   the hash
 */
function testMask(target: Uint32Array): number {
  const bits = 32 - Math.clz32(target[7]);
  const mask = bits === 32 ? 0 : 0xffff_ffff << bits;
  return ((mask << 7) | (mask >>> 25)) >>> 0;
}
