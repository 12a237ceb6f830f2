import { expect, test } from 'vitest';
import { untilPollMs } from '#pickaxe/miner/engine/gpu/child/shader-scanner.js';

test('a poll waits for the expected end and half a millisecond more, because timers fire early', () => {
  expect(untilPollMs(0.2, 5)).toBe(0.7);
  expect(untilPollMs(100, 5)).toBe(100.5);
});

test.each([
  [0, 1],
  [8, 1],
  [16, 2],
  [32, 4],
  [1_000, 4],
])('an overdue dispatch of %i ms is polled every %i ms', (lengthMs, everyMs) => {
  for (const quietMs of [0, -5]) expect(untilPollMs(quietMs, lengthMs)).toBe(everyMs);
});
