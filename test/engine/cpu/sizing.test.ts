import { describe, expect, test } from 'vitest';
import { BatchSize } from '#pickaxe/engine/cpu/batch-size.js';

describe('the size of tasks', () => {
  const hashesOf = (batch: BatchSize) => batch.pages * 512;

  test('settles where a task takes the time asked for', () => {
    const batch = new BatchSize(30);
    const hashesPerMs = 80_000;
    for (let i = 0; i < 30; i++) batch.learn(hashesOf(batch), hashesOf(batch) / hashesPerMs);
    expect(hashesOf(batch) / hashesPerMs).toBeCloseTo(30, 0);
  });

  test('at most doubles or halves, whatever is measured', () => {
    const batch = new BatchSize(30);
    for (let i = 0; i < 100; i++) {
      const { pages } = batch;
      batch.learn(hashesOf(batch), i % 3 === 0 ? 0 : 10 ** (i % 7));
      expect(batch.pages).toBeLessThanOrEqual(2 * pages);
      expect(batch.pages).toBeGreaterThanOrEqual(Math.floor(pages / 2));
      expect(batch.pages).toBeGreaterThanOrEqual(1);
      expect(batch.pages).toBeLessThanOrEqual(0x1_0000);
    }
  });
});
