import { describe, expect, test } from 'vitest';
import { TaskSize, taskMsFor } from '#pickaxe/miner/engine/cpu/thread-pool.js';
import { COUNTERS, PAGES, sizeOf } from '#pickaxe/protocol/chain/nonce.js';

describe('the size of tasks', () => {
  const hashesOf = ({ most }: TaskSize) => sizeOf(most);

  test('settles at the time that was asked for', () => {
    const taskSize = new TaskSize(30);
    const hashesPerMs = 80_000;
    for (let i = 0; i < 30; i++) taskSize.learn(hashesOf(taskSize), hashesOf(taskSize) / hashesPerMs);
    expect(hashesOf(taskSize) / hashesPerMs).toBeCloseTo(30, 0);
  });

  test('at most doubles or halves, whatever is measured', () => {
    const taskSize = new TaskSize(30);
    for (let i = 0; i < 100; i++) {
      const before = hashesOf(taskSize);
      taskSize.learn(before, i % 3 === 0 ? 0 : 10 ** (i % 7));
      // Whole columns are rounded.
      expect(hashesOf(taskSize)).toBeLessThanOrEqual(2 * before + 512 * (PAGES / 2));
      expect(hashesOf(taskSize)).toBeGreaterThanOrEqual(before / 2 - 512 * (PAGES / 2));
      expect(taskSize.most.pages).toBeGreaterThanOrEqual(1);
      expect(taskSize.most.pages).toBeLessThanOrEqual(PAGES);
      expect(taskSize.most.counters).toBeLessThanOrEqual(COUNTERS);
    }
  });

  test('is part of a column, or several columns when one does not take long enough', () => {
    const sized = (taskMs: number) => {
      const taskSize = new TaskSize(taskMs);
      for (let i = 0; i < 60; i++) taskSize.learn(hashesOf(taskSize), hashesOf(taskSize) / 300_000);
      return taskSize.most;
    };
    expect(sized(30)).toEqual({ counters: 512, pages: 17_578 });
    expect(sized(512)).toEqual({ counters: 5 * 512, pages: PAGES });
    expect(sized(1e12)).toEqual({ counters: COUNTERS, pages: PAGES });
  });

  test('grows with the number of threads, within bounds, so that all threads together finish as many tasks per second', () => {
    const tasksPerSecond = (threads: number) => (1000 * threads) / taskMsFor(threads);
    expect([1, 2, 7].map(taskMsFor)).toEqual([30, 30, 30]);
    expect([16, 64, 128, 250].map(tasksPerSecond)).toEqual([250, 250, 250, 250]);
    expect([256, 1024].map(taskMsFor)).toEqual([1000, 1000]);
  });
});
