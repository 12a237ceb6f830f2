import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { Pool } from '#pickaxe/miner/engine/cpu/thread-pool.js';
import { COUNTERS, PAGES, type Range } from '#pickaxe/protocol/chain/nonce.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { loadableKernels } from './loadable-kernels.ts';

/** A range that takes days. */
const WHOLE_LANE: Range = { lane: 0, step: 1, page: 0, pages: PAGES, counter: 0, counters: COUNTERS };
const ONE_ROW: Range = { ...WHOLE_LANE, pages: 1, counters: 512 };

const job = jobOf(someHeaderHex, nothingSolves);
const { midstate, tail, target } = job;
const taskOf = (range: Range) => ({ run: 1, puzzle: { midstate, tail, target }, range });

const pools: Pool[] = [];

async function poolOf(threads: number, kernel = loadableKernels[0]) {
  const data = { kernel, cpus: [] };
  const pool = new Pool({ threads: Array.from({ length: threads }, () => ({ data })) });
  const { currentRun } = pool;
  currentRun[0] = 1;
  pools.push(pool);
  await pool.ready();
  return { pool, currentRun };
}

afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.destroy())));

test.each(loadableKernels)('a long task of %s stops in the middle when the current run changes', async (kernel) => {
  const { pool, currentRun } = await poolOf(1, kernel);
  // The only thread takes tasks in order: when the first is answered, the second has begun or will find another run.
  const [thread] = pool.threads;
  const before = thread.run(taskOf(ONE_ROW));
  const searching = thread.run(taskOf(WHOLE_LANE));
  await before;
  Atomics.store(currentRun, 0, 2);
  const { rows, candidates } = await searching;
  expect(candidates).toEqual([]);
  expect(rows).toBeLessThan(PAGES * (COUNTERS / 512));
  expect(await thread.run(taskOf(ONE_ROW))).toMatchObject({ rows: 0 });
});

test('threads search side by side, each its own tasks', async () => {
  const { pool, currentRun } = await poolOf(3);
  const [idle, ...busy] = pool.threads;
  const long = busy.map((thread) => thread.run(taskOf(WHOLE_LANE)));
  for (let i = 0; i < 20; i++) expect(await idle.run(taskOf(ONE_ROW))).toMatchObject({ rows: 1 });
  Atomics.store(currentRun, 0, 2);
  await Promise.all(long);
});

test('reports name the kind of cores to which their thread is confined, if it is confined to one', async () => {
  const data = { kernel: loadableKernels[0], cpus: [] };
  for (const [kind, expected] of [
    [{ cores: 'efficiency' }, 'efficiency'],
    [{}, undefined],
  ] as const) {
    const pool = new Pool({ threads: [{ data, ...kind }] });
    pools.push(pool);
    const cores = [];
    for await (const report of pool.search(job, new Rectangle(ONE_ROW), new AbortController().signal)) {
      cores.push(report.cores);
    }
    expect(cores).toEqual([expected]);
  }
});

test('a thread that ends by itself fails its tasks, and all later searches', async () => {
  const threads: Worker[] = [];
  const remember = (thread: Worker) => threads.push(thread);
  process.on('worker', remember);
  const { pool } = await poolOf(2);
  process.off('worker', remember);
  const tasks = pool.threads.map((thread) => thread.run(taskOf(WHOLE_LANE)).catch(() => 'failed'));
  const gone = once(threads[0], 'exit');
  await threads[0].terminate();
  await gone;
  expect(await Promise.race(tasks)).toBe('failed');
  const search = async () => {
    for await (const _ of pool.search(job, new Rectangle(WHOLE_LANE), new AbortController().signal));
  };
  for (let i = 0; i < 2; i++) await expect(search()).rejects.toThrow('a CPU thread failed');
});

test('threads load no ES module by require(), because Node.js 20 aborts when a thread is ended meanwhile', async () => {
  const data = { kernel: loadableKernels[0], cpus: [] };
  const worker = new URL('./requires-a-module.mjs', import.meta.url);
  const pool = new Pool({ threads: [{ data }], worker });
  pools.push(pool);
  expect(await pool.threads[0].run(taskOf(ONE_ROW))).toBe('ERR_REQUIRE_ESM');
});
