/** Tests the power of pretended machines. */

import { describe, expect, test } from 'vitest';
import {
  AMD_RANGE,
  INTEL_DESKTOP,
  INTEL_RANGE,
  PretendedMachine,
  RASPBERRY_PI,
  RYZEN,
  rapl,
  THREADRIPPER,
  TWO_XEONS,
  within,
  ZENPOWER,
} from './machines.ts';

const ENERGY = 'class/powercap/intel-rapl:0/energy_uj';
const PACKAGES = /intel-rapl:\d+\/energy_uj$/;

describe('RAPL', () => {
  test('only the package counts: not its parts, not the whole machine, and not the package once more', async () => {
    const machine = new PretendedMachine(INTEL_DESKTOP);
    const { powerWatts } = await machine.readAfter(2, {
      [ENERGY]: 100_250_000_000,
      'class/powercap/intel-rapl:0:0/energy_uj': 70_200_000_000,
      'class/powercap/intel-rapl:0:2/energy_uj': 9_020_000_000,
      'class/powercap/intel-rapl:1/energy_uj': 250_400_000_000,
      'class/powercap/intel-rapl-mmio:0/energy_uj': 100_250_000_000,
    });
    expect(powerWatts).toBe(125);
    const counters = machine.paths.filter((path) => path.endsWith('energy_uj'));
    expect(new Set(counters.map((path) => path.slice(machine.sysfs.length + 1)))).toEqual(new Set([ENERGY]));
  });

  test('the packages of two sockets are added', async () => {
    const machine = new PretendedMachine(TWO_XEONS);
    const { powerWatts } = await machine.readAfter(4, {
      [ENERGY]: 1_000_000 + 800_000_000,
      'class/powercap/intel-rapl:1/energy_uj': 200_000_000_000 + 720_000_000,
    });
    expect(powerWatts).toBe(380);
  });

  test('the dies of a package are added', async () => {
    const machine = new PretendedMachine({ ...rapl('0', 'package-0-die-0', 0), ...rapl('1', 'package-0-die-1', 0) });
    const after = { ...rapl('0', 'package-0-die-0', 100_000_000), ...rapl('1', 'package-0-die-1', 60_000_000) };
    expect((await machine.readAfter(1, after)).powerWatts).toBe(160);
  });

  test('a package that two drivers show counts once', async () => {
    const machine = new PretendedMachine({ ...rapl('0', 'package-0', 0), ...rapl('1', 'package-0', 0) });
    const after = { ...rapl('0', 'package-0', 100_000_000), ...rapl('1', 'package-0', 100_000_000) };
    expect((await machine.readAfter(1, after)).powerWatts).toBe(100);
  });

  test('half of the power is not reported as all of it', async () => {
    const machine = new PretendedMachine(TWO_XEONS);
    const { powerWatts } = await machine.readAfter(4, { [ENERGY]: 801_000_000 });
    expect(powerWatts).toBeUndefined(); // the other counter does not change
  });

  test.each([
    ['Intel', INTEL_RANGE],
    ['AMD', AMD_RANGE],
  ])('a counter that wraps around: %s', async (_, range) => {
    const machine = new PretendedMachine(rapl('0', 'package-0', range - 50_000_000, range));
    expect((await machine.readAfter(2, { [ENERGY]: 150_000_000 })).powerWatts).toBe(100);
  });

  test('a counter that becomes smaller and says no range was reset', async () => {
    const machine = new PretendedMachine({ 'class/powercap/intel-rapl:0/name': 'package-0', [ENERGY]: 9_000_000_000 });
    expect((await machine.readAfter(2, { [ENERGY]: 150_000_000 })).powerWatts).toBeUndefined();
  });

  test('a counter that stands still gives no power, and no 0', async () => {
    const machine = new PretendedMachine(RYZEN);
    expect(await machine.readAfter(2, {})).toEqual({ temperatureCelsius: 94.875 });
  });

  test('a machine that slept gives no power once: its counter may begin again', async () => {
    const machine = new PretendedMachine(rapl('0', 'package-0', INTEL_RANGE - 1_000_000));
    const sensors = await machine.open();
    await sensors.read();
    machine.ms += 2_000;
    machine.asleepMs += 3_600_000;
    machine.write({ [ENERGY]: 20_000_000 });
    expect(await sensors.read()).toEqual({});
    machine.ms += 2_000;
    machine.write({ [ENERGY]: 220_000_000 });
    expect(await sensors.read()).toEqual({ powerWatts: 100 });
  });

  test('a process that stood still for minutes gives no power once: the counter may have wrapped around several times', async () => {
    const machine = new PretendedMachine(RYZEN);
    expect((await machine.readAfter(400, { [ENERGY]: 41_000_000_000 })).powerWatts).toBeUndefined();
  });

  test.each(['garbage', '', '-5', '1e9', '0x10', '9'.repeat(30), '65532610000'])('%j gives no power', async (text) => {
    const machine = new PretendedMachine(RYZEN);
    expect((await machine.readAfter(2, { [ENERGY]: text })).powerWatts).toBeUndefined();
  });

  test('a counter that vanishes gives no power, and goes on when it is back', async () => {
    const machine = new PretendedMachine(RYZEN);
    const sensors = await machine.open();
    const energies: [number, number | undefined, number | undefined][] = [
      [2, 40_100_000_000, undefined],
      [2, undefined, undefined],
      [2, 41_000_000_000, undefined],
      [2, 41_120_000_000, 60],
    ];
    for (const [seconds, energy, watts] of energies) {
      machine.ms += 1000 * seconds;
      if (energy === undefined) machine.remove('class/powercap');
      else machine.write(rapl('0', 'package-0', energy, AMD_RANGE));
      expect((await sensors.read()).powerWatts).toBe(watts);
    }
  });
});

