/** Reads the CPU's clock, which Linux reports below /sys/devices/system/cpu (Documentation/admin-guide/pm/cpufreq.rst). */

import { join } from 'node:path';
import { list } from '../../sensors/hwmon-files.ts';
import { type ReadSysfs, readInteger } from '../../sensors/read-line.ts';

/** On larger machines only so many CPUs are asked, evenly spread: each costs the main thread a tenth of a millisecond. */
const MOST_ASKED = 32;

/**
 * @param threads how many CPUs are busy: idle CPUs have lower clocks and do not count
 * @param sysfs where sysfs is mounted
 * @returns reads the mean of the busy CPUs' present clocks in Hz; undefined when the system does not report them, as in most
 *   virtual machines
 */
export async function findClock(
  threads: number,
  sysfs: string,
  read?: ReadSysfs,
): Promise<(() => Promise<number | undefined>) | undefined> {
  const folder = join(sysfs, 'devices/system/cpu');
  const cpus = (await list(folder)).filter((name) => /^cpu\d+$/.test(name)).sort((a, b) => numberOf(a) - numberOf(b));
  const step = Math.max(1, cpus.length / MOST_ASKED);
  const asked = Array.from({ length: Math.min(cpus.length, MOST_ASKED) }, (_, i) => cpus[Math.floor(i * step)]);
  const readAll = () => clocksOf(asked, folder, read);
  if ((await readAll()).length === 0) return undefined;
  return async () => {
    const busy = (await readAll()).sort((a, b) => b - a).slice(0, Math.max(1, Math.round(threads / step)));
    return busy.length > 0 ? busy.reduce((sum, hertz) => sum + hertz, 0) / busy.length : undefined;
  };
}

const numberOf = (cpu: string) => Number(cpu.slice('cpu'.length));

async function clocksOf(cpus: readonly string[], folder: string, read?: ReadSysfs): Promise<number[]> {
  const clocks: number[] = [];
  for (const cpu of cpus) {
    const kHz = (await readInteger(join(folder, cpu, 'cpufreq/scaling_cur_freq'), read)) ?? 0;
    if (kHz > 0) clocks.push(1000 * kHz);
  }
  return clocks;
}
