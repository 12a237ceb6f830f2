/** A table of the CPU kernels: their speeds, and which one is used and why. */

import { KERNEL_NAMES, type KernelName } from '../engine/cpu/kernel-names.ts';
import type { Survey } from '../engine/cpu/kernels/choose.ts';
import { fastestOf } from '../engine/cpu/kernels/speed.ts';
import { formatPercent } from '../report/units.ts';

/** The JSON of `pickaxe devices` has these field names, and scripts rely on them. */
export interface KernelRow {
  readonly name: KernelName;
  readonly usable: boolean;
  readonly chosen: boolean;
  /** H/s of one thread while all threads hash. Absent when the kernel cannot be used. */
  readonly hashrate?: number;
  /** Why the kernel is chosen, or why it is not. */
  readonly why: string;
}

/** @param asked the kernel that was asked for and is used, whatever the speeds */
export function kernelRows({ speeds, unusable }: Survey, asked?: KernelName): KernelRow[] {
  const fastest = fastestOf(speeds);
  return KERNEL_NAMES.map((name) => {
    const hashrate = speeds[name];
    if (hashrate === undefined) return { name, usable: false, chosen: false, why: unusable.get(name) ?? '' };
    const speed =
      name === fastest
        ? 'the fastest here'
        : `slower here: ${formatPercent(hashrate / speeds[fastest!]!)} of ${fastest}`;
    const chosen = name === (asked ?? fastest);
    const why = chosen ? `chosen: ${asked === undefined ? '' : 'asked for, '}${speed}` : speed;
    return { name, usable: true, chosen, hashrate, why };
  });
}
