/** The CPU engine with pretended threads and a pretended choice of kernels. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CpuEngine, type CpuEngineOptions } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import type { ThreadChoice } from '#pickaxe/miner/engine/cpu/threads.js';
import type { Telemetry } from '#pickaxe/miner/engine/device.js';
import type { SearchReport } from '#pickaxe/miner/engine/engine.js';
import { turns } from '../../../turns.ts';

/** What the pretended parts do, and how they were used. */
const parts = vi.hoisted(() => ({
  choice: {} as unknown,
  /** Called when a pool has been made. It is ready when the result settles. */
  ready: async (): Promise<void> => {},
  choose: async (_: unknown): Promise<readonly unknown[]> => [],
  pools: [] as { readonly options: unknown; isDestroyed: boolean }[],
  chosen: [] as unknown[],
  forced: [] as string[],
}));

vi.mock('#pickaxe/miner/engine/cpu/threads.js', async (load) => ({
  ...(await load<object>()),
  chooseThreads: () => parts.choice,
}));
vi.mock('#pickaxe/miner/engine/cpu/kernels/choose.js', () => ({
  chooseKernels: (circumstances: unknown) => {
    parts.chosen.push(circumstances);
    return parts.choose(circumstances);
  },
  forceKernel: (name: string) => {
    parts.forced.push(name);
    return { name, why: 'asked for', detail: 'asked for' };
  },
}));
vi.mock('#pickaxe/miner/engine/cpu/thread-pool.js', () => ({
  Pool: class {
    readonly options: unknown;
    isDestroyed = false;

    constructor(options: unknown) {
      this.options = options;
      parts.pools.push(this);
    }

    ready() {
      return parts.ready();
    }

    async *search(...args: readonly unknown[]) {
      yield args as unknown as SearchReport;
    }

    async destroy() {
      this.isDestroyed = true;
    }
  },
}));

const HYBRID: ThreadChoice = {
  threads: 3,
  groups: [
    { kind: 'performance', places: [[0], [1]] },
    { kind: 'efficiency', places: [[2, 3]] },
  ],
  niceness: 19,
  why: 'pretended',
};
const PLAIN: ThreadChoice = { threads: 1, groups: [{ places: [[]] }], why: 'pretended' };

const kernelOf = (name: string) => ({ name, why: 'the fastest', detail: 'the fastest' });
const WARM: Telemetry = { temperatureCelsius: 61 };
const openSensors = vi.fn(async (_: { readonly threads: number }) => ({ what: 'sensors', read: async () => WARM }));

const engines: CpuEngine[] = [];
beforeEach(() => {
  vi.clearAllMocks();
  Object.assign(parts, { choice: HYBRID, ready: async () => {}, pools: [], chosen: [], forced: [] });
  parts.choose = async () => [kernelOf('avx2'), kernelOf('sse41')];
});
afterEach(() => Promise.all(engines.splice(0).map((engine) => engine.close())));

function engineWith(options: CpuEngineOptions = {}): CpuEngine {
  const engine = new CpuEngine({ openSensors, ...options });
  engines.push(engine);
  return engine;
}

