import { expect, test } from 'vitest';
import { openCpuSensors } from '#pickaxe/miner/engine/cpu/cpu-sensors.js';
import { INTEL_DESKTOP, PretendedMachine, rapl, within } from './machines.ts';

test('all readings of a machine come together, and where they come from is said', async () => {
  const machine = new PretendedMachine(INTEL_DESKTOP);
  const sensors = await machine.open();
  expect(sensors.what).toBe('temperature from coretemp, power from RAPL, clock from cpufreq');
  expect('refused' in sensors).toBe(false);
  expect(await sensors.read()).toEqual({ temperatureCelsius: 81, coreHertz: 5e9 });
  machine.ms += 2_000;
  machine.write({ 'class/powercap/intel-rapl:0/energy_uj': 100_300_000_000 });
  expect(await sensors.read()).toEqual({ temperatureCelsius: 81, powerWatts: 150, coreHertz: 5e9 });
});

test('a machine that shows nothing has no readings, and the reason', async () => {
  const sensors = await new PretendedMachine({ 'class/thermal/cooling_device0/type': 'Processor' }).open();
  expect(sensors.what).toBe(
    'no readings: Linux shows no temperature, power or clock of the CPU, as in most virtual machines',
  );
  expect(await sensors.read()).toEqual({});
});

test('a device that cools the CPU is no sensor', async () => {
  const sensors = await new PretendedMachine({ 'class/thermal/cooling_device0/type': 'cpufreq-cpu0' }).open();
  expect(sensors.what).toMatch(/^no readings: /);
});

test('a chip whose sensors have unknown names has no temperature, and keeps its other readings', async () => {
  const chip = within('class/hwmon/hwmon0', { name: 'k10temp', temp1_input: 50_000, temp1_label: 'Tsomething' });
  const sensors = await new PretendedMachine({ ...chip, ...rapl('0', 'package-0', 1) }).open();
  expect(sensors.what).toBe('power from RAPL');
});

test('a machine without a thermometer is not asked for one at each reading', async () => {
  const disk = within('class/hwmon/hwmon0', { name: 'nvme', temp1_input: 40_000 });
  const machine = new PretendedMachine({ ...disk, ...rapl('0', 'package-0', 1) });
  const sensors = await machine.open();
  machine.paths.length = 0;
  await sensors.read();
  expect(machine.paths.map((path) => path.slice(machine.sysfs.length + 1))).toEqual([
    'class/powercap/intel-rapl:0/energy_uj',
  ]);
});

test.each(['darwin', 'win32'])('%s offers none', async (platform) => {
  const sensors = await openCpuSensors({ threads: 1, platform });
  expect(sensors.what).toBe('no readings: a CPU’s sensors can be read on Linux only');
  expect(await sensors.read()).toEqual({});
});

test('this machine’s sensors can be opened and read, whatever they are', async () => {
  const sensors = await openCpuSensors({ threads: 1 });
  expect(sensors.what).toMatch(/\S/);
  expect(await sensors.read()).toEqual(expect.any(Object));
});

test('a reading needs few files: one of each package, and a few of clocks', async () => {
  const cpus = Array.from({ length: 256 }, (_, i) => [
    `devices/system/cpu/cpu${i}/cpufreq/scaling_cur_freq`,
    3_000_000,
  ]);
  const machine = new PretendedMachine({ ...INTEL_DESKTOP, ...Object.fromEntries(cpus) });
  const sensors = await machine.open(255);
  machine.paths.length = 0;
  await sensors.read();
  expect(machine.paths.length).toBeLessThan(40);
});
