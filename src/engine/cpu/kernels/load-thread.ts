/** The script of a load thread: runs the current kernel, one spell after another. */

import { parentPort, workerData } from 'node:worker_threads';
import { NOTHING_SOLVES } from '../../../chain/job.ts';
import { PAGES } from '../../../chain/nonce.ts';
import { ROW_COUNTERS } from './kernel.ts';
import { loadKernel } from './load-kernel.ts';
import type { LoadThreadData } from './load-threads.ts';
import { scan } from './scan.ts';

const EVERY_PAGE = { lane: 0, page: 0, pages: PAGES, counter: 0, counters: ROW_COUNTERS };

const { names, current, rows, reports } = workerData as LoadThreadData;
const kernels = names.map(loadKernel);

// A load thread keeps the normal priority. The system may leave a thread of low priority on the processor of the measuring
// thread even when another processor is free.
parentPort?.postMessage('ready');
for (;;) {
  const run = Atomics.load(current, 0);
  if (run === 0) {
    Atomics.wait(current, 0, 0);
    continue;
  }
  const { pages } = scan(kernels[run % names.length], NOTHING_SOLVES, run, EVERY_PAGE, current);
  const spell = Math.floor(run / names.length);
  Atomics.add(rows, spell % rows.length, pages);
  Atomics.add(reports, spell % rows.length, 1);
  Atomics.notify(reports, spell % rows.length);
}
