// All CPU kernels side by side on one thread, interleaved, so that a busy machine is fair to none.
//
//   node bench/kernels.mjs [--seconds 30] [kernel …]
//
// CPU time, not wall time; MH/s is the median of the rounds. node:crypto hashes the whole 286-byte header.

import { createHash } from 'node:crypto';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { KERNEL_NAMES } from '#pickaxe/engine/cpu/kernels/kernel.js';
import { loadKernel } from '#pickaxe/engine/cpu/kernels/load.js';
import { scan } from '#pickaxe/engine/cpu/kernels/scan.js';

/** One turn of one kernel: long enough for the clock, short enough to interleave. */
const TURN_MS = 50;

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '30' } },
  allowPositionals: true,
});
const seconds = Number(values.seconds);
if (!(seconds > 0)) throw new Error(`--seconds takes a number above 0, not ${values.seconds}`);

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

// A target that nothing meets: the kernels' normal case.
const search = {
  midstate: Uint32Array.from({ length: 8 }, (_, i) => 0x9e3779b9 * (i + 1)),
  tail: Uint32Array.from({ length: 16 }, (_, i) => (i < 8 ? 0x85ebca6b * (i + 1) : 0)),
  target: new Uint32Array(8),
};
const currentJob = new Int32Array(new SharedArrayBuffer(4));
currentJob[0] = 1;

function kernelRunner(name) {
  const kernel = loadKernel(name);
  return (pages) => {
    scan(kernel, search, 1, { lane: 7, page: 0, pages, counter: 0, counters: 512 }, currentJob);
    return pages * 512;
  };
}

function cryptoRunner() {
  const header = new Uint8Array(286);
  return (count) => {
    for (let i = 0; i < count; i++) {
      header[278] = i;
      createHash('blake2s256').update(header).digest();
    }
    return count;
  };
}

const wanted = positionals.length > 0 ? positionals : KERNEL_NAMES;
const runners = [];
for (const name of wanted) {
  try {
    runners.push({ name, run: kernelRunner(name), size: 16, rates: [] });
  } catch (error) {
    console.error(`${name}: left out: ${error.message}`);
  }
}
runners.push({ name: 'node:crypto', run: cryptoRunner(), size: 1000, rates: [] });

function turn(runner) {
  const before = cpuMs();
  const hashes = runner.run(runner.size);
  const ms = cpuMs() - before;
  if (ms > TURN_MS / 2) runner.rates.push(hashes / ms / 1000);
  // Toward a turn's length, by at most a factor of 2.
  runner.size = Math.round(Math.min(65536, runner.size * Math.min(2, Math.max(0.5, TURN_MS / Math.max(ms, 1)))));
}

const end = performance.now() + seconds * 1000;
do {
  for (const runner of runners) turn(runner);
} while (performance.now() < end || runners.some(({ rates }) => rates.length < 3));

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const reference = median(runners.at(-1).rates);
console.log(`node bench/kernels.mjs ${process.argv.slice(2).join(' ')}`);
console.log(`${cpus()[0].model}, ${cpus().length} threads, Node ${process.version}\n`);
console.log('| kernel | MH/s a thread | times node:crypto | rounds |\n|---|---|---|---|');
for (const { name, rates } of runners) {
  const rate = median(rates);
  console.log(`| ${name} | ${rate.toFixed(2)} | ${(rate / reference).toFixed(1)} | ${rates.length} |`);
}
