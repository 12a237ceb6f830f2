// Measures what a long nonce1 costs: every kernel of the CPU and every shader searches with a nonce1 of two bytes, of
// three (counters go in steps of 256) and of four (65,536), in turns, so that the machine's speed affects all alike.
//
//   node bench/kernels/nonce1.mjs [--rounds 21] [--turn-ms 100] [--devices cpu,gpu0] [--software-gpu] [--no-goals] [--out FILE]
//                         [kernel …]
//
// Ratios are medians of the rounds' ratios. Kernels of the CPU are measured on one thread by its processor time;
// shaders by the clock, with two batches in flight as when mining; a software renderer by the processor time of its
// driver's threads (Linux only). A turn of a GPU should take a second (--turn-ms 1000). The goal is at least 0.95 at
// three bytes; the exit code is 1 when a kernel misses it. With names of kernels or shaders, only those are measured.

import { parseArgs } from 'node:util';
import { ROW_COUNTERS, scan } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { loadKernels } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { KERNEL_NAMES } from '#pickaxe/miner/engine/device.js';
import { isTypical, VARIANTS } from '#pickaxe/miner/engine/gpu/tuning.js';
import { laneWithin } from '#pickaxe/protocol/chain/nonce.js';
import { median, printHeading, printTable, save } from '../lib/figures.mjs';
import { chooseGpus, engineOf, numbers } from '../lib/gpus.mjs';
import { mineFor, newJob } from '../lib/mine-offline.mjs';
import { between, threadTimes } from '../lib/process-cpu.mjs';

const GOAL = 0.95;
/** How many first rounds are not counted: turns find their length, and V8 optimizes WebAssembly. */
const WARM_UP_ROUNDS = 4;
const NONCE1S = [
  { value: 0x0026, bytes: 2 },
  { value: 0x4f_0026, bytes: 3 },
  { value: 0xa24f_0026, bytes: 4 },
];

const { values, positionals: names } = parseArgs({
  options: {
    rounds: { type: 'string', default: '21' },
    'turn-ms': { type: 'string', default: '100' },
    devices: { type: 'string', default: 'cpu' },
    'software-gpu': { type: 'boolean', default: false },
    goals: { type: 'boolean', default: true },
    out: { type: 'string' },
  },
  allowNegative: true,
  allowPositionals: true,
});
const [rounds] = numbers('rounds', values.rounds);
const [turnMs] = numbers('turn-ms', values['turn-ms']);
const isWanted = (name) => names.length === 0 || names.includes(name);

/** @returns milliseconds of processor time so far */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** @returns a function that searches for the time of a turn, and returns hashes per second */
function kernelTurn(kernel, nonce1) {
  const job = newJob(undefined, nonce1);
  const current = Int32Array.of(1);
  let pages = 16;
  return () => {
    const range = { ...laneWithin(nonce1, 0), page: 0, pages, counter: 0, counters: ROW_COUNTERS };
    const startMs = cpuMs();
    scan(kernel, job, 1, range, current);
    const ms = Math.max(cpuMs() - startMs, 0.001);
    const rate = (1000 * pages * ROW_COUNTERS) / ms;
    // Approaches a turn's length, by at most a factor of 2. No range has more than 65,536 pages.
    pages = Math.round(Math.min(65_536, pages * Math.min(2, Math.max(0.5, turnMs / ms))));
    return rate;
  };
}

/** @param isSoftware whether to measure by the processor time of the driver's threads (Linux only) */
function engineTurn(engine, nonce1, isSoftware) {
  const job = newJob(undefined, nonce1);
  return async () => {
    const before = isSoftware && threadTimes(engine.pid);
    const { hashes, hashesPerSecond } = await mineFor(engine, turnMs, job);
    return before ? (1000 * hashes) / between(engine.pid, before, threadTimes(engine.pid)).driver : hashesPerSecond;
  };
}

/** @param turns for each nonce1, a function that returns hashes per second */
async function race(device, kernel, turns) {
  const rates = turns.map(() => []);
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    // The last turn has the warmest chip, so the order changes.
    for (const i of turns.keys()) {
      const which = (i + round) % turns.length;
      const rate = await turns[which]();
      if (round >= WARM_UP_ROUNDS) rates[which].push(rate);
    }
  }
  const [two, three, four] = rates;
  const ratioTo = (others) => Number(median(others.map((rate, round) => rate / two[round])).toFixed(4));
  return { device, kernel, hashesPerSecond: Math.round(median(two)), three: ratioTo(three), four: ratioTo(four) };
}

async function raceKernels() {
  const { kernels, unusable } = loadKernels(KERNEL_NAMES.filter(isWanted));
  for (const [name, why] of unusable) console.log(`${name} is missing: ${why}`);
  const rows = [];
  for (const kernel of kernels) {
    const turns = NONCE1S.map((nonce1) => kernelTurn(kernel, nonce1));
    rows.push(await race('cpu', kernel.name, turns));
  }
  return rows;
}

async function raceShaders(gpu) {
  const rows = [];
  for (const variant of VARIANTS.filter((each) => isTypical(each) && isWanted(each.shader))) {
    const engine = engineOf(gpu, { variant });
    await engine.open();
    const turns = NONCE1S.map((nonce1) => engineTurn(engine, nonce1, gpu.software));
    rows.push(await race(`${gpu.name}: ${gpu.model}`, variant.shader, turns));
    await engine.close();
  }
  return rows;
}

printHeading();
const devices = values.devices.split(',');
const rows = devices.includes('cpu') ? await raceKernels() : [];
const gpus = devices.some((name) => name !== 'cpu') ? await chooseGpus(values) : [];
for (const gpu of gpus) rows.push(...(await raceShaders(gpu)));
printTable(
  ['device', 'kernel', 'MH/s at 2 bytes', '3 bytes ÷ 2', '4 bytes ÷ 2'],
  rows.map(({ device, kernel, hashesPerSecond, three, four }) => [
    device,
    kernel,
    (hashesPerSecond / 1e6).toFixed(2),
    three.toFixed(3),
    four.toFixed(3),
  ]),
);
const missed = rows.filter(({ three }) => three < GOAL).map(({ kernel, three }) => `${kernel} ${three}`);
save(values.out, { bench: 'nonce1', goal: GOAL, rounds, turnMs, rows });
if (missed.length > 0) console.error(`MISSED: at three bytes at least ${GOAL} is the goal: ${missed.join(', ')}`);
process.exit(missed.length > 0 && values.goals ? 1 : 0);
