/** The interface of all CPU kernels (in C: native/search.h), and the functions that search ranges with a kernel. */

import { type Puzzle, solves } from '../../../../protocol/chain/job.ts';
import { joinNonce, type Range, sizeOf, word6Of } from '../../../../protocol/chain/nonce.ts';
import type { KernelName } from '../../device.ts';
import type { Candidate } from '../../engine.ts';

/** Maximum length of a row, in counters. A row lies on one page. Kernels can stop between rows. */
export const ROW_COUNTERS = 512;

/** Length of a packed search, in 32-bit words. */
const SEARCH_WORDS = 31;

/** Length of a list of hits, in 32-bit words: the number of hits in one row, then room for the offset of each hit. */
export const HIT_WORDS = 1 + ROW_COUNTERS;

/** Index of the word of a packed search that has the length of a row, in counters. */
export const COUNTERS_WORD = 26;

/** Index of the word of a packed search that has the first page. */
const PAGE_WORD = 27;

/** Index of the word of a packed search that has the number of pages to search. */
export const PAGES_WORD = 28;

export interface Kernel {
  readonly name: KernelName;
  /**
   * Searches row by row until the pages are done, a row had hits, or another run is the current one. WebAssembly
   * kernels also stop after 64 rows. A hit is a nonce that has passed a quick test. If word 7 of the target is not 0,
   * on average at least half of the hits solve the puzzle. Otherwise hits are rare, about one of 2^32 nonces, and few
   * of them may solve it.
   * @param search a search from `packSearch`
   * @param currentRun one word of shared memory: the number of the current run
   * @param hits HIT_WORDS words, which receive the number of hits in the last row and their offsets from the first
   *   counter
   * @returns the number of searched rows, which may be less than the number of pages; 0 only when another run is the
   *   current one from the beginning
   */
  search(search: Uint32Array, currentRun: Int32Array, hits: Uint32Array): number;
}

/**
 * @param run number of the run: 1 … 2^31 − 1
 * @param range a range of at most ROW_COUNTERS counters
 * @returns the 31 words of `struct search` in native/search.h
 */
export function packSearch({ midstate, tail, target }: Puzzle, run: number, range: Range): Uint32Array {
  const packed = new Uint32Array(SEARCH_WORDS);
  packed.set(midstate, 0);
  packed.set(tail, 8);
  packed[8 + 5] = (tail[5] & 0xffff) | (range.lane << 16);
  packed.set([testMask(target), word6Of(range), range.counters, range.page, range.pages, run, range.step], 24);
  return packed;
}

/**
 * @returns the mask of the quick test, a u32: all bits above the highest set bit of the target's word 7. A hash that is
 *   at most the target has none of these bits in its word 7. The mask is rotated left by 7, because the kernels compute
 *   word 7 of the hash rotated in the same way
 */
function testMask(target: Uint32Array): number {
  const bits = 32 - Math.clz32(target[7]);
  const mask = bits === 32 ? 0 : 0xffff_ffff << bits;
  return ((mask << 7) | (mask >>> 25)) >>> 0;
}

interface Scanned {
  /** Number of searched pages, counted from the first page of the range. */
  readonly pages: number;
  /** All nonces on these pages that solve the puzzle. */
  readonly candidates: readonly Candidate[];
}

/**
 * Searches a range of at most ROW_COUNTERS counters. Ends when the range is done, when a page had candidates, or when
 * another run is the current one.
 */
export function scan(kernel: Kernel, puzzle: Puzzle, run: number, range: Range, currentRun: Int32Array): Scanned {
  const packed = packSearch(puzzle, run, range);
  const hits = new Uint32Array(HIT_WORDS);
  let pages = 0;
  while (pages < range.pages) {
    packed[PAGE_WORD] = range.page + pages;
    packed[PAGES_WORD] = range.pages - pages;
    const rows = kernel.search(packed, currentRun, hits);
    if (rows === 0) break;
    pages += rows;
    const candidates = Array.from(hits.subarray(1, 1 + hits[0]), (offset) => ({
      ...range,
      counter: range.counter + offset,
      page: range.page + pages - 1,
    })).filter((nonce) => solves(puzzle, nonce));
    if (candidates.length > 0) return { pages, candidates: candidates.map(joinNonce) };
  }
  return { pages, candidates: [] };
}

/*
 * Ranges of any size are divided into columns. A column has up to ROW_COUNTERS counters on each page of the range. A
 * kernel searches one column after the other.
 */

export interface ScannedColumns {
  /** Number of searched rows, counted column after column. */
  readonly rows: number;
  /** All nonces in these rows that solve the puzzle. They are all in the last row. */
  readonly candidates: readonly Candidate[];
}

/**
 * Searches a range of any size. Ends when the range is done, when a row had candidates, or when another run is the
 * current one.
 */
export function scanColumns(
  kernel: Kernel,
  puzzle: Puzzle,
  run: number,
  range: Range,
  currentRun: Int32Array,
): ScannedColumns {
  let rows = 0;
  for (let done = 0; done < range.counters; done += ROW_COUNTERS) {
    const counters = Math.min(ROW_COUNTERS, range.counters - done);
    const column = { ...range, counter: range.counter + done, counters };
    const { pages, candidates } = scan(kernel, puzzle, run, column, currentRun);
    rows += pages;
    if (pages < range.pages || candidates.length > 0) return { rows, candidates };
  }
  return { rows, candidates: [] };
}

/**
 * Divides a range into its searched and its unsearched part. Each part consists of up to two ranges.
 * @param range a range of at least one page
 * @param rows number of searched rows, from 0 to all
 * @returns the searched ranges, in the order in which they were searched, and the rest
 */
export function splitRows(range: Range, rows: number): { readonly searched: Range[]; readonly rest: Range[] } {
  const pages = rows % range.pages;
  const whole = Math.min(range.counters, Math.floor(rows / range.pages) * ROW_COUNTERS);
  const begun = pages > 0 ? Math.min(ROW_COUNTERS, range.counters - whole) : 0;
  const column = { ...range, counter: range.counter + whole, counters: begun };
  const after = whole + begun;
  const searched = [
    { ...range, counters: whole },
    { ...column, pages },
  ];
  const rest = [
    { ...column, page: range.page + pages, pages: range.pages - pages },
    { ...range, counter: range.counter + after, counters: range.counters - after },
  ];
  return { searched: searched.filter((part) => sizeOf(part) > 0), rest: rest.filter((part) => sizeOf(part) > 0) };
}
