import type { WorkerOptions } from 'node:worker_threads';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Clock } from '#pickaxe/base/system/clock.js';
import {
  type MeasuringThreadData,
  MeasuringThreads,
  measureKernels,
  measureTurns,
} from '#pickaxe/miner/engine/cpu/kernels/measure-kernels.js';
import type { CoreGroup } from '#pickaxe/miner/engine/cpu/threads.js';

/** The times that the measurement has waited for its threads, in ms. */
const waits: number[] = [];
/** What happens during the next waits. */
const meanwhile: (() => void)[] = [];
/** Whether the threads ended the last wait early. */
let isEarly = false;

vi.mock('node:os', async (load) => ({ ...(await load<object>()), availableParallelism: () => 2 }));

vi.mock('#pickaxe/base/system/abort.js', async (load) => ({
  ...(await load<object>()),
  pause: async (_: Clock, ms: number, ended: AbortSignal) => {
    waits.push(ms);
    meanwhile.shift()?.();
    isEarly = ended.aborted;
  },
}));

/** The lengths of other pauses, in ms. */
const sleeps: number[] = [];

vi.mock('node:timers/promises', async (load) => ({
  ...(await load<object>()),
  setTimeout: async (ms: number) => void sleeps.push(ms),
}));

interface Thread {
  /** The CPUs to which the thread is confined. */
  readonly cpus: readonly number[];
  readonly isOver: boolean;
  /** Name of the kernel that the thread should run; undefined while it should rest. */
  readonly kernel: string | undefined;
  /** Number of the turn that the thread should measure. */
  readonly turn: number;
  /** Ends a turn, as measuring-thread.ts does. */
  measure(rate: number, turn?: number): void;
}

const threads: Thread[] = [];

