import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setLongTimeout } from '#pickaxe/base/system/abort.js';
import { systemClock } from '#pickaxe/base/system/clock.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  // A spy on the fake timer would put that back after the file's end.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const DAY_MS = 86_400_000;

test.each([1, 1_000, 30 * DAY_MS, 365 * DAY_MS])('a timeout of %i ms uses no timer longer than timers can be', (ms) => {
  const set = vi.spyOn(globalThis, 'setTimeout');
  const act = vi.fn();
  setLongTimeout(systemClock, act, ms);
  vi.advanceTimersByTime(ms - 1);
  expect(act).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(act).toHaveBeenCalledOnce();
  for (const [, wait] of set.mock.calls) expect(wait).toBeLessThan(2 ** 31);
});

test('a timeout can be cancelled, even after its first timer', () => {
  const act = vi.fn();
  const cancel = setLongTimeout(systemClock, act, 60 * DAY_MS);
  vi.advanceTimersByTime(40 * DAY_MS);
  cancel();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60 * DAY_MS);
  expect(act).not.toHaveBeenCalled();
});
