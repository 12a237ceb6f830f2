import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BatchSize } from '#pickaxe/miner/engine/gpu/child/autotune.js';

const options = { goalMs: 5, unit: 2048, most: 65_535 * 2048, first: 1 };

test('starts with one unit and settles at the wanted time', () => {
  for (const perMs of [100, 40_000, 20_000_000, 2_000_000_000]) {
    const batch = new BatchSize(options);
    expect(batch.size).toBe(2048);
    for (let i = 0; i < 100; i++) batch.observe(batch.size, batch.size / perMs);
    const wanted = Math.min(options.most, Math.max(options.unit, perMs * 5));
    expect(Math.abs(batch.size - wanted)).toBeLessThanOrEqual(options.unit);
  }
});

test('changes by a factor of two at most, in whole units, within its bounds', () => {
  const measurements = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 2 ** 32 }), fc.double({ min: 0, max: 1e6, noNaN: true })),
  );
  fc.assert(
    fc.property(measurements, (batches) => {
      const batch = new BatchSize(options);
      for (const [counters, ms] of batches) {
        const before = batch.size;
        batch.observe(counters, ms);
        expect(batch.size % options.unit).toBe(0);
        expect(batch.size).toBeGreaterThanOrEqual(Math.max(options.unit, before / 2 - options.unit));
        expect(batch.size).toBeLessThanOrEqual(Math.min(options.most, before * 2));
      }
    }),
  );
});

test('a batch whose end is noticed late, and one noticed at once, balance each other', () => {
  const perMs = 100_000;
  const batch = new BatchSize(options);
  for (let i = 0; i < 100; i++) batch.observe(batch.size, batch.size / perMs);
  const settled = batch.size;
  batch.observe(settled, 10);
  batch.observe(settled, 0.05);
  for (let i = 0; i < 50; i++) {
    expect(batch.size).toBeLessThan(1.25 * settled);
    batch.observe(batch.size, batch.size / perMs);
  }
  expect(Math.abs(batch.size - settled)).toBeLessThanOrEqual(options.unit);
});

test('forecasts a batch’s time after the first measurement, and never more than batches took', () => {
  const batch = new BatchSize(options);
  expect(batch.expectedMs(2048)).toBe(0);
  batch.observe(4096, 4);
  expect(batch.expectedMs(2048)).toBe(2);
  expect(batch.expectedMs(8192)).toBe(4);
});
