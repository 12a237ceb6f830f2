/** The interface of all CPU kernels (in C: native/search.h), and the search of ranges with them. */

import { type Puzzle, solves } from '../../../../protocol/chain/job.ts';
import { joinNonce, type Range, sizeOf, word6Of } from '../../../../protocol/chain/nonce.ts';
import type { KernelName } from '../../device.ts';
import type { Candidate } from '../../engine.ts';

/** Maximum number of counters in a row, which is on one page. Kernels can stop between rows. */
export const ROW_COUNTERS = 512;

/** Length of a packed search, in words. */
const SEARCH_WORDS = 31;

/** Length of a list of hits, in words: a count, then the offsets of one row's hits. */
export const HIT_WORDS = 1 + ROW_COUNTERS;

/** Index of the number of counters in a row, in a packed search. */
export const COUNTERS_WORD = 26;

/** Index of the first page, in a packed search. */
const PAGE_WORD = 27;

/** Index of the number of pages to search, in a packed search. */
export const PAGES_WORD = 28;

export interface Kernel {
  readonly name: KernelName;
  /**
   * Searches row by row until the pages are done, a row had hits, or another run is the current one. A hit has passed a
   * quick test; on average at most half of the hits do not solve the puzzle.
   * @param search from `packSearch`
   * @param currentRun one word of shared memory: the number of the current run
   * @param hits HIT_WORDS words, which receive the number of hits in the last row and their offsets from the first
   *   counter
   * @returns the number of searched rows, perhaps fewer than asked for; 0 when another run is the current one
   */
  search(search: Uint32Array, currentRun: Int32Array, hits: Uint32Array): number;
}

/**
 * @param run 1 … 2^31 − 1
 * @param range at most ROW_COUNTERS counters
 * @returns 31 words: `struct search` of native/search.h
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
 * @returns the mask of the quick test: the bits above the highest set bit of the target's word 7, rotated left by 7,
 *   because the kernels compute hash word 7 rotated so. In a hash that is at most the target, none of these bits is set
 */
function testMask(target: Uint32Array): number {
  const bits = 32 - Math.clz32(target[7]);
  const mask = bits === 32 ? 0 : 0xffff_ffff << bits;
  return ((mask << 7) | (mask >>> 25)) >>> 0;
}

interface Scanned {
  /** Number of searched pages, from the first of the range on. */
  readonly pages: number;
  /** All solutions on these pages. */
  readonly candidates: readonly Candidate[];
}

/** Searches at most ROW_COUNTERS counters until the range is done, a page had candidates, or the run has ended. */
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
 * Ranges of several columns, which are searched one after the other. A column has up to ROW_COUNTERS counters on each
 * page, and a kernel searches one column at a time.
 */

export interface ScannedColumns {
  /** Number of searched rows, column after column. */
  readonly rows: number;
  /** All solutions in these rows. They are all in the last row. */
  readonly candidates: readonly Candidate[];
}

/** Searches a range of any size until it is done, a row had candidates, or the run has ended. */
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
 * @param range at least one page
 * @param rows number of searched rows, from 0 to all
 * @returns the searched rows, in the order of searching, and the rest
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
