// The GPU run sheet: measures everything about a machine's GPUs with one command, offline, in less than 9 minutes (15
// with a software renderer).
//
//   node bench/gpu-run-sheet.mjs [--devices gpu0,…] [--software-gpu] [--parts rate,…] [--quick] [--out FOLDER]
//
// Checks, all variants of the kernel and lengths of a batch, the rate beside its ceiling, watts and H/J, restart
// latency, what it costs the processor, and 10,000 dispatches. Writes gpu-run-sheet.json and .md into
// bench/results/<GPU and CPU>/, or FOLDER. A part that fails does not stop the others; the exit code is then 1. --parts
// runs these alone; --quick is for trying the sheet itself: every part is short, and takes one variant of the kernel.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { thisMachine } from '#pickaxe/base/system/machine.js';
import { runPart } from './gpu/run-part.mjs';
import { readable } from './lib/figures.mjs';
import { chooseGpus } from './lib/gpus.mjs';

const { values } = parseArgs({
  options: {
    devices: { type: 'string' },
    'software-gpu': { type: 'boolean', default: false },
    parts: { type: 'string' },
    quick: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const { quick } = values;
/**
 * How long the whole sheet may take. Rented machines often end a command after 10 minutes; software rendering takes
 * longer.
 */
const LIMIT_MS = values['software-gpu'] ? 900_000 : 530_000;
const software = values['software-gpu'] ? ['--software-gpu'] : [];
const which = [...(values.devices ? ['--devices', values.devices] : []), ...software];
const variant = quick ? ['--variant', 'wgsl 64x16'] : [];
const part = (script, ...args) => [script, ...which, ...variant, ...args];
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json'];

/** The parts. `result` chooses what is kept of a part's output; `limitMs` is far longer than the part should take. */
const PARTS = [
  {
    name: 'devices',
    title: 'Devices',
    command: ['dist/cli/main.js', 'devices', '--json', ...software],
    limitMs: 60_000,
    json: 'stdout',
    lines: ({ gpus, noGpu }) =>
      noGpu
        ? [noGpu]
        : gpus.map(
            ({ name, model, driver, bus, why }) => `${name}: ${model}, ${driver}, bus ${bus ?? 'not known'}: ${why}`,
          ),
  },
  {
    name: 'rate',
    title: 'Variants of the kernel, batches, rate and ceiling, efficiency',
    command: part('bench/gpu/rate.mjs', '--seconds', quick ? '1' : '20'),
    limitMs: 120_000,
  },
  {
    name: 'idle',
    title: 'What it costs the processor',
    command: part('bench/gpu/idle.mjs', '--batch-ms', quick ? '5' : '2,4,8,16,32', '--seconds', quick ? '1' : '4'),
    limitMs: 90_000,
  },
  {
    name: 'restart',
    title: 'New Cut → new job, by the length of a batch',
    command: [
      ...[
        'bench/mining/restart.mjs',
        '--devices',
        values.devices ?? 'gpu',
        '--gpu-batch-ms',
        quick ? '5' : '2,4,8,16,32',
      ],
      ...['--cuts', quick ? '3' : '80', ...software],
      ...(quick ? ['--warm-up', '1', '--spacing-ms', '1000', ...variant] : []),
    ],
    limitMs: 200_000,
  },
  {
    name: 'endurance',
    title: '10,000 dispatches',
    command: part(
      'test/faults/gpu-endurance.mjs',
      ...(quick ? ['--dispatches', '200', '--warm-up', '50', '--allow-kib', '1e5'] : []),
    ),
    limitMs: 120_000,
  },
  {
    // This part is last because it is the longest one on a slow GPU, so the time limit may cut it off.
    name: 'checks',
    title: 'Device checks: the tests of the GPU engine',
    command: [...vitest, quick ? 'test/miner/engine/gpu/gpu-engine.test.ts' : 'test/miner/engine/gpu'],
    limitMs: 400_000,
    json: 'stdout',
    keep: ({ numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped, testResults }) => ({
      passed,
      failed,
      skipped,
      failures: testResults
        .flatMap(({ assertionResults }) => assertionResults)
        .filter(({ status }) => status === 'failed')
        .map(({ fullName }) => fullName),
    }),
    lines: ({ passed, failed, skipped, failures }) => [
      `${passed} passed, ${failed} failed, ${skipped} skipped`,
      ...failures.map((name) => `FAILED: ${name}`),
    ],
  },
];

/** @throws Error when one of the names is not a part. */
function chosenParts(names) {
  const unknown = names.filter((name) => PARTS.every((part) => part.name !== name));
  if (unknown.length > 0) throw new Error(`there is no part ${unknown}: ${PARTS.map(({ name }) => name)}`);
  return PARTS.filter(({ name }) => names.includes(name));
}

/** @returns a folder name such as `nvidia-h200-intel-xeon-platinum-8480c` */
function folderName(gpus) {
  const cpu = thisMachine().cpu.replace(/ (CPU|Processor|\d+-Core)\b|@.*/g, '');
  const count = gpus.length > 1 ? ` x${gpus.length}` : '';
  return `${gpus[0].model}${count} ${cpu}`
    .replace(/\([^)]*\)/g, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .join('-');
}

const chosen = values.parts === undefined ? PARTS : chosenParts(values.parts.split(','));
const startMs = performance.now();
const gpus = await chooseGpus(values);
const folder = values.out ?? fileURLToPath(new URL(`./results/${folderName(gpus)}`, import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'pickaxe-sheet-'));
const parts = [];
try {
  for (const part of chosen) {
    const leftMs = LIMIT_MS - (performance.now() - startMs);
    console.log(`\n# ${part.title}\n`);
    const done = await runPart(part, { limitMs: Math.min(part.limitMs, leftMs), scratch });
    console.log(done.text);
    console.log(`${done.failed ? `FAILED: ${done.failed}` : 'done'}, ${done.seconds.toFixed(0)} s`);
    parts.push({ ...part, ...done });
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

const machine = thisMachine();
const minutes = (performance.now() - startMs) / 60_000;
const heading = [
  '# GPU run sheet',
  gpus.map(({ model, driver }) => `${model} (${driver})`).join('; '),
  `${machine.cpu}, ${machine.cores} cores, ${machine.os}, Node ${machine.node}, pickaxe ${machine.pickaxe}`,
  `\`node bench/gpu-run-sheet.mjs ${process.argv.slice(2).join(' ')}\`: ${minutes.toFixed(1)} minutes`,
];
/** Removes a part's own heading, because it repeats the sheet's. */
const withoutMachine = (text) => text.replace(/^(\$ .*?)( --out \S+)?\n.*\n/, '`$1`\n');
const sections = parts.map(
  ({ title, text, failed }) =>
    `## ${title}\n\n${failed ? `**FAILED: ${failed}**\n\n` : ''}${withoutMachine(text).replace(/^## /gm, '### ')}`,
);
const results = parts.map(({ name, seconds, failed, result }) => [
  name,
  { seconds, ...(failed && { failed }), ...result },
]);
mkdirSync(folder, { recursive: true });
const json = { machine, bench: 'gpu-run-sheet', quick, ...Object.fromEntries(results) };
writeFileSync(join(folder, 'gpu-run-sheet.json'), `${readable(json)}\n`);
writeFileSync(
  join(folder, 'gpu-run-sheet.md'),
  `${[...heading, ...sections].map((each) => each.trim()).join('\n\n')}\n`,
);

const failed = parts.filter((part) => part.failed);
console.log(`\nwritten to ${folder}, after ${minutes.toFixed(1)} minutes`);
for (const { title, failed: reason } of failed) console.log(`FAILED: ${title}: ${reason}`);
process.exit(failed.length === 0 ? 0 : 1);
