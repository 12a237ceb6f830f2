import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Telemetry } from '#pickaxe/miner/engine/device.js';
import { openOrNone, READ_MS, watchSensors } from '#pickaxe/miner/engine/sensors.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const WARM: Telemetry = { temperatureCelsius: 61 };

/** Sensors that answer on request. */
function slowSensors() {
  const answers: ((telemetry: Telemetry) => void)[] = [];
  const read = () => new Promise<Telemetry>((resolve) => void answers.push(resolve));
  return { answers, sensors: { what: 'slow sensors', read } };
}

test('sensors are read at once and then every two seconds, until the end', async () => {
  const notify = vi.fn();
  const end = watchSensors({ what: 'sensors', read: async () => WARM }, notify);
  await vi.advanceTimersByTimeAsync(10 * READ_MS);
  expect(notify.mock.calls).toEqual(Array(11).fill([WARM]));
  end();
  await vi.advanceTimersByTimeAsync(10 * READ_MS);
  expect(notify).toHaveBeenCalledTimes(11);
});

test('a reading that is empty is not told', async () => {
  const notify = vi.fn();
  watchSensors({ what: 'sensors', read: async () => ({}) }, notify);
  await vi.advanceTimersByTimeAsync(10 * READ_MS);
  expect(notify).not.toHaveBeenCalled();
});

test('readings do not pile up behind a driver that hangs', async () => {
  const { answers, sensors } = slowSensors();
  const notify = vi.fn();
  watchSensors(sensors, notify);
  await vi.advanceTimersByTimeAsync(30 * READ_MS);
  expect(answers).toHaveLength(1);
  answers[0](WARM);
  await vi.advanceTimersByTimeAsync(READ_MS);
  expect(answers).toHaveLength(2);
  expect(notify).toHaveBeenCalledTimes(1);
});

test('a reading that comes after the end is not told', async () => {
  const { answers, sensors } = slowSensors();
  const notify = vi.fn();
  watchSensors(sensors, notify)();
  answers[0](WARM);
  await vi.advanceTimersByTimeAsync(READ_MS);
  expect(notify).not.toHaveBeenCalled();
});

test('sensors behind a driver that hangs while they are opened count as none', async () => {
  const opening = openOrNone(() => new Promise<never>(() => {}));
  await vi.advanceTimersByTimeAsync(5_000);
  const sensors = await opening;
  expect(sensors.what).toBe('no readings: the driver did not answer within 5 s');
  expect(await sensors.read()).toEqual({});
  expect(vi.getTimerCount()).toBe(0);
});

test('an error while sensors are opened is the reason for their absence, and one of a reading makes it empty', async () => {
  const none = await openOrNone(() => Promise.reject(new Error('there is no driver')));
  expect(none.what).toBe('no readings: there is no driver');
  const faulty = await openOrNone(async () => ({ what: 'faulty', read: () => Promise.reject(new Error('it broke')) }));
  expect(faulty.what).toBe('faulty');
  expect(await faulty.read()).toEqual({});
  expect(vi.getTimerCount()).toBe(0);
});
