import { expect, test } from 'vitest';
import { BatchSize } from '#pickaxe/miner/engine/gpu/child/autotune.js';
import { DispatchForecast, untilPollMs } from '#pickaxe/miner/engine/gpu/child/shader-scanner.js';

const UNIT = 2048;
const IN_FLIGHT = 2;
/** Time by which the first batch takes longer than forecast. */
const WAKE_MS = 50;
/** From a millisecond of the timer to the next poll, with the time to see an end and submit again. */
const LATE_MS = 0.1;

/**
 * Simulates a GPU that searches `perMs` counters per millisecond and that the searcher keeps busy. Polls are timers,
 * which fire at the end of a millisecond.
 */
function mine(goalMs: number, perMs: (nowMs: number) => number, forMs: number) {
  const batch = new BatchSize({ goalMs, unit: UNIT, most: 2 ** 31, first: UNIT });
  const forecast = new DispatchForecast();
  const flights: { readonly counters: number; readonly beganMs: number; readonly endMs: number }[] = [];
  let [nowMs, gpuFreeMs, lastDoneMs] = [0, WAKE_MS, 0];
  const rows: { readonly doneMs: number; readonly counters: number; readonly looks: number }[] = [];
  let looks = 0;
  while (nowMs < forMs) {
    while (flights.length < IN_FLIGHT) {
      const counters = batch.size;
      gpuFreeMs = Math.max(nowMs, gpuFreeMs) + counters / perMs(nowMs);
      flights.push({ counters, beganMs: nowMs, endMs: gpuFreeMs });
      forecast.submitted(nowMs, batch.expectedMs(counters));
    }
    const { dueMs, lengthMs } = forecast.next!;
    nowMs = Math.floor(nowMs + Math.max(1, untilPollMs(dueMs - nowMs, lengthMs))) + LATE_MS; // Node rounds shorter ones up
    looks++;
    while (flights.length > 0 && flights[0].endMs <= nowMs) {
      const { counters, beganMs } = flights.shift()!;
      forecast.done(nowMs);
      batch.observe(counters, nowMs - Math.max(beganMs, lastDoneMs));
      lastDoneMs = nowMs;
      rows.push({ doneMs: nowMs, counters, looks });
      looks = 0;
    }
  }
  return (fromMs: number) => {
    const counted = rows.filter(({ doneMs }) => doneMs >= fromMs);
    const sum = (of: (row: (typeof rows)[number]) => number) => counted.reduce((total, row) => total + of(row), 0);
    return {
      perMs: sum(({ counters }) => counters) / (forMs - fromMs),
      counters: sum(({ counters }) => counters) / counted.length,
      looks: sum(({ looks }) => looks) / counted.length,
    };
  };
}

test.each([2, 4, 8, 16, 32])('batches of %i ms keep the GPU busy with hardly more than one look for each', (goalMs) => {
  for (const perMs of [57_000, 111_000, 2_345_678, 23_456_789]) {
    const mined = mine(goalMs, () => perMs, 5_000)(1_000);
    expect(mined.perMs).toBeGreaterThan(0.97 * perMs);
    expect(mined.counters / perMs).toBeGreaterThan(0.8 * goalMs);
    expect(mined.counters / perMs).toBeLessThan(1.2 * goalMs);
    expect(mined.looks).toBeLessThan(1.5);
  }
});

test('grows from the smallest batch to one of a second within little more than a second', () => {
  const perMs = 1_234_567;
  const { counters } = mine(1_000, () => perMs, 6_000)(4_000);
  expect(counters / perMs).toBeGreaterThan(800);
});

test.each([0.5, 2])('a GPU that suddenly runs %f times as fast is kept busy again within a second', (factor) => {
  for (const goalMs of [2, 4, 8, 16, 32]) {
    const perMs = 1_234_567;
    const mined = mine(goalMs, (nowMs) => (nowMs < 2_000 ? perMs : factor * perMs), 6_000)(3_000);
    expect(mined.perMs).toBeGreaterThan(0.97 * factor * perMs);
    expect(mined.looks).toBeLessThan(1.5);
  }
});

test('batches shorter than the time between two looks leave the GPU idle, so 2 ms is the minimum', () => {
  expect(mine(0.5, () => 1_234_567, 5_000)(1_000).perMs).toBeLessThan(0.5 * 1_234_567);
});

test('there is no forecast without a dispatch in flight, and an unknown length is due at once', () => {
  const forecast = new DispatchForecast();
  expect(forecast.next).toBeUndefined();
  forecast.submitted(100, 0);
  expect(forecast.next?.dueMs).toBe(100);
  forecast.done(103);
  expect(forecast.inFlight).toBe(0);
  expect(forecast.next).toBeUndefined();
});

test('each forecast starts where the previous dispatch should have ended', () => {
  const forecast = new DispatchForecast();
  forecast.submitted(0, 10);
  forecast.submitted(0, 10);
  expect(forecast.next).toEqual({ lengthMs: 10, dueMs: 9.95 });
  forecast.done(10.3); // by a poll in time, but timers are late
  expect(forecast.next?.dueMs).toBeCloseTo(9.95 + 9.95);
  forecast.done(25); // by a poll that came after others
  forecast.submitted(25, 10);
  expect(forecast.next?.dueMs).toBeCloseTo(25 + 9.95);
});
