import { expect, test } from 'vitest';
import { Meter } from '#pickaxe/rig/status/counters.js';

/** Reports every 100 ms, at a rate that may change. */
function run(meter: Meter, fromMs: number, toMs: number, perSecond: number) {
  for (let nowMs = fromMs + 100; nowMs <= toMs; nowMs += 100) meter.add(perSecond / 10, nowMs);
}

test('windows are null until they are filled', () => {
  const meter = new Meter(0);
  run(meter, 0, 9_900, 1_000);
  expect(meter.windows(9_900)).toEqual({ last10s: null, last60s: null, last15m: null });
  run(meter, 9_900, 60_000, 1_000);
  const windows = meter.windows(60_000);
  expect(windows.last10s).toBeCloseTo(1_000, -2);
  expect(windows.last60s).toBeCloseTo(1_000, -2);
  expect(windows.last15m).toBeNull();
  run(meter, 60_000, 900_000, 1_000);
  expect(meter.windows(900_000).last15m).toBeCloseTo(1_000, -1);
});

test('each window forgets what came before it', () => {
  const meter = new Meter(0);
  run(meter, 0, 900_000, 1_000);
  run(meter, 900_000, 960_000, 2_000);
  const windows = meter.windows(960_000);
  expect(windows.last10s).toBeCloseTo(2_000, -2);
  expect(windows.last60s).toBeCloseTo(2_000, -2);
  expect(windows.last15m).toBeCloseTo(1_066, -1);
});

test('the highest rate is kept, and a single odd report does not raise it', () => {
  const meter = new Meter(0);
  run(meter, 0, 30_000, 1_000);
  run(meter, 30_000, 50_000, 3_000);
  run(meter, 50_000, 100_000, 500);
  expect(meter.highest).toBeCloseTo(3_000, -2);
  expect(meter.total).toBe(30_000 + 60_000 + 25_000);
});

test('before the first ten seconds there is no highest rate', () => {
  const meter = new Meter(0);
  run(meter, 0, 9_000, 1_000);
  expect(meter.highest).toBeNull();
});

test('the first hashes are noted, and a report without any is not one', () => {
  const meter = new Meter(0);
  const first = [0, 1, 5].map((hashes, at) => {
    meter.add(hashes, 100 * at);
    return meter.firstMs;
  });
  expect(first).toEqual([null, 100, 100]);
});

test('the rate of a device that stops falls to 0', () => {
  const meter = new Meter(0);
  run(meter, 0, 20_000, 1_000);
  expect(meter.windows(90_000)).toMatchObject({ last10s: 0, last60s: 0 });
  expect(meter.rate(90_000, 30_000)).toBe(0);
});

test('the longest window works for hours', () => {
  const meter = new Meter(0);
  run(meter, 0, 4 * 3_600_000, 1_000);
  const windows = meter.windows(4 * 3_600_000);
  // The step in which the rate is asked for has all of its hashes already, but only a fifth of its time.
  expect(windows.last15m).toBeCloseTo(900_100 / 900, 6);
});
