/**
 * Searches ranges of more than one column. A kernel searches one column: up to ROW_COUNTERS counters on each page of a
 * range. A long task has several columns side by side, which are searched one after the other.
 */

import { type Puzzle, solves } from '../../chain/job.ts';
import { joinNonce, type Range, sizeOf } from '../../chain/nonce.ts';
import type { Candidate } from '../engine.ts';
import { HIT_WORDS, type Kernel, PAGES_WORD, packSearch, ROW_COUNTERS } from './kernels/kernel.ts';

export interface ScannedColumns {
  /** How many rows were searched, counted from the first row of the first column on, column after column. */
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
 * @param rows how many rows were searched: from 0 to all
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

/* Runs a kernel on a column and checks its hits: those that solve the puzzle become candidates. */

/** Word 27 of a packed search: the first page. */
const PAGE_WORD = 27;

interface Scanned {
  /** How many pages were searched, from the first page of the range on. */
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
