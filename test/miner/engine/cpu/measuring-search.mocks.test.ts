/** The script of a measuring thread, run in this thread with pretended kernels and a clock of its own. */

import { beforeEach, expect, test, vi } from 'vitest';
import type { MeasuringThreadData } from '#pickaxe/miner/engine/cpu/kernels/measure-kernels.js';
import { PAGES } from '#pickaxe/protocol/chain/nonce.js';

/** Words of a packed search. */
const [COUNTERS_WORD, PAGES_WORD] = [26, 28];

const thread = {
  nowMs: 0,
  data: {} as MeasuringThreadData,
  /** Hashes per ms of each kernel. */
  speeds: {} as Record<string, number>,
  /** Pages of each search, up to the last one, which would go on until the next turn. */
  searched: [] as number[],
  messages: [] as unknown[],
  pinned: [] as (readonly number[])[],
  /** What comes after each turn: the next value of `current`, or the end of the test. */
  next: [] as number[],
};

class Enough extends Error {}

vi.mock('node:worker_threads', async (load) => ({
  ...(await load<object>()),
  parentPort: { postMessage: (message: unknown) => thread.messages.push(message) },
  get workerData() {
    return thread.data;
  },
}));
vi.mock('#pickaxe/miner/engine/cpu/affinity.js', () => ({
  pinThread: (cpus: readonly number[]) => thread.pinned.push(cpus),
}));
vi.mock('#pickaxe/miner/engine/cpu/kernels/native-kernels.js', async (load) => ({
  ...(await load<object>()),
  threadClock: () => () => thread.nowMs,
}));
vi.mock('#pickaxe/miner/engine/cpu/kernels/load-kernel.js', () => ({
  loadKernel: (name: string) => ({
    name,
    search: (search: Uint32Array, currentRun: Int32Array) => {
      if (currentRun === thread.data.current) {
        const next = thread.next.shift();
        if (next === undefined) throw new Enough();
        currentRun[0] = next;
        return 0;
      }
      const pages = search[PAGES_WORD];
      thread.searched.push(pages);
      thread.nowMs += (pages * search[COUNTERS_WORD]) / thread.speeds[name];
      return pages;
    },
  }),
}));

beforeEach(() => void vi.resetModules());

const words = (count: number) => new Int32Array(new SharedArrayBuffer(4 * count));

/**
 * Runs turns one after the other. @param turns the index of the kernel in each turn
 * @returns for each turn, the pages of its searches and the rate
 */
async function run(speeds: Record<string, number>, turns: readonly number[], cpus: readonly number[] = []) {
  const names = Object.keys(speeds) as MeasuringThreadData['names'];
  // Between two turns the thread looks once more, and finds that it has measured this turn.
  const [first, ...next] = turns.flatMap((kernel, i) => new Array<number>(2).fill((i + 1) * names.length + kernel));
  const [current, ended] = [words(1), words(64)];
  const data = { names, index: 1, cpus, current, rates: new Float64Array(2), turns: words(2), ended };
  current[0] = first;
  ended.fill(1);
  Object.assign(thread, { data, speeds, searched: [], messages: [], pinned: [], next });
  await expect(import('#pickaxe/miner/engine/cpu/kernels/measuring-thread.js')).rejects.toThrow(Enough);
  return data;
}

test('a turn is measured once: it settles for 1 ms and is timed for 2 ms, as far as the rate is known', async () => {
  const { rates, turns, ended } = await run({ avx2: 512 * 100 }, [0, 0, 0]);
  expect(thread.searched).toEqual([8, 8, 100, 200, 100, 200]);
  expect([...rates]).toEqual([0, expect.closeTo(512 * 100, 6)]);
  expect([...turns]).toEqual([0, 3]);
  expect([...ended.subarray(0, 5)]).toEqual([1, 2, 2, 2, 1]);
  expect(thread.messages).toEqual(['ready', 1, 2, 3]);
});

test('each kernel has a rate of its own, the highest so far', async () => {
  await run({ avx2: 512 * 100, wasm: 512 * 10 }, [0, 1, 0, 1, 0]);
  expect(thread.searched).toEqual([8, 8, 8, 8, 100, 200, 10, 20, 100, 200]);
});

test('a search has no more pages than there are, and no fewer than eight', async () => {
  await run({ avx2: 512 * 1e6, wasm: 512 }, [0, 1, 0, 1, 0]);
  // A time of 0.001 ms is the shortest that counts.
  expect(thread.searched).toEqual([8, 8, 8, 8, 8_000, 16_000, 8, 8, PAGES, PAGES]);
});

test('a rate is finite though a coarse clock stands still', async () => {
  const { rates } = await run({ avx2: Number.POSITIVE_INFINITY }, [0]);
  expect(rates[1]).toBe((8 * 512) / 0.001);
});

test('a thread is confined to its CPUs, if it has any', async () => {
  await run({ avx2: 512 }, [0], [3, 4]);
  expect(thread.pinned).toEqual([[3, 4]]);
  await run({ avx2: 512 }, [0]);
  expect(thread.pinned).toEqual([]);
});