describe('a counter that only root may read', () => {
  test('has no power, and the reason says which file it is', async () => {
    const machine = new PretendedMachine(RYZEN);
    machine.refused = PACKAGES;
    const sensors = await machine.open();
    const file = `${machine.sysfs}/${ENERGY}`;
    expect(sensors.refused).toBe(file);
    expect(sensors.what).toBe(
      `temperature from k10temp; the power is not known, because only root may read ${file} ` +
        '(docs/devices.md, “Allow pickaxe to read the power”)',
    );
    expect(await sensors.read()).toEqual({ temperatureCelsius: 94.875 });
  });

  test('is named also when there is nothing else', async () => {
    const machine = new PretendedMachine(rapl('0', 'package-0', 1));
    machine.refused = PACKAGES;
    const { what } = await machine.open();
    expect(what).toMatch(/^no readings; the power is not known, because only root may read \S+energy_uj /);
  });

  test('is named when only one of two sockets is closed', async () => {
    const machine = new PretendedMachine(TWO_XEONS);
    machine.refused = /intel-rapl:1\/energy_uj$/;
    expect((await machine.open()).refused).toMatch(/intel-rapl:1\/energy_uj$/);
  });

  test('does not matter where zenpower tells the power', async () => {
    const machine = new PretendedMachine({ ...ZENPOWER, ...rapl('0', 'package-0', 1) });
    machine.refused = PACKAGES;
    const sensors = await machine.open();
    expect(sensors).toMatchObject({ what: 'temperature from zenpower, power from zenpower' });
    expect(sensors.refused).toBeUndefined();
    expect((await sensors.read()).powerWatts).toBe(95.75);
  });
});

describe('zenpower', () => {
  const power = async (files: typeof ZENPOWER) => (await (await new PretendedMachine(files).open()).read()).powerWatts;

  test('the two rails of a chip are added', async () => {
    expect(await power(ZENPOWER)).toBe(95.75);
  });

  test('a later version tells the power of the package, of which the cores are a part', async () => {
    const parts = { power1_input: 70_000_000, power1_label: 'RAPL_P_Package', power2_input: 50_000_000 };
    const chip = (cpu: string) => ({ name: 'zenpower', ...parts, power1_label: `${cpu}RAPL_P_Package` });
    expect(await power(within('class/hwmon/hwmon0', { ...chip(''), power2_label: 'RAPL_P_Core' }))).toBe(70);
    const two = { ...within('class/hwmon/hwmon0', chip('cpu0 ')), ...within('class/hwmon/hwmon1', chip('cpu1 ')) };
    expect(await power(two)).toBe(140);
  });

  test('one rail alone is not the power of the chip', async () => {
    expect(await power({ ...ZENPOWER, 'class/hwmon/hwmon3/power2_label': 'something' })).toBeUndefined();
    expect(await power({ ...ZENPOWER, 'class/hwmon/hwmon3/power2_input': 0 })).toBeUndefined();
    expect(await power({ ...ZENPOWER, 'class/hwmon/hwmon3/power2_input': 'garbage' })).toBeUndefined();
  });

  test('RAPL comes first, because it counts everything between two readings', async () => {
    const machine = new PretendedMachine({ ...ZENPOWER, ...rapl('0', 'package-0', 0) });
    expect((await machine.readAfter(1, rapl('0', 'package-0', 99_000_000))).powerWatts).toBe(99);
  });
});

describe('amd_energy', () => {
  const counters = (first: number, second: number) =>
    within('class/hwmon/hwmon6', {
      name: 'amd_energy',
      energy1_input: 5_000_000,
      energy1_label: 'Ecore000',
      energy65_input: first,
      energy65_label: 'Esocket0',
      energy66_input: second,
      energy66_label: 'Esocket1',
    });

  test('the sockets are added, and not their cores', async () => {
    const machine = new PretendedMachine(counters(0, 0));
    expect((await machine.readAfter(2, counters(300_000_000, 260_000_000))).powerWatts).toBe(280);
  });

  test('it may be closed to all but root', async () => {
    const machine = new PretendedMachine(counters(0, 0));
    machine.refused = /energy\d+_input$/;
    expect((await machine.open()).refused).toMatch(/energy65_input$/);
  });
});

test.each([
  ['a Raspberry Pi', RASPBERRY_PI],
  ['a Threadripper without RAPL', THREADRIPPER],
])('%s tells no power, and nothing is estimated', async (_, files) => {
  const machine = new PretendedMachine(files);
  const sensors = await machine.open();
  expect(sensors.what).toMatch(/^temperature from [\w-]+$/);
  machine.ms += 2_000;
  expect(Object.keys(await sensors.read())).toEqual(['temperatureCelsius']);
});
