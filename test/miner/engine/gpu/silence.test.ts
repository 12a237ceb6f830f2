import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pulseWithin, watchSilence } from '#pickaxe/miner/engine/gpu/gpu-process.js';

const SILENCE_MS = 20_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watch() {
  const received = { messages: 7 };
  const expired = vi.fn();
  const timer = watchSilence(() => received.messages, SILENCE_MS, expired);
  return { received, expired, timer };
}

test('silence is noticed after the given time without a message, and not before', () => {
  const { expired } = watch();
  vi.advanceTimersByTime(SILENCE_MS - 1);
  expect(expired).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(expired).toHaveBeenCalledTimes(1);
});

test('a single look without new messages does not count as silence, because this process may have been suspended', () => {
  const { received, expired } = watch();
  for (let look = 0; look < 10; look++) {
    vi.advanceTimersByTime(SILENCE_MS / 2);
    if (look % 2 === 0) received.messages++;
  }
  expect(expired).not.toHaveBeenCalled();
});

test('a message starts the time again', () => {
  const { received, expired } = watch();
  vi.advanceTimersByTime(SILENCE_MS / 2);
  received.messages++;
  vi.advanceTimersByTime(SILENCE_MS);
  expect(expired).not.toHaveBeenCalled();
  vi.advanceTimersByTime(SILENCE_MS / 2);
  expect(expired).toHaveBeenCalledTimes(1);
});

test('the watch ends when the timer is cleared', () => {
  const { expired, timer } = watch();
  clearInterval(timer);
  vi.advanceTimersByTime(10 * SILENCE_MS);
  expect(expired).not.toHaveBeenCalled();
});

test('there are at least two signs of life between looks, and at least one per second', () => {
  for (const silenceMs of [400, 1_000, 4_000, 4_001, SILENCE_MS]) {
    expect(2 * pulseWithin(silenceMs)).toBeLessThanOrEqual(silenceMs / 2);
  }
  expect(pulseWithin(SILENCE_MS)).toBe(1_000);
});
