// Measures how close the native CPU kernels come to the limits of this chip's vector units.
//
//   node bench/kernels/ceiling.mjs [--seconds 20] [--out FILE] [kernel …]
//
// It counts the ALU operations per nonce in the disassembly, measures the units' rates for independent instructions
// (ports.c), and runs the kernels in between. There are two bounds: the operations that all adding pipes could do per
// cycle, and the rate of the kernels' mixture of operations without dependencies. Both, and the kernels' shares of
// them, are 90th percentiles of the rounds: on a shared machine they vary much less than medians.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { scan } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { loadKernel } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { median, printHeading, quantile, save } from '../lib/figures.mjs';
import { boundsOf, clockLines, isClock } from './bounds.mjs';
import { innerLoops } from './disassembly.mjs';

/** How many nonces a step hashes, and how many operations that needs. */
const KERNELS = {
  avx512x2: { nonces: 32, unit: 'avx512' },
  avx512: { nonces: 16, unit: 'avx512' },
  avx512vlx2: { nonces: 16, unit: 'avx512vl' },
  avx512vl: { nonces: 8, unit: 'avx512vl' },
  avx2x2long: { nonces: 16, unit: 'avx2' },
  avx2x2: { nonces: 16, unit: 'avx2' },
  avx2: { nonces: 8, unit: 'avx2' },
  sse41: { nonces: 4, unit: 'avx2' },
};

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    out: { type: 'string' },
  },
  allowPositionals: true,
});
const names = positionals.length > 0 ? positionals : Object.keys(KERNELS);
for (const name of names)
  if (!KERNELS[name]) throw new Error(`${name} has no bound: name some of ${Object.keys(KERNELS)}`);
if (process.arch !== 'x64') throw new Error(`the units of x86-64 chips are measured; this is ${process.arch}`);
const addon = fileURLToPath(new URL('../../native/build/pickaxe.node', import.meta.url));
const search = { midstate: new Uint32Array(8).fill(0x9e3779b9), tail: new Uint32Array(16), target: new Uint32Array(8) };
const current = Int32Array.of(1);

const kernels = names.flatMap((name) => {
  try {
    return [{ name, ...KERNELS[name], kernel: loadKernel(name), rates: [] }];
  } catch (error) {
    console.error(`${name} is missing: ${error.message}`);
    return [];
  }
});

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function turn({ kernel, rates }) {
  const range = { lane: 1, step: 1, page: 0, pages: 4_000, counter: 0, counters: 512 };
  const start = cpuMs();
  const { pages } = scan(kernel, search, 1, range, current);
  rates.push((512 * pages) / (cpuMs() - start) / 1000);
}

/** Compiles bench/kernels/ports.c. @returns a function that measures the units */
function ports(folder) {
  const program = join(folder, 'ports');
  const source = fileURLToPath(new URL('./ports.c', import.meta.url));
  const { status, stderr, error } = spawnSync('cc', ['-O2', '-o', program, source], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`bench/kernels/ports.c was not compiled: ${error?.message ?? stderr}`);
  return () => {
    const lines = spawnSync(program, { encoding: 'utf8' }).stdout.trim().split('\n');
    return Object.fromEntries(lines.map((line) => line.split(' ')).map(([name, rate]) => [name, Number(rate)]));
  };
}

printHeading();
const folder = mkdtempSync(join(tmpdir(), 'pickaxe-ceiling-'));
const measured = [];
try {
  const measurePorts = ports(folder);
  const end = performance.now() + Number(values.seconds) * 1000;
  do {
    measured.push(measurePorts());
    for (let i = 0; i < 5; i++) for (const kernel of kernels) turn(kernel);
  } while (performance.now() < end);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const p90 = (values) => quantile(values, 0.9);
const units = Object.fromEntries(Object.keys(measured[0]).map((name) => [name, p90(measured.map((m) => m[name]))]));
const perCycle = (name) => `${(units[name] / units.clock).toFixed(2)} a cycle`;
for (const line of clockLines(units)) console.log(line);
for (const name of Object.keys(units).filter((name) => !isClock(name))) {
  console.log(`${name.replaceAll('_', ' ')}: ${perCycle(name)}`);
}

const loops = innerLoops(addon, names);
const rows = kernels.map(({ name, nonces, unit, rates }) => {
  const { instructions, alu, loads, stores } = loops[name];
  const [MHs, fast] = [median(rates), p90(rates)];
  return { name, nonces, instructions, alu, loads, stores, MHs, p90: fast, ...boundsOf(units, unit, { nonces, alu }) };
});
console.log(
  '\n| kernel | nonces a step | instructions | ALU | loads | stores | MH/s | p90 | of the port bound | of the mixture |',
);
console.log('|---|---|---|---|---|---|---|---|---|---|');
for (const row of rows) {
  const share = (bound) => `${((100 * row.p90) / bound).toFixed(1)} % of ${bound.toFixed(0)}`;
  const { name, nonces, instructions, alu, loads, stores, MHs } = row;
  console.log(
    `| ${name} | ${nonces} | ${instructions} | ${alu} | ${loads} | ${stores} | ${MHs.toFixed(1)} | ${row.p90.toFixed(1)} | ${share(row.portBound)} | ${share(row.mixtureBound)} |`,
  );
}
save(values.out, { units, kernels: rows });
