/** Whether the CPU's sensors can be read. */

import type { CpuSensors } from '../engine/cpu/sensors/sensors.ts';
import type { Finding } from './finding.ts';

export function examineSensors({ what, refused }: Pick<CpuSensors, 'what' | 'refused'>): Finding {
  const about = 'sensors';
  if (refused === undefined) return { about, state: 'ok', what: `CPU: ${what}` };
  return {
    about,
    state: 'warning',
    what: `the CPU’s power is not known: this user may not read ${refused}`,
    why: 'without it there are no watts and no hashes per joule of the CPU; it mines as well without them',
    mend: 'docs/cpus.md, “Allow pickaxe to read the power”, says how, and why the system keeps the file from users',
  };
}
