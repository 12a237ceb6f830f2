import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock, watchSuspension } from '#pickaxe/base/system/clock.js';

/** Fake timers, and two clocks that can be moved independently. */
const world = { wallMs: 1_700_000_000_000, monotonicMs: 5_000 };
const clock = { ...systemClock, nowUs: () => BigInt(world.wallMs) * 1000n, monotonicMs: () => world.monotonicMs };
let resumed: number[];
let end: () => void;

function pass(ms: number): void {
  for (let passed = 0; passed < ms; passed += 100) {
    world.wallMs += 100;
    world.monotonicMs += 100;
    vi.advanceTimersByTime(100);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  resumed = [];
  end = watchSuspension(clock, (ms) => resumed.push(ms));
});
afterEach(() => {
  end();
  vi.useRealTimers();
});

it('reports nothing while time passes, even when a timer is two seconds late', () => {
  pass(60_000);
  world.wallMs += 2_000;
  world.monotonicMs += 2_000;
  pass(60_000);
  expect(resumed).toEqual([]);
});

it('notices a process that was stopped: both clocks have gone on without it', () => {
  pass(1_000);
  world.wallMs += 60_000;
  world.monotonicMs += 60_000;
  pass(1_000);
  expect(resumed).toEqual([60_000]);
});

it('notices a machine that slept: its monotonic clock stood still', () => {
  pass(1_000);
  world.wallMs += 3_600_000;
  pass(1_000);
  expect(resumed).toEqual([3_600_000]);
});

it('notices a process that was stopped while the wall clock was set back', () => {
  pass(1_000);
  world.wallMs -= 3_600_000;
  world.monotonicMs += 60_000;
  pass(1_000);
  expect(resumed).toEqual([60_000]);
});

it('notices a suspension of a few seconds', () => {
  pass(1_000);
  world.wallMs += 3_000;
  world.monotonicMs += 3_000;
  pass(1_000);
  expect(resumed).toEqual([3_000]);
});

it('reports nothing when the wall clock is set back', () => {
  pass(1_000);
  world.wallMs -= 3_600_000;
  pass(5_000);
  expect(resumed).toEqual([]);
});

it('can be ended', () => {
  end();
  world.wallMs += 60_000;
  pass(5_000);
  expect(resumed).toEqual([]);
});
