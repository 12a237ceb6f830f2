/** The readings of the CPU's sensors come from its engine as long as it is open. */

import { expect, test, vi } from 'vitest';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { openCpuSensors } from '#pickaxe/miner/engine/cpu/cpu-sensors.js';
import type { Telemetry } from '#pickaxe/miner/engine/device.js';
import type { Sensors } from '#pickaxe/miner/engine/sensors.js';
import { telemetryContract } from '../../../interfaces/telemetry-contract.ts';
import { ourNiceness } from '../../../priority.ts';
import { PretendedMachine, RASPBERRY_PI } from './cpu-sensors/machines.ts';

const engineWith = (openSensors: (options: { readonly threads: number }) => Promise<Sensors>) =>
  new CpuEngine({ kernel: 'wasm', threads: 1, affinity: 'none', niceness: ourNiceness, openSensors });

const machine = new PretendedMachine({
  ...RASPBERRY_PI,
  'class/thermal/thermal_zone0/temp': 61_000,
  'class/thermal/thermal_zone1/type': 'cpu1-thermal',
  'class/thermal/thermal_zone1/temp': 255_000,
});
telemetryContract('the CPU', () =>
  engineWith(({ threads }) => openCpuSensors({ threads, platform: 'linux', sysfs: machine.sysfs })),
);

/** Sensors whose readings end at a command of the test. */
function slowSensors() {
  const answers: ((telemetry: Telemetry) => void)[] = [];
  return {
    answers,
    sensors: { what: 'slow sensors', read: () => new Promise<Telemetry>((r) => void answers.push(r)) },
  };
}

test('what the sensors tell is a part of the full reasons', async () => {
  const { sensors } = slowSensors();
  const engine = engineWith(async ({ threads }) => ({ ...sensors, what: `sensors for ${threads} thread` }));
  const { detail } = await engine.open();
  await engine.close();
  expect(detail).toMatch(/; sensors: sensors for 1 thread$/);
});

test('a reading that ends after the engine is closed is not told', async () => {
  const { answers, sensors } = slowSensors();
  const engine = engineWith(async () => sensors);
  const telemetry = vi.fn();
  await engine.open({ telemetry });
  await engine.close();
  for (const answer of answers) answer({ temperatureCelsius: 61 });
  await engine.close();
  expect(answers).toHaveLength(1);
  expect(telemetry).not.toHaveBeenCalled();
});

test('an engine that is closed while its sensors are found does not read them', async () => {
  const { answers, sensors } = slowSensors();
  let found = (_: Sensors) => {};
  let isSearching = () => {};
  const searching = new Promise<void>((resolve) => {
    isSearching = resolve;
  });
  const engine = engineWith(() => {
    isSearching();
    return new Promise<Sensors>((resolve) => {
      found = resolve;
    });
  });
  const refused = expect(engine.open()).rejects.toThrow('closed while it opened');
  await searching;
  await engine.close();
  found(sensors);
  await refused;
  expect(answers).toEqual([]);
});
