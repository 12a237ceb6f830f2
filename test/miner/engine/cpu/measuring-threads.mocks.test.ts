import { expect, test, vi } from 'vitest';
import { chooseKernels } from '#pickaxe/miner/engine/cpu/kernels/choose.js';
import { MeasuringThreads } from '#pickaxe/miner/engine/cpu/kernels/measure-kernels.js';
import type { Place } from '#pickaxe/miner/engine/cpu/threads.js';
import { loadableKernels, nativeIsBuilt } from './loadable-kernels.ts';

/** Number of threads that the simulated system still grants. */
let granted = Number.POSITIVE_INFINITY;
const workers: { threadId: number }[] = [];

vi.mock('node:worker_threads', async (load) => {
  const { Worker, ...others } = await load<typeof import('node:worker_threads')>();
  class GrantedWorker extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      if (granted-- <= 0) throw new Error('ERR_WORKER_INIT_FAILED');
      super(...args);
      workers.push(this);
    }
  }
  return { ...others, Worker: GrantedWorker };
});

interface Start {
  readonly names: typeof loadableKernels;
  readonly groups: Place[][];
  readonly grant?: number;
}

/** Starts measuring threads, and stops them whatever happens. */
async function withThreads({ names, groups, grant = groups.flat().length }: Start, use: UseThreads) {
  granted = grant;
  workers.length = 0;
  const threads = new MeasuringThreads(names, groups);
  try {
    await threads.start();
    await use(threads);
  } finally {
    await threads.stop();
  }
  expect(workers.map(({ threadId }) => threadId)).toEqual(workers.map(() => -1));
}
type UseThreads = (threads: MeasuringThreads) => void | Promise<void>;

test('measuring threads measure each kernel, and a faster one faster', async () => {
  await withThreads({ names: loadableKernels, groups: [[[], []]] }, async (threads) => {
    // On a busy machine, a thread may start only after the time for which `start` waits.
    await vi.waitUntil(() => threads.running === 2, { timeout: 60_000 });
    for (const name of loadableKernels) {
      // The first turns find the length of a search. The machine may be so busy that a turn has no result.
      await vi.waitUntil(async () => (await threads.takeTurn(name))[0], { timeout: 60_000 });
      threads.rest();
    }
    const best = async (name: (typeof loadableKernels)[number]) => {
      const rates: number[] = [];
      while (rates.length < 5) rates.push((await threads.takeTurn(name))[0] ?? 0);
      return Math.max(...rates);
    };
    if (nativeIsBuilt) expect(await best(loadableKernels[0])).toBeGreaterThan(await best('wasm'));
  });
});

test('each group of threads has a rate of its own', async () => {
  await withThreads({ names: loadableKernels, groups: [[[], []], [[]]] }, async (threads) => {
    await vi.waitUntil(
      async () => {
        const rates = await threads.takeTurn(loadableKernels[0]);
        expect(rates).toHaveLength(2);
        return rates.every((rate) => rate !== undefined && rate > 0);
      },
      { timeout: 60_000 },
    );
  });
});

test('threads that cannot run a kernel are ignored', async () => {
  const foreign = process.arch === 'arm64' ? 'avx2' : 'neon';
  await withThreads({ names: [foreign], groups: [[[], []]] }, async (threads) => {
    expect(threads.running).toBe(0);
    expect(await threads.takeTurn(foreign)).toEqual([undefined]);
  });
});

test('threads that the system refuses are ignored', async () => {
  await withThreads({ names: loadableKernels, groups: [[[], [], []]], grant: 1 }, (threads) => {
    expect(threads.running).toBe(1);
    expect(workers).toHaveLength(1);
  });
});

test('when no thread can measure, the usually fastest kernel is used, and the reason is given', async () => {
  granted = 0;
  const [choice] = await chooseKernels({ groups: [{ places: [[], []] }] });
  expect(choice.name).toBe(loadableKernels[0]);
  expect(choice.why).toContain('usually the fastest, not measured');
  expect(choice.detail).toContain('not remembered: no thread got the processor in time');
});

test('a canceled start does not wait for threads', async () => {
  granted = 2;
  workers.length = 0;
  const threads = new MeasuringThreads(loadableKernels, [[[], []]]);
  await threads.start(AbortSignal.abort());
  expect(threads.running).toBe(0);
  await threads.stop();
  expect(workers.map(({ threadId }) => threadId)).toEqual([-1, -1]);
});
