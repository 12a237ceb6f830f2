/** One companion's thread: runs whatever kernel is the current one, and stops as all kernels stop. */

import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { PAGES } from '../../../chain/nonce.ts';
import type { CompanionData } from './companions.ts';
import { ROW_COUNTERS } from './kernel.ts';
import { loadKernel } from './load.ts';
import { scan } from './scan.ts';
import { NOTHING_SOLVES } from './speed.ts';

const EVERY_PAGE = { lane: 0, page: 0, pages: PAGES, counter: 0, counters: ROW_COUNTERS };

const { names, current } = workerData as CompanionData;
const kernels = names.map(loadKernel);

// As hashing threads do; and the thread that measures goes first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);

parentPort?.postMessage('ready');
for (;;) {
  const job = Atomics.load(current, 0);
  if (job === 0) Atomics.wait(current, 0, 0);
  else scan(kernels[job - 1], NOTHING_SOLVES, job, EVERY_PAGE, current);
}
