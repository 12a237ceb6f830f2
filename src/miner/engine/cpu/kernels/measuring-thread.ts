/** The script of a measuring thread: it measures the current kernel, and runs it until the next turn. */

import { parentPort, workerData } from 'node:worker_threads';
import { NOTHING_SOLVES } from '../../../../protocol/chain/job.ts';
import { PAGES, type Range } from '../../../../protocol/chain/nonce.ts';
import { pinThread } from '../affinity.ts';
import { type Kernel, ROW_COUNTERS, scan } from './kernel.ts';
import { loadKernel } from './load-kernel.ts';
import type { MeasuringThreadData } from './measure-kernels.ts';
import { threadClock } from './native-kernels.ts';

/** Untimed start of a turn: some chips change their clock for wide vectors, which takes up to 0.7 ms. */
const SETTLE_MS = 1;

/** Timed part of a turn: long compared with the setup of a search (10 µs). */
const TURN_MS = 2;

/**
 * Minimum number of pages in a search, and the number in a kernel's first search: 20 µs with AVX-512, 0.5 ms in
 * WebAssembly.
 */
const FIRST_PAGES = 8;

const EVERY_PAGE: Range = { lane: 0, step: 1, page: 0, pages: PAGES, counter: 0, counters: ROW_COUNTERS };
const ALWAYS = Int32Array.of(1);

const { names, index, cpus, current, rates, turns, ended } = workerData as MeasuringThreadData;
if (cpus.length > 0) pinThread(cpus);
const kernels = names.map(loadKernel);
const nowMs = threadClock();
/** The highest rate of each kernel in hashes per ms, from which the number of pages that fill a turn is computed. */
const best = names.map(() => 0);

function search(kernel: Kernel, hashesPerMs: number, ms: number): number {
  const pages = Math.min(PAGES, Math.max(FIRST_PAGES, Math.round((hashesPerMs * ms) / ROW_COUNTERS)));
  return ROW_COUNTERS * scan(kernel, NOTHING_SOLVES, 1, { ...EVERY_PAGE, pages }, ALWAYS).pages;
}

function measure(which: number): number {
  search(kernels[which], best[which], SETTLE_MS);
  const startMs = nowMs();
  const hashes = search(kernels[which], best[which], TURN_MS);
  // With a coarse clock, a kernel must not look infinitely fast.
  const rate = hashes / Math.max(nowMs() - startMs, 0.001);
  best[which] = Math.max(best[which], rate);
  return rate;
}

// The priority stays normal, so that a busy machine does not make the measurement long.
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
  // This thread goes on hashing until the next turn: while other threads measure, the machine must be as busy as when
  // mining.
  scan(kernels[which], NOTHING_SOLVES, run, EVERY_PAGE, current);
}
