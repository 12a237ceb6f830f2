/** The step around a kernel that all kernels share: it tells candidates from mere hits. */

import { type Puzzle, solves } from '../../../chain/job.ts';
import { joinNonce, type Range } from '../../../chain/nonce.ts';
import type { Candidate } from '../../engine.ts';
import { HIT_WORDS, type Kernel, PAGES_WORD, packSearch } from './kernel.ts';

/** Word 27 of a packed search: the first page. */
const PAGE_WORD = 27;

interface Scanned {
  /** Pages of the range that were searched, from its first one on. */
  readonly pages: number;
  /** All nonces of these pages that solve. */
  readonly candidates: readonly Candidate[];
}

/**
 * Searches a range until it is done, a page had candidates, or the current run is another one.
 *
 * @param run the number of the run that the search belongs to
 * @param range at most ROW_COUNTERS counters
 * @param currentRun one word: the number of the current run
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
