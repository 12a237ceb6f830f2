/** The script of a hashing thread, run in this thread with a pretended kernel. */

import { beforeEach, expect, test, vi } from 'vitest';
import type { ThreadData } from '#pickaxe/miner/engine/cpu/worker-thread.js';
import { NOTHING_SOLVES } from '#pickaxe/protocol/chain/job.js';

const thread = vi.hoisted(() => ({
  data: {} as unknown,
  /** What the script does to its thread, in order. */
  done: [] as unknown[],
  nowMs: 0,
}));

vi.mock('node:worker_threads', async (load) => ({
  ...(await load<object>()),
  get workerData() {
    return thread.data;
  },
}));
vi.mock('#pickaxe/miner/engine/cpu/affinity.js', () => ({
  pinThread: (cpus: readonly number[]) => thread.done.push(['pinned', cpus]),
  setPriority: (niceness: number) => thread.done.push(['niceness', niceness]),
}));
vi.mock('#pickaxe/miner/engine/cpu/kernels/load-kernel.js', () => ({
  loadKernel: (name: string) => {
    thread.done.push(['kernel', name]);
    return {
      name,
      search: () => {
        thread.nowMs += 7;
        return 0;
      },
    };
  },
}));

beforeEach(() => {
  vi.resetModules();
  thread.done = [];
});

const DATA: ThreadData = { kernel: 'wasm', currentRun: Int32Array.of(1), cpus: [] };

async function start(data: Partial<ThreadData> = {}) {
  thread.data = { ...DATA, ...data };
  return (await import('#pickaxe/miner/engine/cpu/worker-thread.js')).default;
}

test.each<[Partial<ThreadData>, unknown[]]>([
  [{}, []],
  [{ cpus: [3] }, [['pinned', [3]]]],
  [{ cpus: [0, 1] }, [['pinned', [0, 1]]]],
  [{ niceness: 0 }, [['niceness', 0]]],
  [
    { niceness: 19, cpus: [3] },
    [
      ['niceness', 19],
      ['pinned', [3]],
    ],
  ],
])('a thread with %j gets its priority and its CPUs before its kernel, if it has any', async (data, done) => {
  await start(data);
  expect(thread.done).toEqual([...done, ['kernel', 'wasm']]);
});

test('the result of a task has the time at which it began, and its duration', async () => {
  const work = await start();
  const { systemClock } = await import('#pickaxe/base/system/clock.js');
  thread.nowMs = 500;
  const now = vi.spyOn(systemClock, 'monotonicMs').mockImplementation(() => thread.nowMs);
  const range = { lane: 0, step: 1, page: 0, pages: 1, counter: 0, counters: 512 } as const;
  const result = await work({ run: 1, puzzle: NOTHING_SOLVES, range });
  now.mockRestore();
  expect(result).toEqual({ rows: 0, candidates: [], beganMs: 500, ms: 7 });
});
