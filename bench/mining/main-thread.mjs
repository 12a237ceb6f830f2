// Measures what many CPU threads cost the main thread, on any machine: the real miner, space and pool run with 64, 128
// and 256 threads, which sleep instead of hashing.
//
//   node bench/mining/main-thread.mjs [--threads 64,128,256] [--mhs 300] [--ghs 22] [--seconds 21] [--json] [--out FILE]
//                              [--no-goals]
//
// Each thread is as fast as --mhs says. A GPU of --ghs takes its chunks from the same space; with 0 there is no GPU.
// Each number of threads is measured in two runs. In the first run the creation time rolls every three seconds, as with
// work from a node. In the second run it never rolls, as with work from a pool, so one space lasts for the whole run.
// Each figure is the median over periods of three seconds:
//
// - `GH/s`: the rate of the threads, and their possible rate;
// - `space`: the fraction of the main thread's time for taking ranges and giving them back;
// - `main thread`: the fraction of time for everything that the main thread does, and the time per task;
// - the time for a bare message to a thread and back, with as many threads that do nothing else: no engine can be below
//   that.
//
// The goal is at most 2 % for the space with up to 256 threads. When it is missed the exit code is 1, unless --no-goals
// is given. Most of the rest is messages, which are expensive here because hundreds of threads share a few CPUs and
// each message finds cold caches. On a busy machine all figures are several times larger. It runs only on Linux,
// because it reads the scheduler's statistics.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Pool, SearchRun, taskMsFor } from '#pickaxe/miner/engine/cpu/thread-pool.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import { Space } from '#pickaxe/miner/loop/space.js';
import { WORK_BYTES } from '#pickaxe/protocol/chain/bytes.js';
import { COUNTERS, sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { parseWork } from '#pickaxe/protocol/chain/work.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { median, printHeading, printTable, save } from '../lib/figures.mjs';
import { numbers } from '../lib/gpus.mjs';

const { values } = parseArgs({
  options: {
    threads: { type: 'string', default: '64,128,256' },
    mhs: { type: 'string', default: '300' },
    ghs: { type: 'string', default: '22' },
    seconds: { type: 'string', default: '21' },
    json: { type: 'boolean', default: false },
    goals: { type: 'boolean', default: true },
    out: { type: 'string' },
  },
  allowNegative: true,
});
const counts = numbers('threads', values.threads);
const [seconds, mhs, ghs] = ['seconds', 'mhs', 'ghs'].map((name) => Number(values[name]));

/** The goal for the space, in percent of the main thread, and the number of threads up to which it must be met. */
const AIM_PERCENT = 2;
const AIM_THREADS = 256;
/** The length of the periods for which figures are computed. In each, the creation time rolls once. */
const PERIOD_SECONDS = 3;
/** The time that is not counted: code is compiled, and tasks find their size. */
const WARM_UP_SECONDS = 5;
/** The value of engine/cpu/thread-pool.ts. */
const TASKS_PER_THREAD = 2;
/** The values of engine/gpu/gpu-engine.ts, and the length of batches. */
const CHUNK_MS = 300;
const GPU_BATCH_MS = 20;

class SleepingCpu {
  name = 'cpu';
  kind = 'cpu';
  tasks = 0;
  #threads;
  #runs = 0;
  #pool;

  constructor(threads) {
    this.#threads = threads;
  }

  async open() {
    const data = { hashesPerMs: mhs * 1000 };
    this.#pool = new Pool({
      threads: Array.from({ length: this.#threads }, () => ({ data })),
      worker: new URL('./sleeping-thread.mjs', import.meta.url),
    });
    await this.#pool.ready();
    return { model: 'threads that sleep', kernel: 'none', why: 'it is a bench' };
  }

  async *search(job, ranges, stop) {
    if (stop.aborted) return;
    const run = new SearchRun({
      number: ++this.#runs,
      puzzle: job,
      ranges,
      threads: this.#pool.threads.map((thread) => ({
        taskSize: thread.taskSize,
        run: (task) => {
          this.tasks++;
          return thread.run(task);
        },
      })),
      tasksPerThread: TASKS_PER_THREAD,
      currentRun: this.#pool.currentRun,
    });
    // Kernels read the number of the current run by themselves, but a sleeping thread must be woken.
    const wake = () => Atomics.notify(this.#pool.currentRun, 0);
    const onStop = () => {
      run.stop();
      wake();
    };
    stop.addEventListener('abort', onStop, { once: true });
    wake();
    yield* run.reports();
  }

  async close() {
    await this.#pool.destroy();
  }
}

class SleepingGpu {
  name = 'gpu0';
  kind = 'gpu';

  async open() {
    return { model: 'a GPU that sleeps', kernel: 'none', why: 'it is a bench' };
  }

  async *search(_job, ranges, stop) {
    const counters = Math.min(COUNTERS, Math.round(ghs * 1e6 * CHUNK_MS));
    while (!stop.aborted) {
      let chunk = ranges.take({ counters, pages: 1 });
      if (!chunk) return;
      while (chunk.counters > 0 && !stop.aborted) {
        const searched = { ...chunk, counters: Math.min(chunk.counters, Math.round(ghs * 1e6 * GPU_BATCH_MS)) };
        const beganMs = systemClock.monotonicMs();
        await sleep(GPU_BATCH_MS);
        yield { searched, hashes: sizeOf(searched), beganMs, candidates: [] };
        const counter = chunk.counter + searched.counters;
        chunk = { ...chunk, counter, counters: chunk.counters - searched.counters };
      }
      ranges.giveBack(chunk);
    }
  }

