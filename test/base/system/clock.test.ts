import { expect, it } from 'vitest';
import { systemClock, wallMs } from '#pickaxe/base/system/clock.js';

it('the wall clock gives each call within a millisecond its own microsecond, and no call one of the next', () => {
  const before = Date.now();
  const times = Array.from({ length: 5_000 }, () => systemClock.nowUs());
  const after = Date.now();
  expect(Number(times[0] / 1000n)).toBeGreaterThanOrEqual(before);
  expect(Number(times.at(-1)! / 1000n)).toBeLessThanOrEqual(after);
  expect(new Set(times).size).toBeGreaterThan(after - before + 1);
  expect(wallMs(systemClock)).toBeGreaterThanOrEqual(before);
});
