// Measures kernels on one thread, in turns, in a process of its own: bench/kernels/windows.mjs runs it on two systems.
//
//   node kernel-rates.mjs CPU SECONDS KERNEL …    prints one JSON object: the kernels' 90th percentiles in H/s
//
// It measures wall time, because Wine counts processor time in steps of 10 ms. Turns are so short that most are not
// interrupted.

import { pinThread } from '#pickaxe/miner/engine/cpu/affinity.js';
import { ROW_COUNTERS, scan } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { loadKernel } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { WORK_BYTES } from '#pickaxe/protocol/chain/bytes.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { parseWork } from '#pickaxe/protocol/chain/work.js';
import { quantile } from '../lib/figures.mjs';

const RUN = 1;
/** Long for the clock, short compared with the time slices of other programs. */
const TURN_MS = 2;
/** Rounds that are not counted: turns find their length, and V8 optimizes WebAssembly. */
const WARM_UP_ROUNDS = 10;

const [cpu, seconds, ...names] = process.argv.slice(2);
pinThread([Number(cpu)]);
const current = Int32Array.of(RUN);
const job = prepareJob(parseWork(new Uint8Array(WORK_BYTES)));
const kernels = names.map((name) => ({ name, kernel: loadKernel(name), pages: 16, rates: [] }));

/** @returns H/s */
function takeTurn(one) {
  const range = { lane: 1, step: 1, page: 0, pages: one.pages, counter: 0, counters: ROW_COUNTERS };
  const startMs = performance.now();
  scan(one.kernel, job, RUN, range, current);
  const ms = Math.max(performance.now() - startMs, 0.001);
  const rate = (1000 * ROW_COUNTERS * one.pages) / ms;
  one.pages = Math.round(Math.min(65_536, one.pages * Math.min(2, Math.max(0.5, TURN_MS / ms))));
  return rate;
}

for (let round = 0; round < WARM_UP_ROUNDS; round++) for (const one of kernels) takeTurn(one);
const endMs = performance.now() + 1000 * Number(seconds);
do {
  for (const one of kernels) one.rates.push(takeTurn(one));
} while (performance.now() < endMs);
console.log(JSON.stringify(Object.fromEntries(kernels.map(({ name, rates }) => [name, quantile(rates, 0.9)]))));
