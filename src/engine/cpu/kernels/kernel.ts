/** What every CPU kernel does, native, WebAssembly or JavaScript: the host's half of native/search.h. */

import type { Puzzle } from '../../../chain/job.ts';
import type { Range } from '../../../chain/nonce.ts';
import type { KernelName } from '../kernel-names.ts';

/** Counters that are searched on a page before the next page is begun: one row. Kernels stop between rows. */
export const ROW_COUNTERS = 512;

/** Words of a packed search. */
const SEARCH_WORDS = 30;

/** Words of a hit list: a count, then at most a row of offsets. */
export const HIT_WORDS = 1 + ROW_COUNTERS;

/** Word 26 of a packed search: the counters of a row. */
export const COUNTERS_WORD = 26;

/** Word 28 of a packed search: the pages that remain to be searched. */
export const PAGES_WORD = 28;

export interface Kernel {
  readonly name: KernelName;
  /**
   * Searches row by row until the pages are done, a row had hits, or another run is the current one. A hit has passed a
   * test that lets up to twice as many nonces pass as solve.
   *
   * @param search from `packSearch`
   * @param currentRun one word: the number of the current run, which another thread may change meanwhile
   * @param hits receives HIT_WORDS: how many hits the last row had, then their offsets from the first counter
   * @returns rows searched: 0 when the search's run is not the current one; it can be fewer than asked for without a reason
   */
  search(search: Uint32Array, currentRun: Int32Array, hits: Uint32Array): number;
}

/**
 * @param run number of the run that the search belongs to: 1 … 2^31 − 1
 * @param range at most ROW_COUNTERS counters
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
 * The kernels' test: bits of hash word 7, rotated left by 7 as they compute it, of which none is set when the hash is
 * at most the target. They are those above the target's highest set bit.
 */
function testMask(target: Uint32Array): number {
  const bits = 32 - Math.clz32(target[7]);
  const mask = bits === 32 ? 0 : 0xffff_ffff << bits;
  return ((mask << 7) | (mask >>> 25)) >>> 0;
}
