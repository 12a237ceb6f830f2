import { expect, test, vi } from 'vitest';
import { LoadThreads } from '#pickaxe/engine/cpu/kernels/load-threads.js';
import { loadableKernels } from './loadable-kernels.ts';

/** How many more threads the simulated system grants. */
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

/** Starts load threads, and stops them whatever happens. */
async function withLoadThreads(
  { names, count, grant = count }: { names: typeof loadableKernels; count: number; grant?: number },
  use: (load: LoadThreads) => void | Promise<void>,
) {
  granted = grant;
  workers.length = 0;
  const load = new LoadThreads(names);
  try {
    await load.start(count);
    await use(load);
  } finally {
    await load.stop();
  }
  expect(workers.map(({ threadId }) => threadId)).toEqual(workers.map(() => -1));
}

test.each(loadableKernels)('load threads run %s, and count its rows', async (name) => {
  await withLoadThreads({ names: loadableKernels, count: 2 }, async (load) => {
    expect(load.count).toBe(2);
    // The threads may get no processor time for a while.
    await vi.waitUntil(
      () => {
        load.run(name);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        load.endCount();
        return load.rows() > 0;
      },
      { timeout: 60_000 },
    );
  });
});

test('load threads that cannot run a kernel are ignored', async () => {
  const foreign = process.arch === 'arm64' ? 'avx2' : 'neon';
  await withLoadThreads({ names: [foreign], count: 2 }, (load) => {
    expect(load.count).toBe(0);
    load.run(foreign);
    load.endCount();
    expect(load.rows()).toBe(0);
  });
});

test('load threads that the system refuses are ignored', async () => {
  await withLoadThreads({ names: loadableKernels, count: 3, grant: 1 }, (load) => {
    expect(load.count).toBe(1);
    expect(workers).toHaveLength(1);
  });
});

test('a canceled start does not wait for threads', async () => {
  granted = 2;
  workers.length = 0;
  const load = new LoadThreads(loadableKernels);
  await load.start(2, AbortSignal.abort());
  expect(load.count).toBe(0);
  await load.stop();
  expect(workers.map(({ threadId }) => threadId)).toEqual([-1, -1]);
});
