/** What every CPU kernel does, native, WebAssembly or JavaScript: the host's half of native/search.h. */

import type { Search } from '../../../chain/job.ts';
import type { Range } from '../../../chain/nonce.ts';

/**
 * Every kernel there is, the likely best first. Native ones exist for the kind of chip that they were built on. Those
 * named x2 search with pairs of vectors: much faster on some chips, slower on others.
 */
export const KERNEL_NAMES = [
  'avx512x2',
  'avx512',
  'avx512vlx2',
  'avx512vl',
  'avx2x2',
  'avx2',
  'sse41',
  'neonx2',
  'neon',
  'portable',
  'wasm-simdx2',
  'wasm-simd',
  'wasm',
  'js',
] as const;
export type KernelName = (typeof KERNEL_NAMES)[number];

/** Counters that are searched on a page before the next page is begun: one row. Kernels stop between rows. */
export const ROW_COUNTERS = 512;

/** Words of a packed search, and of a hit list: a count, then at most a row of offsets. */
const SEARCH_WORDS = 30;
export const HIT_WORDS = 1 + ROW_COUNTERS;

/** Word 26 of a packed search: the counters of a row. */
export const COUNTERS_WORD = 26;

/** Word 28 of a packed search: the pages that remain to be searched. */
export const PAGES_WORD = 28;

export interface Kernel {
  readonly name: KernelName;
  /**
   * Searches row by row until the pages are done, a row had hits, or the current job is another one. A hit is a claim:
   * it passed a test that lets through up to twice as many nonces as solve.
   *
   * @param search from `packSearch`
   * @param currentJob one word, the number of the current job, which another thread may change meanwhile
   * @param hits receives HIT_WORDS: how many hits the last row had, then their offsets from the first counter
   * @returns rows searched: 0 when the job is not current; it can be fewer than asked for without a reason
   */
  search(search: Uint32Array, currentJob: Int32Array, hits: Uint32Array): number;
}

/** @param range at most ROW_COUNTERS counters */
export function packSearch(search: Search, job: number, range: Range): Uint32Array {
  const packed = new Uint32Array(SEARCH_WORDS);
  packed.set(search.midstate, 0);
  packed.set(search.tail, 8);
  packed[8 + 5] = (search.tail[5] & 0xffff) | (range.lane << 16);
  packed.set([testMask(search.target), range.counter, range.counters, range.page, range.pages, job], 24);
  return packed;
}

/**
 * The kernels' test: bits of hash word 7, rotated left by 7 as they compute it, of which none is set when the hash is
 * at most the target. They are those above the target's highest set bit.
 */
export function testMask(target: Uint32Array): number {
  const bits = 32 - Math.clz32(target[7]);
  const mask = bits === 32 ? 0 : 0xffff_ffff << bits;
  return ((mask << 7) | (mask >>> 25)) >>> 0;
}
