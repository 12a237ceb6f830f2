import { expect, test } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { EnergyMeter } from '#pickaxe/miner/engine/sensors.js';

const SECOND = 1_000_000;

/** A meter whose counter and clocks a test sets. */
function meter(rangeMicrojoules?: number) {
  const machine = { ms: 5_000, asleepMs: 0, microjoules: (10 * SECOND) as number | undefined };
  const clock = {
    ...systemClock,
    nowUs: () => BigInt(1_000 * (machine.ms + machine.asleepMs)),
    monotonicMs: () => machine.ms,
  };
  const read = async () => {
    if (machine.microjoules === undefined) throw new Error('no such file');
    return `${machine.microjoules}\n`;
  };
  const readings = new EnergyMeter('a file', clock, { rangeMicrojoules, read });
  /** Lets time pass in which the counter rises. @returns the power */
  const after = (ms: number, risenMicrojoules: number, asleepMs = 0) => {
    machine.ms += ms;
    machine.asleepMs += asleepMs;
    if (machine.microjoules !== undefined) machine.microjoules += risenMicrojoules;
    return readings.readW();
  };
  return { machine, after };
}

test.each([
  ['in less than a tenth of a second', 99, 0, undefined],
  ['in a tenth of a second', 100, 0, 10],
  ['in half a minute', 30_000, 0, 10 / 300],
  ['in more than half a minute', 30_001, 0, undefined],
  ['in a second in which the wall clock was set by a second', 1_000, 1_000, 1],
  ['in a second, while the machine slept for more than one', 1_000, 1_001, undefined],
  ['in a second in which the wall clock was set back', 1_000, -1_001, undefined],
])('a joule that was used %s is %#', async (_, ms, asleepMs, watts) => {
  const { after } = meter();
  expect(await after(0, 0)).toBeUndefined();
  const measured = await after(ms, SECOND, asleepMs);
  if (watts === undefined) expect(measured).toBeUndefined();
  else expect(measured).toBeCloseTo(watts);
});

test('a reading that comes too early does not count, and the next one begins at the one before', async () => {
  const { after } = meter();
  await after(0, 0);
  expect(await after(50, 2 * SECOND)).toBeUndefined();
  expect(await after(950, 3 * SECOND)).toBeCloseTo(5);
});

test.each([
  ['stands still', 0, 1_000 * SECOND, undefined],
  ['wraps around', -9 * SECOND, 20 * SECOND, 11],
  ['is reset, and has no range', -9 * SECOND, undefined, undefined],
  ['falls by more than its range', -9 * SECOND, 5 * SECOND, undefined],
  ['rises by the least that it can', 1, undefined, 1e-6],
  ['falls by the least that it can, and has no range', -1, undefined, undefined],
])('a counter that %s', async (_, risen, range, watts) => {
  const { after } = meter(range);
  await after(0, 0);
  expect(await after(1_000, risen)).toBe(watts);
  // The next reading counts from there.
  expect(await after(1_000, 7 * SECOND)).toBe(7);
});

test('a counter that cannot be read once loses two readings', async () => {
  const { machine, after } = meter();
  await after(0, 0);
  machine.microjoules = undefined;
  expect(await after(1_000, 0)).toBeUndefined();
  machine.microjoules = 20 * SECOND;
  expect(await after(1_000, 0)).toBeUndefined();
  expect(await after(1_000, 2 * SECOND)).toBe(2);
});

test('the next reading counts as the first one, however soon after one that failed', async () => {
  const { machine, after } = meter();
  machine.microjoules = undefined;
  expect(await after(1_000, 0)).toBeUndefined();
  machine.microjoules = 20 * SECOND;
  expect(await after(50, 0)).toBeUndefined();
  expect(await after(1_000, 2 * SECOND)).toBe(2);
});
