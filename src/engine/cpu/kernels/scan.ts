/** The step around a kernel that all kernels share: it makes the kernel's claims exact. */

import { type Search, solves } from '../../../chain/job.ts';
import { joinNonce, type Range } from '../../../chain/nonce.ts';
import { HIT_WORDS, type Kernel, PAGES_WORD, packSearch } from './kernel.ts';

/** Word 27 of a packed search: the first page. */
const PAGE_WORD = 27;

export interface Scanned {
  /** Pages of the range that were searched, from its first one on. */
  readonly pages: number;
  /** Every nonce of these pages that solves. */
  readonly candidates: readonly bigint[];
}

/**
 * Searches a range until it is done, a page had candidates, or the current job is another one.
 *
 * @param job the number of the job that is searched
 * @param range at most ROW_COUNTERS counters
 * @param currentJob one word: the number of the current job
 */
export function scan(kernel: Kernel, search: Search, job: number, range: Range, currentJob: Int32Array): Scanned {
  const packed = packSearch(search, job, range);
  const hits = new Uint32Array(HIT_WORDS);
  let pages = 0;
  while (pages < range.pages) {
    packed[PAGE_WORD] = range.page + pages;
    packed[PAGES_WORD] = range.pages - pages;
    const rows = kernel.search(packed, currentJob, hits);
    if (rows === 0) break;
    pages += rows;
    const candidates = Array.from(hits.subarray(1, 1 + hits[0]), (offset) => ({
      lane: range.lane,
      counter: range.counter + offset,
      page: range.page + pages - 1,
    })).filter((nonce) => solves(search, nonce));
    if (candidates.length > 0) return { pages, candidates: candidates.map(joinNonce) };
  }
  return { pages, candidates: [] };
}