  async close() {}
}

/** How much of this thread's time spaces have taken so far. */
const inSpaces = { ms: 0, takes: 0 };
for (const name of ['take', 'giveBack']) {
  const method = Space.prototype[name];
  Space.prototype[name] = function (...all) {
    const startMs = performance.now();
    const result = method.apply(this, all);
    inSpaces.ms += performance.now() - startMs;
    if (name === 'take') inSpaces.takes++;
    return result;
  };
}

/** Work that no nonce solves. */
function sourceOf(rollTime) {
  return {
    name: 'bench',
    async follow(listener, stop) {
      listener({ kind: 'work', work: parseWork(new Uint8Array(WORK_BYTES), { rollTime }) });
      await once(stop, 'abort');
    },
    submit: async () => ({ outcome: 'rejected', reason: 'nothing solves it' }),
    latestTimeUs: () => BigInt(Date.now()) * 1000n,
  };
}

const mainNs = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]);

async function measure(threads, rollTime) {
  const cpu = new SleepingCpu(threads);
  const events = new Events();
  events.on(new Tally(systemClock).listen);
  const stop = new AbortController();
  const random = (below) => Math.floor(Math.random() * below);
  const engines = [cpu, ...(ghs > 0 ? [new SleepingGpu()] : [])];
  const options = { source: sourceOf(rollTime), engines, emit: events.emit, clock: systemClock, random };
  let hashes = 0;
  events.on((event) => {
    if (event.type === 'hashes' && event.device === 'cpu') hashes += event.hashes;
  });
  const run = new Miner(options).run(stop.signal);
  while (hashes === 0) await sleep(100);
  await sleep(1000 * WARM_UP_SECONDS);

  const read = () => ({ ms: performance.now(), mainMs: mainNs() / 1e6, tasks: cpu.tasks, hashes, ...spaceNow() });
  const spaceNow = () => ({ spaceMs: inSpaces.ms, takes: inSpaces.takes });
  const readings = [read()];
  for (let periods = 0; periods < seconds / PERIOD_SECONDS; periods++) {
    await sleep(1000 * PERIOD_SECONDS);
    readings.push(read());
  }
  stop.abort();
  await run;

  const [first, last] = [readings[0], readings.at(-1)];
  const percents = (name) =>
    readings.slice(1).map((now, i) => (100 * (now[name] - readings[i][name])) / (now.ms - readings[i].ms));
  const perSecond = (name) => ((last[name] - first[name]) * 1000) / (last.ms - first.ms);
  const rounded = (figure, digits = 2) => Number(figure.toFixed(digits));
  return {
    threads,
    rolls: rollTime ? 'every 3 s' : 'never',
    ghs: rounded(perSecond('hashes') / 1e9, 1),
    ghsAtMost: rounded((threads * mhs) / 1e3, 1),
    tasksPerSecond: rounded(perSecond('tasks'), 0),
    takesPerSecond: rounded(perSecond('takes'), 0),
    spacePercent: rounded(median(percents('spaceMs')), 3),
    mainPercent: rounded(median(percents('mainMs'))),
    microsecondsPerTask: rounded((1000 * (last.mainMs - first.mainMs)) / (last.tasks - first.tasks), 1),
  };
}

/** @returns the least time in a few periods, with as many messages per second as there are tasks. */
async function bareMessageMicroseconds(threads) {
  const answering = `
    const { parentPort } = require('node:worker_threads');
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    parentPort.on('message', (ms) => {
      Atomics.wait(nothing, 0, 0, ms * (0.98 + 0.04 * Math.random()));
      parentPort.postMessage(0);
    });`;
  let messages = 0;
  const workers = Array.from({ length: threads }, () => {
    const worker = new Worker(answering, { eval: true });
    worker.on('message', () => {
      messages++;
      worker.postMessage(taskMsFor(threads));
    });
    for (let i = 0; i < TASKS_PER_THREAD; i++) worker.postMessage(taskMsFor(threads));
    return worker;
  });
  await sleep(1000 * WARM_UP_SECONDS);
  const each = [];
  for (let periods = 0; periods < 3; periods++) {
    const before = { ns: mainNs(), messages };
    await sleep(1000 * PERIOD_SECONDS);
    each.push((mainNs() - before.ns) / 1e3 / (messages - before.messages));
  }
  await Promise.all(workers.map((worker) => worker.terminate()));
  return Number(Math.min(...each).toFixed(1));
}

if (!values.json) printHeading();
const rows = [];
for (const threads of counts) {
  const bareMicroseconds = await bareMessageMicroseconds(threads);
  for (const rollTime of [true, false]) rows.push({ ...(await measure(threads, rollTime)), bareMicroseconds });
}
const missed = rows.filter(({ threads, spacePercent }) => threads <= AIM_THREADS && spacePercent > AIM_PERCENT);
const result = { bench: 'main-thread', mhsPerThread: mhs, gpuGhs: ghs, seconds, aimPercent: AIM_PERCENT, rows };
if (values.json) console.log(JSON.stringify(result));
else {
  printTable(
    [
      ...['threads', 'rolls', 'GH/s', 'at most', 'tasks/s', 'takes/s', 'space %', 'main thread %'],
      ...['µs a task', 'µs a bare message'],
    ],
    rows.map((row) => Object.values(row)),
  );
  for (const { threads, rolls } of missed)
    console.log(`${threads} threads, rolls ${rolls}: the space takes more than ${AIM_PERCENT} %`);
}
save(values.out, result);
process.exit(values.goals && missed.length > 0 ? 1 : 0);
