// Compares all CPU kernels and their peers on one thread, in turns, so that a busy machine affects all alike; then the
// fastest kernel on several threads and on one.
//
//   node bench/kernels/cpu.mjs [--seconds 60] [--threads 2] [--turn-ms 50] [--out FILE] [kernel …]
//
// It measures processor time, not wall time. MH/s is the median of the rounds, p90 is their 90th percentile (one of ten
// rounds was faster), and the ratio is the median of the rounds' ratios. Peers hash the whole 286-byte header.
// --threads 1 skips the second part, which reads the scheduler's statistics and so runs only on Linux.

import { parseArgs } from 'node:util';
import { ROW_COUNTERS, scan } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { loadKernels } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { KERNEL_NAMES } from '#pickaxe/miner/engine/device.js';
import { WORK_BYTES } from '#pickaxe/protocol/chain/bytes.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { parseWork } from '#pickaxe/protocol/chain/work.js';
import { median, printHeading, quantile, save } from '../lib/figures.mjs';
import { startKernelThreads } from '../lib/kernel-threads.mjs';
import { peerRunner, peers, REFERENCE } from './peers.mjs';

/**
 * How many first rounds are not counted: turns find their length, and V8 optimizes WebAssembly and JavaScript in 10 ms.
 */
const WARM_UP_ROUNDS = 8;
/** The least number of rounds, for a median. */
const MIN_ROUNDS = 5;
/** The factor by which a turn of all threads is longer, and the number of those turns. */
const THREADS_TURN = 20;
const THREADS_ROUNDS = 7;

const { values, positionals: names } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    threads: { type: 'string', default: '2' },
    // Long enough for the clock, short enough to interleave.
    'turn-ms': { type: 'string', default: '50' },
    out: { type: 'string' },
  },
  allowPositionals: true,
});
const [seconds, threads, turnMs] = [values.seconds, values.threads, values['turn-ms']].map(Number);
if (!(seconds > 0)) throw new Error(`--seconds takes a number above 0, not ${values.seconds}`);
if (!(turnMs > 0)) throw new Error(`--turn-ms takes a number above 0, not ${values['turn-ms']}`);
if (!(Number.isInteger(threads) && threads > 0))
  throw new Error(`--threads takes a whole number, not ${values.threads}`);

/** The number of the only run. */
const RUN = 1;

/** @returns a function that searches a number of rows for a target that no nonce meets, as is usual when mining */
function kernelRunner(kernel) {
  const job = prepareJob(parseWork(new Uint8Array(WORK_BYTES)));
  const current = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(RUN);
  return (rows) => {
    const range = { lane: 7, step: 1, page: 0, pages: rows, counter: 0, counters: ROW_COUNTERS };
    return ROW_COUNTERS * scan(kernel, job, RUN, range, current).pages;
  };
}

async function contestants() {
  const { kernels, unusable } = loadKernels(names.length > 0 ? names : KERNEL_NAMES);
  const { hashes, leftOut } = await peers();
  for (const [name, why] of [...unusable, ...Object.entries(leftOut)]) console.log(`${name} is missing: ${why}`);
  return [
    ...kernels.map((kernel) => ({ name: kernel.name, kind: 'kernel', run: kernelRunner(kernel), size: 16, rates: [] })),
    ...Object.entries(hashes).map(([name, hash]) => ({
      name,
      kind: 'peer',
      run: peerRunner(hash),
      size: 64,
      rates: [],
    })),
  ];
}

/** @returns milliseconds of processor time so far */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** @returns MH/s */
function takeTurn(one) {
  const startMs = cpuMs();
  const hashes = one.run(one.size);
  const ms = Math.max(cpuMs() - startMs, 0.001);
  // Approaches a turn's length, by at most a factor of 2. No range has more than 65,536 pages.
  one.size = Math.round(Math.min(65_536, one.size * Math.min(2, Math.max(0.5, turnMs / ms))));
  return hashes / ms / 1000;
}

function race(all) {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) for (const one of all) takeTurn(one);
  const endMs = performance.now() + seconds * 1000;
  do {
    for (const one of all) one.rates.push(takeTurn(one));
  } while (performance.now() < endMs || all[0].rates.length < MIN_ROUNDS);
  const reference = all.find(({ name }) => name === REFERENCE);
  const ratioTo = (one, other) => median(one.rates.map((rate, round) => rate / other.rates[round]));
  const fastest = all.reduce((a, b) => (median(a.rates) > median(b.rates) ? a : b));
  return all.map((one) => ({
    name: one.name,
    kind: one.kind,
    MHs: Number(median(one.rates).toFixed(3)),
    p90: Number(quantile(one.rates, 0.9).toFixed(3)),
    timesReference: Number(ratioTo(one, reference).toFixed(2)),
    ofFastest: Number(ratioTo(one, fastest).toFixed(4)),
  }));
}

/** Compares several threads with one, in turns, by the wall clock and by their processor time. */
async function scaling(kernel) {
  const [one, several] = [await startKernelThreads(kernel, 1), await startKernelThreads(kernel, threads)];
  const rounds = [];
  for (let round = 0; round < THREADS_ROUNDS; round++) {
    const [single, all] = [await one.runRound(THREADS_TURN * turnMs), await several.runRound(THREADS_TURN * turnMs)];
    rounds.push({
      wall: all.wallRate / single.wallRate,
      perCpuSecond: all.rate / single.rate,
      MHs: all.wallRate / 1e6,
    });
  }
  await Promise.all([one.close(), several.close()]);
  const medianOf = (key) => Number(median(rounds.map((round) => round[key])).toFixed(3));
  return { kernel, threads, wall: medianOf('wall'), perCpuSecond: medianOf('perCpuSecond'), MHs: medianOf('MHs') };
}

printHeading();
const all = await contestants();
const results = race(all);
const rounds = all[0].rates.length;
console.log(`\n${rounds} rounds of ${turnMs} ms each\n`);
console.log(`| | MH/s a thread | p90 | times ${REFERENCE} | of the fastest |\n|---|---|---|---|---|`);
for (const { name, MHs, p90, timesReference, ofFastest } of results) {
  console.log(
    `| ${name} | ${MHs.toFixed(2)} | ${p90.toFixed(2)} | ${timesReference.toFixed(1)} | ${ofFastest.toFixed(3)} |`,
  );
}
const [best] = results.filter(({ kind }) => kind === 'kernel').sort((a, b) => b.MHs - a.MHs);
const several = best && threads > 1 ? await scaling(best.name) : undefined;
if (several) {
  const { kernel, wall, perCpuSecond, MHs } = several;
  console.log(
    `\n${kernel}, ${threads} threads: ${MHs.toFixed(1)} MH/s, ${wall.toFixed(3)} times one thread by the wall`,
  );
  console.log(`clock, ${perCpuSecond.toFixed(3)} times per second of processor time`);
}
save(values.out, { bench: 'cpu', turnMs, rounds, reference: REFERENCE, results, ...(several && { several }) });
