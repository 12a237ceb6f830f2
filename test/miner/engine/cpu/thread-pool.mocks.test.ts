/** The pool of hashing threads, with threads that a test answers for. */

import type { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Pool } from '#pickaxe/miner/engine/cpu/thread-pool.js';
import type { Task, TaskResult } from '#pickaxe/miner/engine/cpu/worker-thread.js';
import type { SearchReport } from '#pickaxe/miner/engine/engine.js';
import { COUNTERS, PAGES, type Range, sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { isSettled, turns } from '../../../turns.ts';

/** A thread, or rather Piscina's pool of one thread. */
interface Thread extends EventEmitter {
  readonly options: { readonly filename: string; readonly workerData: Record<string, unknown> } & Record<
    string,
    unknown
  >;
  readonly isDestroyed: boolean;
  /** The tasks without an answer. */
  readonly tasks: { readonly task: Task; answer(rows: number): void; fail(error: Error): void }[];
}

const started = vi.hoisted(() => ({ threads: [] as unknown[] }));
const threads = started.threads as Thread[];

vi.mock('piscina', async () => {
  const { EventEmitter } = await import('node:events');
  class PretendedPiscina extends EventEmitter implements Thread {
    readonly options: Thread['options'];
    readonly tasks: Thread['tasks'] = [];
    isDestroyed = false;

    constructor(options: Thread['options']) {
      super();
      this.options = options;
      started.threads.push(this);
    }

    run(task: Task): Promise<TaskResult> {
      return new Promise((resolve, reject) => {
        const answer = (rows: number) => resolve({ rows, candidates: [], beganMs: 0, ms: 1 });
        this.tasks.push({ task, answer, fail: reject });
      });
    }

    async destroy() {
      this.isDestroyed = true;
    }
  }
  return { Piscina: PretendedPiscina, default: PretendedPiscina };
});

const job = jobOf(someHeaderHex, nothingSolves);
const WHOLE: Range = { lane: 3, step: 1, page: 0, pages: PAGES, counter: 0, counters: COUNTERS };
const never = new AbortController().signal;

beforeEach(() => {
  threads.length = 0;
});

function poolOf(count: number) {
  const data = { kernel: 'wasm', cpus: [], niceness: 19 } as const;
  return new Pool({ threads: Array.from({ length: count }, () => ({ data })) });
}

/** Reads a search to its end. */
function searchOn(pool: Pool, stop = never) {
  const ranges = new Rectangle(WHOLE);
  const reports: SearchReport[] = [];
  const reading = (async () => {
    for await (const report of pool.search(job, ranges, stop)) reports.push(report);
  })();
  return { ranges, reports, reading };
}

/** Answers all tasks that wait: that all of their rows are searched, or none. */
function answerAll(isSearched: boolean): void {
  for (const { tasks } of threads) {
    for (const { task, answer } of tasks.splice(0)) answer(isSearched ? sizeOf(task.range) / 512 : 0);
  }
}

describe('a pool', () => {
  test('has a thread for each that is wanted, with the number of the current run in shared memory', async () => {
    const pool = poolOf(2);
    expect(threads).toHaveLength(2);
    for (const { options } of threads) {
      expect(options.filename).toMatch(/worker-thread\.js$/);
      expect(options).toMatchObject({ minThreads: 1, maxThreads: 1, idleTimeout: Number.POSITIVE_INFINITY });
      expect(options.workerData).toEqual({ kernel: 'wasm', cpus: [], niceness: 19, currentRun: pool.currentRun });
    }
    expect(pool.currentRun.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect([...pool.currentRun]).toEqual([0]);
  });

  test('is ready when each thread has answered a task without nonces', async () => {
    const pool = poolOf(2);
    const ready = pool.ready();
    expect(threads.flatMap(({ tasks }) => tasks.map(({ task }) => sizeOf(task.range)))).toEqual([0, 0]);
    threads[0].tasks[0].answer(0);
    expect(await isSettled(ready)).toBe(false);
    threads[1].tasks[0].answer(0);
    await ready;
  });

  test('is not ready when a thread does not start', async () => {
    const ready = poolOf(2).ready();
    threads[1].tasks[0].fail(new Error('out of memory'));
    await expect(ready).rejects.toThrow('out of memory');
  });

  test('keeps several tasks on each thread, and stops when it is told to', async () => {
    const pool = poolOf(2);
    const stop = new AbortController();
    const { reading, ranges, reports } = searchOn(pool, stop.signal);
    await turns();
    const [first, second] = threads.map(({ tasks }) => tasks.length);
    expect(first).toBeGreaterThan(1);
    expect(second).toBe(first);
    expect(pool.currentRun[0]).toBe(1);
    expect(threads[0].tasks[0].task).toMatchObject({ run: 1, puzzle: { target: job.target } });
    answerAll(true);
    await turns();
    expect(threads.map(({ tasks }) => tasks.length)).toEqual([first, first]);
    stop.abort();
    expect(pool.currentRun[0]).toBe(0);
    answerAll(false);
    await reading;
    expect(reports).toHaveLength(2 * first);
    ranges.expectBalanced(reports);
    // Once more it would do nothing.
    stop.abort();
  });

  test('searches nothing for a search that is stopped already, and goes on with the one that runs', async () => {
    const pool = poolOf(1);
    const { reading, ranges } = searchOn(pool);
    await turns();
    await searchOn(pool, AbortSignal.abort()).reading;
    expect(pool.currentRun[0]).toBe(1);
    const destroying = pool.destroy();
    answerAll(false);
    await Promise.all([destroying, reading]);
    ranges.expectBalanced([]);
  });

  test('leaves a search when the next one begins', async () => {
    const pool = poolOf(1);
    const old = searchOn(pool);
    await turns();
    const next = searchOn(pool);
    await turns();
    expect(pool.currentRun[0]).toBe(2);
    const tasks = threads[0].tasks.map(({ task }) => task.run);
    expect(new Set(tasks)).toEqual(new Set([1, 2]));
    for (const { task, answer } of threads[0].tasks) if (task.run === 1) answer(0);
    await old.reading;
    old.ranges.expectBalanced([]);
    expect(await isSettled(next.reading)).toBe(false);
    const destroying = pool.destroy();
    answerAll(false);
    await Promise.all([destroying, next.reading]);
  });

  test('waits for its searches before it ends its threads', async () => {
    const pool = poolOf(2);
    const { reading, ranges } = searchOn(pool);
    await turns();
    const destroying = pool.destroy();
    await turns();
    expect(threads.map(({ isDestroyed }) => isDestroyed)).toEqual([false, false]);
    answerAll(false);
    await Promise.all([destroying, reading]);
    expect(threads.map(({ isDestroyed }) => isDestroyed)).toEqual([true, true]);
    ranges.expectBalanced([]);
    // The threads end now, which is no fault.
    threads[0].emit('workerDestroy');
    threads[0].emit('error', new Error('terminated'));
    await turns();
  });
});

describe('a thread that', () => {
  test.each([
    ['fails', (thread: Thread) => thread.emit('error', new Error('out of memory')), 'out of memory'],
    ['ends', (thread: Thread) => thread.emit('workerDestroy'), 'it has ended'],
    ['fails, and then ends', failAndEnd, 'out of memory'],
  ])('%s ends the search that runs and all later ones', async (_, happen, why) => {
    const pool = poolOf(2);
    const { reading, ranges } = searchOn(pool);
    const failed = expect(reading).rejects.toMatchObject({ fault: 'lost', message: `a CPU thread failed: ${why}` });
    await turns();
    happen(threads[1]);
    await turns();
    expect(pool.currentRun[0]).toBe(0);
    answerAll(false);
    await failed;
    ranges.expectBalanced([]);
    for (let later = 0; later < 2; later++) {
      const { reading, ranges } = searchOn(pool);
      await expect(reading).rejects.toThrow(`a CPU thread failed: ${why}`);
      ranges.expectBalanced([]);
    }
    expect(threads.flatMap(({ tasks }) => tasks)).toEqual([]);
  });

  function failAndEnd(thread: Thread): void {
    thread.emit('workerDestroy');
    thread.emit('error', new Error('out of memory'));
  }

  test('refuses a task ends the search with its reason, and its range is given back', async () => {
    const pool = poolOf(2);
    const { reading, ranges } = searchOn(pool);
    const failed = expect(reading).rejects.toThrow('a CPU thread failed: it has no memory');
    await turns();
    const [{ fail }] = threads[0].tasks.splice(0, 1);
    fail(new Error('it has no memory'));
    await turns();
    answerAll(false);
    await failed;
    ranges.expectBalanced([]);
  });
});
