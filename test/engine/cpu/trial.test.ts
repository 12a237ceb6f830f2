import { describe, expect, test } from 'vitest';
import type { KernelName } from '#pickaxe/engine/cpu/kernel-names.js';
import type { Verdict } from '#pickaxe/engine/cpu/kernels/speed.js';
import { Trial } from '#pickaxe/engine/cpu/kernels/trial.js';
import { type Figures, randomFrom } from './fake-chip.ts';

interface Mining {
  readonly threads: number;
  /** MH/s of one thread. */
  readonly figures: Figures;
  /** By which factor the task of this number is slowed down, as its thread's clock sees it. */
  readonly slowdown?: (task: number) => number;
  /** How much of a task of 30 ms is searched before a new job ends it. */
  readonly part?: (task: number) => number;
}

/** Mines with two tasks in flight on each thread, as the engine does, until the trial is over. */
function mine(contenders: KernelName[], { threads, figures, slowdown = () => 1, part = () => 1 }: Mining) {
  const verdicts: Verdict[] = [];
  const trial = new Trial(contenders, threads, (verdict) => verdicts.push(verdict));
  const queues = Array.from({ length: threads }, () => [trial.next, trial.next]);
  const kernels: KernelName[] = [];
  for (let task = 0; !trial.isOver && task < 1e5; task++) {
    const thread = task % threads;
    const assigned = queues[thread].shift()!;
    queues[thread].push(trial.next);
    const ms = 30 * part(task);
    kernels.push(assigned.kernel);
    trial.take(assigned, { thread, hashes: (1000 * figures[assigned.kernel]! * ms) / slowdown(task), ms });
  }
  return { trial, verdicts, kernels };
}

const CLOSE = { avx512x2: 107.9, avx512vlx2: 106.5 };

describe('a trial while mining', () => {
  test.each([1, 2, 15, 256])('with %i threads finds the fastest within a few tasks of each', (threads) => {
    const { trial, verdicts, kernels } = mine(['avx512vlx2', 'avx512x2'], { threads, figures: CLOSE });
    expect(verdicts).toHaveLength(1);
    expect(verdicts[0].fastest).toBe('avx512x2');
    expect(verdicts[0].speeds.avx512x2).toBe(107_900_000);
    expect(trial.next.kernel).toBe('avx512x2');
    expect(kernels.length).toBeLessThan(60 * threads);
  });

  test('costs nothing: about half of the tasks are searched with each kernel', () => {
    const { kernels } = mine(['avx512x2', 'avx512vlx2'], { threads: 4, figures: CLOSE });
    const ratio = kernels.filter((name) => name === 'avx512x2').length / kernels.length;
    expect(ratio).toBeGreaterThan(0.4);
    expect(ratio).toBeLessThan(0.6);
  });

  test('takes the first in the list among equals', () => {
    const { verdicts } = mine(['avx512vlx2', 'avx512x2'], {
      threads: 2,
      figures: { avx512vlx2: 107.4, avx512x2: 106.9 },
    });
    expect(verdicts[0].fastest).toBe('avx512x2');
  });

  test('goes on while turns spread', () => {
    const random = randomFrom(3);
    const { verdicts } = mine(['avx512vlx2', 'avx512x2'], {
      threads: 1,
      figures: CLOSE,
      // The first hundred tasks are disturbed.
      slowdown: (task) => (task < 100 ? 1 + random() : 1),
    });
    expect(verdicts).toMatchObject([{ fastest: 'avx512x2' }]);
    expect(verdicts[0].doubt).toBeUndefined();
  });

  test('ends in doubt when they never stop spreading, and the kernel stays', () => {
    const random = randomFrom(4);
    const { trial, verdicts } = mine(['avx512vlx2', 'avx512x2'], {
      threads: 1,
      figures: CLOSE,
      slowdown: () => 1 + 4 * random(),
    });
    expect(verdicts).toHaveLength(1);
    expect(verdicts[0].doubt).toContain('agree within 2 %');
    expect(trial.next.kernel).toBe('avx512vlx2');
  });

  test('does not count tasks that a new job ended at once, and counts those that were half done', () => {
    const figures = { avx512x2: 107.9, avx512vlx2: 106.5 };
    const short = mine(['avx512vlx2', 'avx512x2'], { threads: 2, figures, part: (task) => (task % 5 < 2 ? 0.005 : 1) });
    expect(short.verdicts).toMatchObject([{ fastest: 'avx512x2', speeds: { avx512x2: 107_900_000 } }]);
    const half = mine(['avx512vlx2', 'avx512x2'], { threads: 2, figures, part: () => 0.5 });
    expect(half.verdicts).toMatchObject([{ fastest: 'avx512x2' }]);
    const never = mine(['avx512vlx2', 'avx512x2'], { threads: 2, figures, part: () => 0.005 });
    expect(never.verdicts).toEqual([]);
    expect(never.trial.next.kernel).toBe('avx512vlx2');
  });

  test('on a busy machine, whose threads get little of the processor, has turns of more tasks', () => {
    const { verdicts, kernels } = mine(['avx512vlx2', 'avx512x2'], { threads: 2, figures: CLOSE, part: () => 0.02 });
    expect(verdicts).toMatchObject([{ fastest: 'avx512x2' }]);
    expect(kernels.length).toBeGreaterThan((10 * 2 * 40) / 0.6);
  });

  test('does not wait for a thread that gets no processor', () => {
    const verdicts: Verdict[] = [];
    const trial = new Trial(['avx512vlx2', 'avx512x2'], 4, (verdict) => verdicts.push(verdict));
    for (let task = 0; !trial.isOver && task < 1000; task++) {
      const assigned = trial.next;
      trial.take(assigned, { thread: task % 3, hashes: 30_000 * CLOSE[assigned.kernel as 'avx512x2'], ms: 30 });
    }
    expect(verdicts).toMatchObject([{ fastest: 'avx512x2' }]);
  });

  test('does not count what was searched in an earlier turn, nor each thread’s first task of a turn', () => {
    const trial = new Trial(['avx512vlx2', 'avx512x2'], 1, () => {});
    const first = trial.next;
    const done = { thread: 0, hashes: 3_000_000, ms: 30 };
    for (let i = 0; i < 3; i++) trial.take(first, done);
    const second = trial.next;
    expect([first.kernel, second.kernel]).toEqual(['avx512vlx2', 'avx512x2']);
    for (let i = 0; i < 10; i++) trial.take(first, done);
    expect(trial.next).toBe(second);
    for (let i = 0; i < 2; i++) trial.take(second, done);
    expect(trial.next).toBe(second);
    trial.take(second, done);
    expect(trial.next).not.toBe(second);
  });

  test('is over at once when there is nothing to prove', () => {
    const { trial, verdicts } = mine(['avx512x2'], { threads: 2, figures: CLOSE });
    expect(trial.isOver).toBe(true);
    expect(trial.next.kernel).toBe('avx512x2');
    expect(verdicts).toEqual([]);
  });
});