vi.mock('node:worker_threads', async (load) => {
  const { EventEmitter } = await import('node:events');
  class PretendedWorker extends EventEmitter implements Thread {
    readonly #data: MeasuringThreadData;

    constructor(_: string, { workerData }: WorkerOptions) {
      super();
      this.#data = workerData;
      threads.push(this);
      queueMicrotask(() => this.emit('message', 'ready'));
    }

    get kernel() {
      const { current, names } = this.#data;
      return current[0] === 0 ? undefined : names[current[0] % names.length];
    }

    get turn() {
      return Math.floor(this.#data.current[0] / this.#data.names.length);
    }

    measure(rate: number, turn = this.turn) {
      const { index, rates, turns, ended } = this.#data;
      rates[index] = rate;
      turns[index] = turn;
      ended[turn % ended.length]++;
      if (ended[turn % ended.length] === turns.length) this.emit('message', turn);
    }

    isOver = false;

    get cpus() {
      return this.#data.cpus;
    }

    async terminate() {
      this.isOver = true;
    }
  }
  return { ...(await load<object>()), Worker: PretendedWorker };
});

/** @returns the measurement with two threads on one kind of cores, and a third one on the other kind */
async function start() {
  const measurement = new MeasuringThreads(['avx2', 'wasm'], [[[], []], [[]]]);
  await measurement.start();
  expect(measurement.running).toBe(3);
  waits.length = 0;
  return measurement;
}

beforeEach(() => {
  threads.length = 0;
  meanwhile.length = 0;
});

test('all threads run the kernel of the turn, and none while they rest', async () => {
  const measurement = await start();
  const kernels: (string | undefined)[][] = [];
  const look = () => kernels.push(threads.map(({ kernel }) => kernel));
  meanwhile.push(look, () => {}, look);
  look();
  await measurement.takeTurn('wasm');
  await measurement.takeTurn('avx2');
  look();
  measurement.rest();
  look();
  await measurement.stop();
  const [wasm, avx2, none] = ['wasm', 'avx2', undefined].map((kernel) => [kernel, kernel, kernel]);
  expect(kernels).toEqual([none, wasm, avx2, avx2, none]);
});

const RATES = [10, 30, 7];

test.each<[what: string, ends: number[][], rates: (number | undefined)[], waits: number[], isEarly: boolean]>([
  ['all threads have ended it', [[0, 1, 2]], [20, 7], [12], true],
  ['each kind of cores has a rate, though a thread is late', [[1, 2]], [30, 7], [12], false],
  ['the only thread of a kind, which is late, has ended it, too', [[0, 1], [2]], [20, 7], [12, 500], true],
  ['all threads, which are late, have ended it', [[], [0, 1, 2]], [20, 7], [12, 500], true],
  ['the longest wait is over, and some threads have not ended it', [[], [0]], [10, undefined], [12, 500], false],
  ['the longest wait is over, and no thread has ended it', [[], []], [undefined, undefined], [12, 500], false],
])('a turn is over when %s', async (_, ends, rates, expectedWaits, expectedEarly) => {
  const measurement = await start();
  const end = (some: readonly number[]) => {
    for (const i of some) threads[i].measure(RATES[i]);
  };
  meanwhile.push(...ends.map((some) => () => end(some)));
  expect(await measurement.takeTurn('avx2')).toEqual(rates);
  expect([waits, isEarly]).toEqual([expectedWaits, expectedEarly]);
});

test('a rate of an earlier turn does not count, and its late end does not end a later turn', async () => {
  const measurement = await start();
  meanwhile.push(() => {
    threads[0].measure(20);
    threads[2].measure(7);
  });
  expect(await measurement.takeTurn('avx2')).toEqual([20, 7]);
  meanwhile.push(
    () => threads[1].measure(90, 1),
    () => threads[2].measure(8),
  );
  expect(await measurement.takeTurn('wasm')).toEqual([undefined, 8]);
  expect([waits, isEarly]).toEqual([[12, 12, 500], false]);
});

describe('a measurement', () => {
  const pinned = (...cpus: readonly number[]) => cpus.map((cpu) => [cpu]);
  const both = [0, 1];

  test.each<[string, CoreGroup[], (readonly number[])[]]>([
    ['without CPUs of their own, one for each CPU', [{ places: [[], [], []] }], [[], []]],
    ['fewer than CPUs', [{ places: [[]] }], [[]]],
    ['with a CPU each', [{ places: pinned(0, 1, 2) }], pinned(0, 1, 2)],
    ['that share CPUs, one for each CPU', [{ places: [both, both, both] }], [both, both]],
    [
      'of each kind of cores',
      [
        { kind: 'performance', places: [both, both, both] },
        { kind: 'efficiency', places: pinned(2) },
      ],
      [both, both, [2]],
    ],
  ])('has as many threads as will mine: %s', async (_, groups, cpus) => {
    const results = await measureKernels(['avx2', 'wasm'], groups, undefined);
    expect(threads.map((thread) => thread.cpus)).toEqual(cpus);
    expect(threads.map(({ isOver }) => isOver)).toEqual(cpus.map(() => true));
    expect(results.map((turns) => [...turns])).toEqual(
      groups.map(() => [
        ['avx2', []],
        ['wasm', []],
      ]),
    );
  });

  test('gives the rates of each group, and lets threads rest before each round', async () => {
    waits.length = 0;
    const measureAll = () => {
      for (const [i, thread] of threads.entries()) thread.measure(RATES[i]);
    };
    // The first wait is that for the start.
    meanwhile.push(() => {}, ...Array<() => void>(10).fill(measureAll));
    const groups: CoreGroup[] = [{ places: pinned(0, 1) }, { places: pinned(2) }];
    const [first, second] = await measureKernels(['wasm'], groups, undefined);
    expect(first.get('wasm')).toEqual(Array(10).fill(20));
    expect(second.get('wasm')).toEqual(Array(10).fill(7));
    // The limit for the start, and one wait for each turn.
    expect(waits).toEqual([5_000, ...Array(10).fill(12)]);
  });

  test('that is canceled ends its threads', async () => {
    const reason = new Error('closed');
    const canceled = measureKernels(['wasm'], [{ places: [[], []] }], AbortSignal.abort(reason));
    await expect(canceled).rejects.toBe(reason);
    expect(threads.map(({ isOver }) => isOver)).toEqual([true, true]);
  });
});

test('before each round of turns, the threads rest, and there is a pause', async () => {
  sleeps.length = 0;
  const events: string[] = [];
  await measureTurns(['avx2', 'wasm'], {
    groups: 1,
    rest: () => events.push(`rest after ${sleeps.length} pauses`),
    takeTurn: async () => {
      events.push(`turn after ${sleeps.length} pauses`);
      return [1];
    },
    nowMs: () => 0,
  });
  const round = (before: number) => [
    `rest after ${before} pauses`,
    ...[1, 2].map(() => `turn after ${before + 1} pauses`),
  ];
  expect(events).toEqual(Array.from({ length: 25 }, (_, index) => round(index)).flat());
  expect(new Set(sleeps)).toEqual(new Set([3]));
});
