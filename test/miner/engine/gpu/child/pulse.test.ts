import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Telemetry } from '#pickaxe/miner/engine/device.js';
import { startPulse } from '#pickaxe/miner/engine/gpu/child/child.js';

const EVERY_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Sensors that answer on request. */
function slowSensors() {
  const answers: ((telemetry: Telemetry) => void)[] = [];
  const read = () => new Promise<Telemetry>((resolve) => void answers.push(resolve));
  return { answers, sensors: { what: 'slow sensors', read } };
}

test('the pulse goes on while a driver hangs, and its sensors are not read a second time meanwhile', async () => {
  const { answers, sensors } = slowSensors();
  const beats: (Telemetry | undefined)[] = [];
  startPulse(EVERY_MS, sensors, (telemetry) => beats.push(telemetry));
  await vi.advanceTimersByTimeAsync(60 * EVERY_MS);
  expect(beats).toHaveLength(60);
  expect(beats.filter(Boolean)).toEqual([]);
  expect(answers).toHaveLength(1);

  answers[0]({ temperatureCelsius: 61 });
  await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
  expect(beats.filter(Boolean)).toEqual([{ temperatureCelsius: 61 }]); // reported once
  expect(answers).toHaveLength(2);
});

test('the pulse has no telemetry when the sensors give no reading', async () => {
  const { answers, sensors } = slowSensors();
  const beats: (Telemetry | undefined)[] = [];
  startPulse(EVERY_MS, sensors, (telemetry) => beats.push(telemetry));
  await vi.advanceTimersByTimeAsync(EVERY_MS);
  answers[0]({});
  await vi.advanceTimersByTimeAsync(EVERY_MS);
  expect(beats).toEqual([undefined, undefined]);
});

test('sensors are read every two seconds, however fast the pulse is', async () => {
  const read = vi.fn(async () => ({ temperatureCelsius: 61 }));
  const beats: (Telemetry | undefined)[] = [];
  startPulse(100, { what: 'sensors', read }, (telemetry) => beats.push(telemetry));
  await vi.advanceTimersByTimeAsync(100_000);
  expect(read).toHaveBeenCalledTimes(50);
  expect(beats.filter(Boolean)).toHaveLength(50);
});
