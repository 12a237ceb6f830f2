import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pulseWithin, watchSilence } from '#pickaxe/miner/engine/gpu/gpu-process.js';

const SILENCE_MS = 20_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watch() {
  const heard = { messages: 7 };
  const silent = vi.fn();
  const timer = watchSilence(() => heard.messages, SILENCE_MS, silent);
  return { heard, silent, timer };
}

test('silence is noticed after the given time without a message, and not before', () => {
  const { silent } = watch();
  vi.advanceTimersByTime(SILENCE_MS - 1);
  expect(silent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(silent).toHaveBeenCalledTimes(1);
});

test('a single look without new messages does not count as silence, because this process may have been suspended', () => {
  const { heard, silent } = watch();
  for (let look = 0; look < 10; look++) {
    vi.advanceTimersByTime(SILENCE_MS / 2);
    if (look % 2 === 0) heard.messages++;
  }
  expect(silent).not.toHaveBeenCalled();
});

test('a message starts the time again', () => {
  const { heard, silent } = watch();
  vi.advanceTimersByTime(SILENCE_MS / 2);
  heard.messages++;
  vi.advanceTimersByTime(SILENCE_MS);
  expect(silent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(SILENCE_MS / 2);
  expect(silent).toHaveBeenCalledTimes(1);
});

test('the watch ends when the timer is cleared', () => {
  const { silent, timer } = watch();
  clearInterval(timer);
  vi.advanceTimersByTime(10 * SILENCE_MS);
  expect(silent).not.toHaveBeenCalled();
});

test('there are at least two signs of life between looks, and at least one per second', () => {
  for (const silenceMs of [400, 1_000, 4_000, 4_001, SILENCE_MS]) {
    expect(2 * pulseWithin(silenceMs)).toBeLessThanOrEqual(silenceMs / 2);
  }
  expect(pulseWithin(SILENCE_MS)).toBe(1_000);
});
