/**
 * The interface of all CPU kernels, native or WebAssembly, and the search of ranges with a kernel. native/search.h is
 * the interface's counterpart in C.
 */

import { type Puzzle, solves } from '../../../chain/job.ts';
import { joinNonce, type Range, sizeOf } from '../../../chain/nonce.ts';
import type { KernelName } from '../../device.ts';
import type { Candidate } from '../../engine.ts';

/** Maximum number of counters in a row, which lies on one page. Kernels can stop between rows. */
export const ROW_COUNTERS = 512;

/** The length of a packed search, in words. */
const SEARCH_WORDS = 30;

/** The length of a hit list, in words: a count, then the offsets of the hits of one row. */
export const HIT_WORDS = 1 + ROW_COUNTERS;

/** Word 26 of a packed search: the number of counters in a row. */
export const COUNTERS_WORD = 26;

/** Word 27 of a packed search: the first page. */
const PAGE_WORD = 27;

/** Word 28 of a packed search: the number of pages to search. */
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
   * @returns the number of rows that were searched, which may be fewer than asked for; 0 when another run is the
   *   current one
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

interface Scanned {
  /** Number of pages that were searched, from the first page of the range on. */
  readonly pages: number;
  /** All nonces of these pages that solve the puzzle. */
  readonly candidates: readonly Candidate[];
}

/**
 * Searches a range until it is done, a page had candidates, or another run has become the current one.
 *
 * @param run the number of the run that the search belongs to
 * @param range a range of at most ROW_COUNTERS counters
 * @param currentRun one word of shared memory: the number of the current run
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
      lane: range.lane,
      counter: range.counter + offset,
      page: range.page + pages - 1,
    })).filter((nonce) => solves(puzzle, nonce));
    if (candidates.length > 0) return { pages, candidates: candidates.map(joinNonce) };
  }
  return { pages, candidates: [] };
}

/*
 * Searches ranges of more than one column. A kernel searches one column: up to ROW_COUNTERS counters on each page of a
 * range. A long task has several columns side by side, which are searched one after the other.
 */

export interface ScannedColumns {
  /** Number of rows that were searched, column after column. */
  readonly rows: number;
  /** All nonces of these rows that solve the puzzle. They are all in the last row. */
  readonly candidates: readonly Candidate[];
}

/**
 * Searches a range until it is done, a row had candidates, or another run has become the current one.
 *
 * @param run the number of the run that the search belongs to
 * @param range a range of any size
 * @param currentRun one word of shared memory: the number of the current run
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
 * Splits a range into the rows that were searched and the rest.
 * @param range a range of at least one page
 * @param rows the number of rows that were searched, from 0 to all
 * @returns the searched rows as ranges, in the order of searching, and the rest as ranges
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
