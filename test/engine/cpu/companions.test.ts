import { expect, test, vi } from 'vitest';
import { Companions } from '#pickaxe/engine/cpu/kernels/companions.js';
import { loadableKernels } from './loadable-kernels.ts';

/** How many threads the system still grants. */
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

/** Starts companions, and stops them whatever happens. */
async function withCompanions(
  { names, count, grant = count }: { names: typeof loadableKernels; count: number; grant?: number },
  use: (companions: Companions) => void | Promise<void>,
) {
  granted = grant;
  workers.length = 0;
  const companions = new Companions(names);
  try {
    await companions.start(count);
    await use(companions);
  } finally {
    await companions.stop();
  }
  expect(workers.map(({ threadId }) => threadId)).toEqual(workers.map(() => -1));
}

test.each(loadableKernels)('companions run %s, and count its rows', async (name) => {
  await withCompanions({ names: loadableKernels, count: 2 }, async (companions) => {
    expect(companions.count).toBe(2);
    // They may get no processor for a while.
    await vi.waitUntil(
      () => {
        companions.run(name);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        companions.endCount();
        return companions.rows() > 0;
      },
      { timeout: 60_000 },
    );
  });
});

test('companions that cannot run a kernel are done without', async () => {
  const foreign = process.arch === 'arm64' ? 'avx2' : 'neon';
  await withCompanions({ names: [foreign], count: 2 }, (companions) => {
    expect(companions.count).toBe(0);
    companions.run(foreign);
    companions.endCount();
    expect(companions.rows()).toBe(0);
  });
});

test('companions that the system grants no thread are done without', async () => {
  await withCompanions({ names: loadableKernels, count: 3, grant: 1 }, (companions) => {
    expect(companions.count).toBe(1);
    expect(workers).toHaveLength(1);
  });
});

test('nothing is waited for when it is not wanted any more', async () => {
  granted = 2;
  workers.length = 0;
  const companions = new Companions(loadableKernels);
  await companions.start(2, AbortSignal.abort());
  expect(companions.count).toBe(0);
  await companions.stop();
  expect(workers.map(({ threadId }) => threadId)).toEqual([-1, -1]);
});
