/** Opens the CPU's sensors, as far as Linux shows them to this process. */

import { type Clock, systemClock } from '../../../system/clock.ts';
import { plausible } from '../../sensors/plausible.ts';
import type { ReadSysfs } from '../../sensors/read-line.ts';
import { openOrNone, type Sensors } from '../../sensors/sensors.ts';
import { findClock } from './clock.ts';
import { type FoundPower, findPower } from './power.ts';
import { findThermometer } from './temperature.ts';

export interface CpuSensors extends Sensors {
  /** A file that would tell the power if the system let this process read it; absent where there is none. */
  readonly refused?: string;
}

export interface CpuSensorOptions {
  /** How many CPUs are busy: their clocks are read. */
  readonly threads: number;
  /** Tests replace the following. */
  readonly clock?: Clock;
  readonly platform?: string;
  /** Where Linux's sysfs is mounted. */
  readonly sysfs?: string;
  readonly read?: ReadSysfs;
}

/** Never rejects. When there are no sensors, `what` says why, and every reading is empty. */
export function openCpuSensors(options: CpuSensorOptions): Promise<CpuSensors> {
  return openOrNone<CpuSensors>(() => open(options));
}

async function open(options: CpuSensorOptions): Promise<CpuSensors> {
  const { threads, clock = systemClock, platform = process.platform, sysfs = '/sys', read } = options;
  if (platform !== 'linux') throw new Error('a CPU’s sensors can be read on Linux only');
  let thermometer = await findThermometer(sysfs, read);
  const { meter, refused } = await findPower(sysfs, clock, read);
  const readHertz = await findClock(threads, sysfs, read);
  const found = [
    thermometer && `temperature from ${thermometer.what}`,
    meter && `power from ${meter.what}`,
    readHertz && 'clock from cpufreq',
  ].filter((each) => each !== undefined);
  if (found.length === 0 && refused === undefined) {
    throw new Error('Linux shows no temperature, power or clock of the CPU, as in most virtual machines');
  }
  return {
    what: [found.join(', ') || 'no readings', ...(refused === undefined ? [] : [refusal(refused)])].join('; '),
    ...(refused !== undefined && { refused }),
    async read() {
      const temperatureCelsius = await thermometer?.readCelsius();
      // A driver that is loaded again gets a folder with another number.
      if (thermometer && temperatureCelsius === undefined)
        thermometer = (await findThermometer(sysfs, read)) ?? thermometer;
      return plausible({ temperatureCelsius, powerWatts: await meter?.readWatts(), coreHertz: await readHertz?.() });
    },
  };
}

/** Why the power is not known: a clause for people. */
function refusal(file: NonNullable<FoundPower['refused']>): string {
  return `the power is not known, because only root may read ${file} (docs/cpus.md, “Allow pickaxe to read the power”)`;
}
