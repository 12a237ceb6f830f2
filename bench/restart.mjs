// How soon a New Cut has every device on new work: the mock node in a process of its own, over loopback, all cores
// hashing.
//
//   node bench/restart.mjs [--devices cpu] [--cuts 300] [--threads N] [--affinity none|LIST] [--out FILE]
//
// Three figures for each New Cut: from its line on the wire to the first hash of the new job; to all threads on the new
// job; and from the work in the miner's hands to all threads on it. For a GPU "first hash" is the submission of its first
// dispatch, which waits in line behind those in flight: the time until that one has ended is given, too.
//
// What dominates, as the scheduler's switches show: the median is the work of the two JavaScript main threads, one
// after the other. Threads that are not pinned are then woken two on one CPU, where the second waits for the next tick
// of the clock (4 ms at 250 Hz): p90 2.9 ms from work in hand to all threads, and 0.9 ms with pinned ones. What is left
// above 1 ms is threads of a normal priority on a CPU whose hashing thread waits for them: V8's own, which collect
// garbage and compile, and the mock node.

import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuAffinity } from '#pickaxe/cli/options.js';
import { systemClock } from '#pickaxe/clock.js';
import { CpuEngine } from '#pickaxe/engine/cpu/cpu-engine.js';
import { GpuEngine } from '#pickaxe/engine/gpu/gpu-engine.js';
import { listGpus } from '#pickaxe/engine/gpu/list-gpus.js';
import { Miner } from '#pickaxe/mine/miner.js';
import { NodeSource } from '#pickaxe/source/node/node-source.js';
import { printHeading, quantile, save } from './lib/figures.mjs';
import { nowMs, startMockProcess } from './lib/mock-process.mjs';

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: 'cpu' },
    cuts: { type: 'string', default: '300' },
    threads: { type: 'string' },
    affinity: { type: 'string' },
    out: { type: 'string' },
  },
});
printHeading();

const CHAIN = 0;
/** Never solved, so that only New Cuts change the job. */
const NEVER = 2 ** 50;
/** Left out of the figures: V8 compiles what a cut runs, in threads that the hashing ones wait for. */
const WARM_UP_CUTS = 40;
/** Cuts are this far apart, and a random bit more: longer than the time in which bursts are coalesced. */
const SPACING_MS = 250;

const node = await startMockProcess({ difficulty: NEVER }, CHAIN);
const miner = { account: 'bench', predicate: 'keys-all', publicKeys: ['0'.repeat(64)] };
const source = new NodeSource({ url: node.url, network: 'development', miner });

/** By work id: when the miner got it, and when searches of its ranges began and ended, by device. */
const works = new Map();

async function* stamped(updates) {
  for await (const update of updates) {
    if (update.kind === 'work') works.set(update.work.id, { handedMs: nowMs(), began: {}, ended: {} });
    yield update;
  }
}

function observed(engine) {
  const search = engine.search.bind(engine);
  engine.search = async function* (job, ranges, stop) {
    for await (const report of search(job, ranges, stop)) {
      const times = works.get(job.work.id);
      times.began[engine.name] = [...(times.began[engine.name] ?? []), report.beganMs];
      times.ended[engine.name] ??= nowMs();
      yield report;
    }
  };
  return engine;
}

const engines = [];
let threads = 0;
let why = '';
if (values.devices.includes('cpu')) {
  const engine = new CpuEngine({
    ...(values.threads && { threads: Number(values.threads) }),
    ...(values.affinity && { affinity: cpuAffinity(values.affinity) }),
  });
  const open = engine.open.bind(engine);
  engine.open = async () => {
    const info = await open();
    ({ threads, why } = info);
    return info;
  };
  engines.push(observed(engine));
}
if (values.devices.includes('gpu')) {
  for (const { name, model } of await listGpus())
    engines.push(observed(new GpuEngine({ name, adapter: model, softwareGpu: true })));
}

const stop = new AbortController();
const run = new Miner({
  source: {
    name: source.name,
    works: (signal) => stamped(source.works(signal)),
    submit: (...all) => source.submit(...all),
    latestTimeUs: (work) => source.latestTimeUs(work),
  },
  engines,
  emit: () => {},
  clock: systemClock,
  random: (below) => randomInt(below),
}).run(stop.signal);

await sleep(4_000); // kernels warm up, batches find their size
for (let i = 0; i < WARM_UP_CUTS + Number(values.cuts); i++) {
  node.cut();
  await sleep(SPACING_MS + Math.random() * 50);
}
await sleep(500);
stop.abort();
await run;
const { cutsMs } = await node.report();
await node.close();

const handed = [...works.values()].sort((a, b) => a.handedMs - b.handedMs);
const figures = { 'New Cut → work in hand': [] };
const add = (name, ms) => {
  figures[name] ??= [];
  figures[name].push(ms);
};
let missed = 0;
for (const [i, cutMs] of cutsMs.entries()) {
  if (i < WARM_UP_CUTS) continue;
  const work = handed.find(
    ({ handedMs }) => handedMs > cutMs && handedMs < (cutsMs[i + 1] ?? Number.POSITIVE_INFINITY),
  );
  if (!work || engines.some(({ name }) => !work.began[name])) {
    missed++;
    continue;
  }
  add('New Cut → work in hand', work.handedMs - cutMs);
  for (const { name, kind } of engines) {
    const began = work.began[name].sort((a, b) => a - b);
    add(`New Cut → first hash on ${name}`, began[0] - cutMs);
    if (kind === 'cpu' && began.length >= threads) {
      add(`New Cut → all ${threads} threads of ${name}`, began[threads - 1] - cutMs);
      add(`work in hand → all ${threads} threads of ${name}`, began[threads - 1] - work.handedMs);
    }
    if (kind === 'gpu') add(`New Cut → first dispatch of ${name} done`, work.ended[name] - cutMs);
  }
}

const table = {};
for (const [name, ms] of Object.entries(figures)) {
  const row = {
    p50: quantile(ms, 0.5),
    p90: quantile(ms, 0.9),
    p99: quantile(ms, 0.99),
    most: Math.max(...ms),
    n: ms.length,
  };
  table[name] = Object.fromEntries(Object.entries(row).map(([key, value]) => [key, Number(value.toFixed(2))]));
}
if (why) console.log(why);
console.log('milliseconds');
console.table(table);
if (missed > 0)
  console.log(`${missed} of ${values.cuts} cuts led to no new work in time, or a device did not get to it`);
save(values.out, { bench: 'restart', devices: values.devices, ...(why && { cpu: why }), milliseconds: table, missed });
process.exit(0);
