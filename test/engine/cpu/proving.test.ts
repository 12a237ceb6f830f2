import { expect, test } from 'vitest';
import { COUNTERS, PAGES, sizeOf } from '#pickaxe/chain/nonce.js';
import { describeCpu } from '#pickaxe/engine/cpu/cpu-engine.js';
import type { KernelName } from '#pickaxe/engine/cpu/kernel-names.js';
import type { KernelChoice } from '#pickaxe/engine/cpu/kernels/choose.js';
import type { Verdict } from '#pickaxe/engine/cpu/kernels/speed.js';
import { proving, Trial } from '#pickaxe/engine/cpu/kernels/trial.js';
import { SearchRun, TaskSize, type TaskThread } from '#pickaxe/engine/cpu/pool.js';
import type { Task, TaskResult } from '#pickaxe/engine/cpu/worker.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../contract/jobs.ts';
import { Rectangle } from '../../contract/rectangle.ts';

const WHOLE_LANE = { lane: 3, page: 0, pages: PAGES, counter: 0, counters: COUNTERS };

/** Hashes per ms. */
const RATES: Partial<Record<KernelName, number>> = { avx2: 98_000, avx2x2: 100_000 };

/**
 * A thread whose tasks wait to be answered. When another run is the current one, they have searched a part of their
 * range.
 */
function fakeThread(currentRun: Int32Array) {
  const answers: (() => void)[] = [];
  const kernels: (KernelName | undefined)[] = [];
  const thread: TaskThread = {
    taskSize: new TaskSize(30),
    run: ({ run, range, kernel }: Task) =>
      new Promise<TaskResult>((resolve) => {
        kernels.push(kernel);
        answers.push(() => {
          const all = sizeOf(range) / 512;
          const rows = currentRun[0] === run ? all : Math.floor(all / 3);
          const ms = (512 * rows) / RATES[kernel ?? 'avx2']!;
          resolve({ rows, candidates: [], beganMs: 0, ms, cpuMs: ms });
        });
      }),
  };
  return { thread, answers, kernels };
}

test('a trial goes on over job switches, delays none of them, and loses no range', async () => {
  const currentRun = new Int32Array(new SharedArrayBuffer(4));
  const { thread, answers, kernels } = fakeThread(currentRun);
  const verdicts: Verdict[] = [];
  const trial = new Trial(['avx2', 'avx2x2'], 1, (verdict) => verdicts.push(verdict));
  const threads = [proving(thread, 0, trial)];
  for (let number = 1; number < 1000 && !trial.isOver; number++) {
    const ranges = new Rectangle(WHOLE_LANE);
    const reports: { searched: typeof WHOLE_LANE; hashes: number }[] = [];
    const puzzle = jobOf(someHeaderHex, nothingSolves);
    const run = new SearchRun({ number, puzzle, ranges, threads, tasksPerThread: 2, currentRun });
    const reading = (async () => {
      for await (const report of run.reports()) reports.push(report);
    })();
    // Its tasks are with the thread at once.
    expect(answers).toHaveLength(2);
    for (let task = 0; task < 7; task++) {
      answers.shift()!();
      await new Promise(setImmediate);
    }
    const stopping = run.stop();
    for (const answer of answers.splice(0)) answer();
    await Promise.all([reading, stopping]);
    ranges.expectBalanced(reports as never);
  }
  expect(verdicts).toMatchObject([{ fastest: 'avx2x2' }]);
  expect(kernels.slice(0, 2)).toEqual(['avx2', 'avx2']);
  expect(trial.next.kernel).toBe('avx2x2');
});

test('a thread of a hybrid chip keeps its kind of cores and its task size', () => {
  const { thread } = fakeThread(new Int32Array(1));
  const wrapped = proving({ ...thread, cores: 'efficiency' }, 0, new Trial(['avx2'], 1, () => {}));
  expect(wrapped.cores).toBe('efficiency');
  expect(wrapped.taskSize).toBe(thread.taskSize);
});

const choiceOf = (name: KernelName): KernelChoice => ({
  name,
  why: 'the fastest of 9 here; built here',
  detail: 'the fastest here (MH/s per thread: …); built here',
  contenders: [name],
  speeds: {},
});

test('a hybrid chip is described by its kinds of cores, each with its kernel', () => {
  const groups = [
    { kind: 'performance', places: [[0], [1]] },
    { kind: 'efficiency', places: [[2]] },
  ] as const;
  const info = describeCpu(
    'Core',
    [choiceOf('avx2'), choiceOf('sse41')],
    { threads: 3, groups, why: 'asked for' },
    'none',
  );
  expect(info).toEqual({
    model: 'Core',
    kernel: 'avx2+sse41',
    threads: 3,
    cores: [
      { kind: 'performance', threads: 2, kernel: 'avx2' },
      { kind: 'efficiency', threads: 1, kernel: 'sse41' },
    ],
    why:
      'performance cores: avx2, the fastest of 9 here; built here; ' +
      'efficiency cores: sse41, the fastest of 9 here; built here',
    detail:
      'performance cores: kernel avx2: the fastest here (MH/s per thread: …); built here; ' +
      'efficiency cores: kernel sse41: the fastest here (MH/s per thread: …); built here; 3 threads: asked for; sensors: none',
  });
  expect(
    describeCpu('Core', [choiceOf('avx2'), choiceOf('avx2')], { threads: 3, groups, why: '' }, 'none').kernel,
  ).toBe('avx2');
});

test('a chip whose cores are alike is described without kinds', () => {
  const groups = [{ places: [[], []] }];
  const info = describeCpu('Core', [choiceOf('avx2')], { threads: 2, groups, why: 'asked for' }, 'none');
  expect(info).toEqual({
    model: 'Core',
    kernel: 'avx2',
    threads: 2,
    why: 'the fastest of 9 here; built here',
    detail: 'kernel avx2: the fastest here (MH/s per thread: …); built here; 2 threads: asked for; sensors: none',
  });
});
