import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Sizing } from '#pickaxe/engine/gpu/child/sizing.js';

const options = { goalMs: 5, unit: 2048, most: 65_535 * 2048, first: 1 };

test('starts with one unit and settles where a batch takes the time wanted', () => {
  for (const perMs of [100, 40_000, 20_000_000, 2_000_000_000]) {
    const sizing = new Sizing(options);
    expect(sizing.size).toBe(2048);
    for (let i = 0; i < 100; i++) sizing.observe(sizing.size, sizing.size / perMs);
    const wanted = Math.min(options.most, Math.max(options.unit, perMs * 5));
    expect(Math.abs(sizing.size - wanted)).toBeLessThanOrEqual(options.unit);
  }
});

test('grows and shrinks by two at most, in whole units, within its bounds', () => {
  const measurements = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 2 ** 32 }), fc.double({ min: 0, max: 1e6, noNaN: true })),
  );
  fc.assert(
    fc.property(measurements, (batches) => {
      const sizing = new Sizing(options);
      for (const [counters, ms] of batches) {
        const before = sizing.size;
        sizing.observe(counters, ms);
        expect(sizing.size % options.unit).toBe(0);
        expect(sizing.size).toBeGreaterThanOrEqual(Math.max(options.unit, before / 2 - options.unit));
        expect(sizing.size).toBeLessThanOrEqual(Math.min(options.most, before * 2));
      }
    }),
  );
});

test('two batches whose end is seen late, and at once, change nothing', () => {
  const perMs = 100_000;
  const sizing = new Sizing(options);
  for (let i = 0; i < 100; i++) sizing.observe(sizing.size, sizing.size / perMs);
  const settled = sizing.size;
  sizing.observe(settled, 10);
  sizing.observe(settled, 0.05);
  for (let i = 0; i < 50; i++) {
    expect(sizing.size).toBeLessThan(1.25 * settled);
    sizing.observe(sizing.size, sizing.size / perMs);
  }
  expect(Math.abs(sizing.size - settled)).toBeLessThanOrEqual(options.unit);
});

test('tells how long a batch should take once it can know, and never longer than batches took', () => {
  const sizing = new Sizing(options);
  expect(sizing.expectedMs(2048)).toBe(0);
  sizing.observe(4096, 4);
  expect(sizing.expectedMs(2048)).toBe(2);
  expect(sizing.expectedMs(8192)).toBe(4);
});
