/** Runs a kernel on a column and checks its hits: those that solve the puzzle become candidates. */

import { type Puzzle, solves } from '../../../chain/job.ts';
import { joinNonce, type Range } from '../../../chain/nonce.ts';
import type { Candidate } from '../../engine.ts';
import { HIT_WORDS, type Kernel, PAGES_WORD, packSearch } from './kernel.ts';

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
