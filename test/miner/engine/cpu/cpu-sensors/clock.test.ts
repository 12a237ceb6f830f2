import { expect, test } from 'vitest';
import { openCpuSensors } from '#pickaxe/miner/engine/cpu/cpu-sensors.js';
import { PretendedMachine } from './machines.ts';

/** @returns the path of the sysfs of a machine whose CPUs report these clocks */
function machine(clocks: readonly (string | number | undefined)[]): string {
  const files = clocks.flatMap((text, i) =>
    text === undefined ? [] : [[`devices/system/cpu/cpu${i}/cpufreq/scaling_cur_freq`, text]],
  );
  const beside = { 'devices/system/cpu/cpufreq/boost': 1, 'devices/system/cpu/cpu0/online': 1 };
  return new PretendedMachine({ ...beside, ...Object.fromEntries(files) }).sysfs;
}

const hertz = async (threads: number, sysfs: string) =>
  (await (await openCpuSensors({ threads, sysfs, platform: 'linux' })).read()).coreHertz;

test.each([
  [1, 4e9],
  [2, 3.95e9],
  [4, 2.475e9],
  [64, 2.475e9],
])('with %i threads, the clock is the mean of as many CPUs, the fastest ones', async (threads, expected) => {
  expect(await hertz(threads, machine([1_200_000, 4_000_000, 3_900_000, 800_000]))).toBe(expected);
});

test('a CPU that does not report its clock does not count', async () => {
  expect(await hertz(4, machine([2_000_000, undefined, '<unknown>', '', 0, -5]))).toBe(2e9);
});

test('the clock is not known where no CPU reports it', async () => {
  expect(await hertz(2, machine([undefined, undefined]))).toBeUndefined();
  expect(await hertz(2, machine(['0', '<unknown>']))).toBeUndefined();
  expect(await hertz(2, '/nowhere')).toBeUndefined();
});

test('of many CPUs some are asked, as many of each kind as there are', async () => {
  // Half of the CPUs hash, and so does half of those whose clocks are read: CPUs 0, 4, 8 …
  const clocks = Array.from({ length: 128 }, (_, i) => (i % 8 < 4 ? 3_000_000 : 1_000_000));
  expect(await hertz(64, machine(clocks))).toBe(3e9);
  expect(await hertz(128, machine(clocks))).toBe(2e9);
});

test('of 64 CPUs every second one is asked, and nothing else in their folder', async () => {
  const clocks = Array.from({ length: 64 }, (_, i) => [`devices/system/cpu/cpu${i}/cpufreq/scaling_cur_freq`, 1_000]);
  const folders = { 'devices/system/cpu/cpufreq/x': 1, 'devices/system/cpu/cpuidle/x': 1 };
  const machine = new PretendedMachine({ ...folders, ...Object.fromEntries(clocks) });
  const sensors = await machine.open(64);
  machine.paths.length = 0;
  await sensors.read();
  const asked = machine.paths.map((path) => Number(/cpu(\d+)\/cpufreq/.exec(path)?.[1]));
  expect(asked).toEqual(Array.from({ length: 32 }, (_, i) => 2 * i));
});
