/** The kernel that runs everywhere: generated TypeScript, which hashes one nonce at a time. */

import { type Kernel, PAGES_WORD, ROW_COUNTERS } from './kernel.ts';
import { COUNTER_WORDS, JOB_WORDS, prepareCounters, prepareJobWords, searchRow } from './scan.generated.ts';

export function loadJs(): Kernel {
  const job = new Int32Array(JOB_WORDS);
  const table = new Int32Array(ROW_COUNTERS * COUNTER_WORDS);
  return {
    name: 'js',
    search(search, currentRun, hits) {
      const [mask, counter, counters, page, , run] = search.subarray(24);
      const pages = search[PAGES_WORD];
      prepareJobWords(search.subarray(0, 8), search.subarray(8, 24), job);
      prepareCounters(job, counter, counters, table);
      hits[0] = 0;
      const found = hits.subarray(1);
      for (let row = 0; row < pages; row++) {
        if (Atomics.load(currentRun, 0) !== run) return row;
        hits[0] = searchRow(job, table, counters, page + row, mask | 0, found);
        if (hits[0] > 0) return row + 1;
      }
      return pages;
    },
  };
}
