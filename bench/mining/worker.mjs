// Measures how soon a warm `pickaxe worker` hashes a job: from the writing of the job's line until the line of its
// first share has been read. The goal is at most 50 ms.
//
//   node bench/mining/worker.mjs [--jobs 200] [--devices cpu] [--niceness 19] [--idle-ms 50] [--no-goals] [--out FILE]
//
// One nonce in a thousand is a share of these jobs, so the share's line also contains the time until the first range
// has been searched and reported, and the way back: the first hash came before it. Jobs come in turns to a worker that
// has no job, and to one that mines another job. Both processes are on this machine and share its cores. Hashing
// threads have the lowest priority (niceness 19), so that other programs decide the slowest cases on a busy machine;
// --niceness 0 leaves those out.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { printHeading, printTable, quantiles, save } from '../lib/figures.mjs';

const GOAL_MS = 50;
/** V8 compiles what the first jobs run. They are not counted. */
const WARM_UP_JOBS = 10;
/** Hashes of a share of a measured job, and of a block of the job that is mined meanwhile. */
const EASY = 1_000;
const HARD = 1e15;

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '200' },
    devices: { type: 'string', default: 'cpu' },
    niceness: { type: 'string', default: '19' },
    'idle-ms': { type: 'string', default: '50' },
    'no-goals': { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
printHeading();

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const args = ['worker', '--devices', values.devices, '--cpu-priority', values.niceness, '--log-level', 'error'];
const worker = spawn(process.execPath, [main, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
const say = (message) => worker.stdin.write(`${JSON.stringify(message)}\n`);
const waiting = new Map();
createInterface({ input: worker.stdout }).on('line', (line) => {
  const answer = JSON.parse(line);
  waiting.get(answer.type === 'share' ? answer.id : answer.type)?.(performance.now());
});
/** @returns when the line came */
const lineOf = (key) =>
  new Promise((resolve) => {
    waiting.set(key, resolve);
  });

function headerOf(number, difficulty) {
  const header = Uint8Array.from({ length: 286 }, (_, i) => (number * 31 + i * 17) & 0xff);
  new DataView(header.buffer).setUint32(16, number, true);
  header.set(targetForDifficulty(difficulty), 158);
  return toHex(header);
}

await lineOf('ready');
let jobs = 0;

/** @returns milliseconds from the job's line to its share's */
async function measure() {
  const id = `${++jobs}`;
  const shared = lineOf(id);
  const line = { type: 'job', id, header: headerOf(jobs, EASY), solutions: 'one' };
  const startMs = performance.now();
  say(line);
  const ms = (await shared) - startMs;
  waiting.delete(id);
  return ms;
}

const times = { 'without a job': [], 'while it mines': [] };
for (let i = -WARM_UP_JOBS; i < Number(values.jobs); i++) {
  say({ type: 'cancel' });
  await sleep(Number(values['idle-ms']));
  const idle = await measure();
  say({ type: 'job', id: `hard ${i}`, header: headerOf(1e6 + i, HARD) });
  await sleep(Number(values['idle-ms']));
  const busy = await measure();
  if (i < 0) continue;
  times['without a job'].push(idle);
  times['while it mines'].push(busy);
}
worker.stdin.end();
await once(worker, 'close');

const rows = Object.entries(times).map(([name, all]) => {
  return { name, ...quantiles(all) };
});
printTable(
  ['job → first share, ms', 'p50', 'p90', 'p99', 'most', 'n'],
  rows.map(({ name, p50, p90, p99, most, n }) => [name, ...[p50, p90, p99, most].map((ms) => ms.toFixed(1)), n]),
);
save(values.out, { bench: 'worker', devices: values.devices, goalMs: GOAL_MS, rows });
const tooSlow = rows.filter(({ p99 }) => p99 > GOAL_MS);
if (tooSlow.length > 0 && !values['no-goals']) {
  console.error(`p99 is above ${GOAL_MS} ms: ${tooSlow.map(({ name }) => name).join(', ')}`);
  process.exitCode = 1;
}
