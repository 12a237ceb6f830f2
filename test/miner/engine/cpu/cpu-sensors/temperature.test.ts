/** Tests the temperature of pretended machines. */

import { expect, test } from 'vitest';
import {
  type Files,
  INTEL_DESKTOP,
  PretendedMachine,
  RASPBERRY_PI,
  ROCKCHIP,
  RYZEN,
  THREADRIPPER,
  TWO_XEONS,
  within,
  ZENPOWER,
} from './machines.ts';

async function celsius(files: Files): Promise<number | undefined> {
  const sensors = await new PretendedMachine(files).open();
  return (await sensors.read()).temperatureCelsius;
}

test.each([
  ['an Intel desktop: the package, not the zone of the board or the disk', INTEL_DESKTOP, 81],
  ['two sockets: the hotter one', TWO_XEONS, 71],
  ['a Ryzen: Tctl, which is the chip’s, and not that of a part', RYZEN, 94.875],
  ['a Threadripper: Tdie of the hotter die, not Tctl, which is 27 °C too high', THREADRIPPER, 70.125],
  ['zenpower: Tdie', ZENPOWER, 72.25],
  ['a Raspberry Pi: the zone of the CPU', RASPBERRY_PI, 61.4],
  ['a chip whose cores have zones of their own: the hottest core', ROCKCHIP, 69.5],
  [
    'an Intel chip that tells only its cores: the hottest',
    within('class/hwmon/hwmon0', {
      name: 'coretemp',
      temp2_input: 55_000,
      temp2_label: 'Core 0',
      temp3_input: 58_000,
      temp3_label: 'Core 1',
    }),
    58,
  ],
  [
    'an Intel chip without coretemp: its zone',
    within('class/thermal/thermal_zone7', { type: 'x86_pkg_temp', temp: 49_000 }),
    49,
  ],
  [
    'a chip of AMD older than Zen: the only sensor, which has no name',
    within('class/hwmon/hwmon0', { name: 'k10temp', temp1_input: 51_500 }),
    51.5,
  ],
  [
    'a kernel that shows only the temperatures of parts: the hottest',
    within('class/hwmon/hwmon0', {
      name: 'k10temp',
      temp3_input: 60_000,
      temp3_label: 'Tccd1',
      temp4_input: 64_000,
      temp4_label: 'Tccd2',
    }),
    64,
  ],
  [
    'two sockets with zenpower',
    {
      ...within('class/hwmon/hwmon0', { name: 'zenpower', temp1_input: 60_000, temp1_label: 'cpu0 Tdie' }),
      ...within('class/hwmon/hwmon1', { name: 'zenpower', temp1_input: 65_000, temp1_label: 'cpu1 Tdie' }),
    },
    65,
  ],
  [
    'a board that shows its zone only as hwmon',
    within('class/hwmon/hwmon0', { name: 'cpu_thermal', temp1_input: 47_000 }),
    47,
  ],
  [
    'zones and sensors that may be anything’s',
    {
      ...within('class/hwmon/hwmon0', { name: 'nct6798', temp1_input: 40_000, temp1_label: 'CPUTIN' }),
      ...within('class/thermal/thermal_zone0', { type: 'acpitz', temp: 27_800 }),
      ...within('class/thermal/thermal_zone1', { type: 'soc-thermal', temp: 50_000 }),
    },
    undefined,
  ],
  [
    'a chip whose labels mean nothing known: the zone of the CPU',
    {
      ...within('class/hwmon/hwmon0', { name: 'k10temp', temp1_input: 51_500, temp1_label: 'Tsomething' }),
      ...within('class/thermal/thermal_zone0', { type: 'cpu-thermal', temp: 47_000 }),
    },
    47,
  ],
  ['a virtual machine: nothing', { 'class/thermal/cooling_device0/type': 'Processor' }, undefined],
] as const)('%s', async (_, files, expected) => {
  expect(await celsius(files)).toBe(expected);
});

test.each(['garbage', '', '-40000', '0', '255000', '1e5', '9'.repeat(30), '\0\0'])(
  '%j is no temperature',
  async (text) => {
    expect(await celsius({ ...RASPBERRY_PI, 'class/thermal/thermal_zone0/temp': text })).toBeUndefined();
  },
);

test('a wrong reading of one socket does not hide the other', async () => {
  expect(await celsius({ ...TWO_XEONS, 'class/hwmon/hwmon5/temp1_input': 255_000 })).toBe(63);
});

test('a driver that is unloaded gives no reading, and one that is loaded again is found under its new number', async () => {
  const machine = new PretendedMachine(RYZEN);
  const sensors = await machine.open();
  machine.remove('class/hwmon/hwmon2');
  expect(await sensors.read()).toEqual({});
  expect(await sensors.read()).toEqual({});
  machine.write(within('class/hwmon/hwmon9', { name: 'k10temp', temp1_input: 50_000, temp1_label: 'Tctl' }));
  await sensors.read();
  expect((await sensors.read()).temperatureCelsius).toBe(50);
});
