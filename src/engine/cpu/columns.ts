/**
 * Ranges of more than one column. Kernels search a column, ROW_COUNTERS counters of each page; a task that is to take long
 * is several of them side by side, searched one after the other.
 */

import type { Search } from '../../chain/job.ts';
import { type Range, sizeOf } from '../../chain/nonce.ts';
import { type Kernel, ROW_COUNTERS } from './kernels/kernel.ts';
import { scan } from './kernels/scan.ts';

export interface ScannedColumns {
  /** Rows of the range that were searched, column after column, from its first one on. */
  readonly rows: number;
  /** Every nonce of these rows that solves: all are in the last row. */
  readonly candidates: readonly bigint[];
}

/**
 * Searches a range until it is done, a row had candidates, or the current job is another one.
 *
 * @param job the number of the job that is searched
 * @param range of any size
 * @param currentJob one word: the number of the current job
 */
export function scanColumns(
  kernel: Kernel,
  search: Search,
  job: number,
  range: Range,
  currentJob: Int32Array,
): ScannedColumns {
  let rows = 0;
  for (let done = 0; done < range.counters; done += ROW_COUNTERS) {
    const counters = Math.min(ROW_COUNTERS, range.counters - done);
    const column = { ...range, counter: range.counter + done, counters };
    const { pages, candidates } = scan(kernel, search, job, column, currentJob);
    rows += pages;
    if (pages < range.pages || candidates.length > 0) return { rows, candidates };
  }
  return { rows, candidates: [] };
}

/**
 * @param range of at least one page
 * @param rows from 0 to as many as the range has
 * @returns the range as what these rows are, in the order in which they are searched, and what the others are
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
