/** Reads the CPU's clock, which Linux reports below /sys/devices/system/cpu (Documentation/admin-guide/pm/cpufreq.rst). */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SYSFS = '/sys/devices/system/cpu';

/**
 * @param threads how many CPUs are busy: idle CPUs have lower clocks and do not count
 * @returns the mean of the busy CPUs' present clocks in Hz; undefined when the system does not report
 *   them, as in most virtual machines
 */
export function cpuHertz(threads: number, sysfs = SYSFS): number | undefined {
  const clocks = cpusIn(sysfs).flatMap((cpu) => {
    const kHz = Number(readText(join(sysfs, cpu, 'cpufreq/scaling_cur_freq')));
    return kHz > 0 ? 1000 * kHz : [];
  });
  const busy = clocks.sort((a, b) => b - a).slice(0, threads);
  return busy.length > 0 ? busy.reduce((sum, clock) => sum + clock, 0) / busy.length : undefined;
}

function cpusIn(sysfs: string): string[] {
  try {
    return readdirSync(sysfs).filter((name) => /^cpu\d+$/.test(name));
  } catch {
    return []; // not Linux, or a sandbox
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
