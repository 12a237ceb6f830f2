/**
 * The script of a measuring thread. In each turn, it measures the current kernel, and then runs this kernel until the
 * next turn.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { NOTHING_SOLVES } from '../../../../protocol/chain/job.ts';
import { PAGES, type Range } from '../../../../protocol/chain/nonce.ts';
import { pinThread } from '../affinity.ts';
import { type Kernel, ROW_COUNTERS, scan } from './kernel.ts';
import { loadKernel } from './load-kernel.ts';
import type { MeasuringThreadData } from './measure-kernels.ts';
import { threadClock } from './native-kernels.ts';

/**
 * Length of the untimed start of a turn, in ms. Some chips change their clock for wide vectors, which takes up to 0.7
 * ms.
 */
const SETTLE_MS = 1;

/** Length of the timed part of a turn, in ms. It is long compared with the setup of a search (10 µs). */
const TURN_MS = 2;

/**
 * Minimum number of pages in a search. The first search of a kernel has this number of pages. 8 pages take 20 µs with
 * AVX-512, and 0.5 ms with WebAssembly.
 */
const FIRST_PAGES = 8;

const EVERY_PAGE: Range = { lane: 0, step: 1, page: 0, pages: PAGES, counter: 0, counters: ROW_COUNTERS };
const ALWAYS = Int32Array.of(1);

const { names, index, cpus, current, rates, turns, ended } = workerData as MeasuringThreadData;
if (cpus.length > 0) pinThread(cpus);
const kernels = names.map(loadKernel);
const nowMs = threadClock();
/**
 * The highest rate of each kernel so far, in hashes per ms; 0 before the first turn. A search computes its number of
 * pages from this rate.
 */
const best = names.map(() => 0);

/**
 * Runs a search of so many pages that it takes about `ms` at this rate, but of at least FIRST_PAGES and at most PAGES.
 * @returns the number of hashes
 */
function search(kernel: Kernel, hashesPerMs: number, ms: number): number {
  const pages = Math.min(PAGES, Math.max(FIRST_PAGES, Math.round((hashesPerMs * ms) / ROW_COUNTERS)));
  return ROW_COUNTERS * scan(kernel, NOTHING_SOLVES, 1, { ...EVERY_PAGE, pages }, ALWAYS).pages;
}

/** @param which index of the kernel @returns its rate in hashes per ms */
function measure(which: number): number {
  search(kernels[which], best[which], SETTLE_MS);
  const startMs = nowMs();
  const hashes = search(kernels[which], best[which], TURN_MS);
  // With a coarse clock the time can be 0, but the rate must be finite.
  const rate = hashes / Math.max(nowMs() - startMs, 0.001);
  best[which] = Math.max(best[which], rate);
  return rate;
}

// The thread keeps the normal priority, so that the measurement does not take long on a busy machine.
parentPort?.postMessage('ready');
for (;;) {
  const run = Atomics.load(current, 0);
  if (run === 0) {
    Atomics.wait(current, 0, 0);
    continue;
  }
  const which = run % names.length;
  const turn = Math.floor(run / names.length);
  if (Atomics.load(turns, index) !== turn) {
    rates[index] = measure(which);
    Atomics.store(turns, index, turn);
    const place = turn % ended.length;
    if (Atomics.add(ended, place, 1) + 1 === turns.length) parentPort?.postMessage(turn);
  }
  // This thread goes on hashing until the next turn, because the machine must be as busy as in mining while other
  // threads measure.
  scan(kernels[which], NOTHING_SOLVES, run, EVERY_PAGE, current);
}