describe('the CPU engine', () => {
  test('has a name, its kind and the number of its threads before it is open', () => {
    expect(engineWith()).toMatchObject({ name: 'cpu', kind: 'cpu', threads: 3 });
    expect(engineWith({ name: 'cpu1' }).name).toBe('cpu1');
  });

  test('starts a thread for each place, with the kernel of its cores', async () => {
    const info = await engineWith({ cacheDirectory: '/cache' }).open();
    expect(parts.pools.map(({ options }) => options)).toStrictEqual([
      {
        threads: [
          { data: { kernel: 'avx2', cpus: [0], niceness: 19 }, cores: 'performance' },
          { data: { kernel: 'avx2', cpus: [1], niceness: 19 }, cores: 'performance' },
          { data: { kernel: 'sse41', cpus: [2, 3], niceness: 19 }, cores: 'efficiency' },
        ],
      },
    ]);
    const stop = expect.any(AbortSignal);
    expect(parts.chosen).toEqual([{ groups: HYBRID.groups, cacheDirectory: '/cache', hurried: false, stop }]);
    expect(openSensors.mock.calls).toEqual([[{ threads: 3 }]]);
    expect(info).toMatchObject({
      kernel: 'avx2+sse41',
      threads: 3,
      detail: expect.stringMatching(/sensors: sensors$/),
    });
  });

  test('gives threads no priority and no kind of cores where there is none', async () => {
    parts.choice = PLAIN;
    parts.choose = async () => [kernelOf('wasm')];
    await engineWith({ hurried: true }).open();
    expect(parts.pools[0].options).toStrictEqual({ threads: [{ data: { kernel: 'wasm', cpus: [] } }] });
    expect(parts.chosen).toMatchObject([{ hurried: true }]);
  });

  test('uses the kernel that was asked for on all cores, and chooses none', async () => {
    expect((await engineWith({ kernel: 'portable' }).open()).kernel).toBe('portable');
    expect([parts.forced, parts.chosen]).toEqual([['portable', 'portable'], []]);
  });

  test('passes searches on to its threads', async () => {
    const engine = engineWith();
    const args = [{}, {}, new AbortController().signal] as never as Parameters<CpuEngine['search']>;
    await expect(engine.search(...args).next()).rejects.toMatchObject({
      fault: 'missing',
      message: 'the CPU engine is not open',
    });
    await engine.open();
    expect((await engine.search(...args).next()).value).toEqual(args);
    await engine.close();
    await expect(engine.search(...args).next()).rejects.toMatchObject({ fault: 'missing' });
  });

  test('tells the readings of its sensors until it is closed', async () => {
    vi.useFakeTimers();
    try {
      const telemetry = vi.fn();
      const engine = engineWith();
      await engine.open({ telemetry });
      await vi.advanceTimersByTimeAsync(2_000);
      expect(telemetry.mock.calls).toEqual([[WARM], [WARM]]);
      await engine.close();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(telemetry).toHaveBeenCalledTimes(2);
      expect(vi.getTimerCount()).toBe(0);
      // Without a listener the readings go nowhere.
      await engine.open();
    } finally {
      vi.useRealTimers();
    }
  });

  test('is open once at a time, and frees its threads once', async () => {
    const engine = engineWith();
    await engine.open();
    await expect(engine.open()).rejects.toThrow('the CPU engine is open already');
    expect(parts.pools.map(({ isDestroyed }) => isDestroyed)).toEqual([false]);
    await engine.close();
    await engine.close();
    await engine.open();
    expect(parts.pools.map(({ isDestroyed }) => isDestroyed)).toEqual([true, false]);
  });

  test('whose threads do not start is missing, with the reason, and can be opened again', async () => {
    const engine = engineWith();
    const cause = new Error('ERR_WORKER_OUT_OF_MEMORY');
    parts.ready = () => Promise.reject(cause);
    await expect(engine.open()).rejects.toMatchObject({
      fault: 'missing',
      message: 'the CPU threads did not start: ERR_WORKER_OUT_OF_MEMORY',
      cause,
    });
    expect(parts.pools.map(({ isDestroyed }) => isDestroyed)).toEqual([true]);
    parts.ready = async () => {};
    await engine.open();
  });

  test('without a kernel fails with the reason, and can be opened again', async () => {
    const engine = engineWith();
    const fault = new Error('no CPU kernel can be used');
    parts.choose = () => Promise.reject(fault);
    await expect(engine.open()).rejects.toBe(fault);
    parts.choose = async () => [kernelOf('avx2'), kernelOf('sse41')];
    await engine.open();
  });
});

describe('an engine that is closed while', () => {
  const CLOSED = { fault: 'missing', message: 'the CPU engine was closed while it opened' };

  /** A step of the opening that ends when the test says so. */
  function gate() {
    let open = () => {};
    let fail = (_: Error) => {};
    const promise = new Promise<void>((resolve, reject) => {
      open = resolve;
      fail = reject;
    });
    return { promise, open: () => open(), fail: (error: Error) => fail(error) };
  }

  test('kernels are chosen starts no threads, and its measurement ends', async () => {
    const { promise, open } = gate();
    let signal: AbortSignal | undefined;
    parts.choose = async (circumstances) => {
      signal = (circumstances as { stop: AbortSignal }).stop;
      await promise;
      return [kernelOf('avx2'), kernelOf('sse41')];
    };
    const engine = engineWith();
    const opening = expect(engine.open()).rejects.toMatchObject(CLOSED);
    await turns();
    expect(signal?.aborted).toBe(false);
    await engine.close();
    expect(signal?.aborted).toBe(true);
    open();
    await opening;
    expect(parts.pools).toEqual([]);
  });

  test.each(['ends well', 'fails'])('its threads start, which %s, has freed them', async (how) => {
    const { promise, open, fail } = gate();
    parts.ready = () => promise;
    const engine = engineWith();
    const opening = expect(engine.open()).rejects.toMatchObject(CLOSED);
    await turns();
    await engine.close();
    expect(parts.pools.map(({ isDestroyed }) => isDestroyed)).toEqual([true]);
    if (how === 'fails') fail(new Error('terminated'));
    else open();
    await opening;
  });

  test('it opens, and opened again meanwhile, stays open when the first opening fails', async () => {
    const { promise, open } = gate();
    const choices = [kernelOf('avx2'), kernelOf('sse41')];
    let isFirst = true;
    parts.choose = async () => {
      if (isFirst) {
        isFirst = false;
        await promise;
      }
      return choices;
    };
    const engine = engineWith();
    const first = expect(engine.open()).rejects.toMatchObject(CLOSED);
    await turns();
    await engine.close();
    await engine.open();
    open();
    await first;
    expect(parts.pools.map(({ isDestroyed }) => isDestroyed)).toEqual([false]);
    await expect(engine.open()).rejects.toThrow('open already');
  });
});
