/** A table of the CPU kernels: their speeds, and which one is used and why. */

import { z } from 'zod';
import { KERNEL_NAMES, type KernelName } from '../engine/cpu/kernel-names.ts';
import type { Survey } from '../engine/cpu/kernels/choose.ts';
import { fastestOf } from '../engine/cpu/kernels/speed.ts';
import { formatPercent } from '../report/units.ts';

export const KernelRow = z.object({
  name: z.enum(KERNEL_NAMES),
  usable: z.boolean(),
  chosen: z.boolean(),
  /** H/s of one thread while all threads hash. Absent when the kernel cannot be used. */
  hashesPerSecond: z.number().exactOptional(),
  /** Why the kernel is chosen, or why it is not. */
  why: z.string(),
});
export type KernelRow = Readonly<z.infer<typeof KernelRow>>;

/** @param asked the kernel that was asked for and is used, whatever the speeds */
export function kernelRows({ speeds, unusable }: Survey, asked?: KernelName): KernelRow[] {
  const fastest = fastestOf(speeds);
  return KERNEL_NAMES.map((name) => {
    const hashesPerSecond = speeds[name];
    if (hashesPerSecond === undefined) return { name, usable: false, chosen: false, why: unusable.get(name) ?? '' };
    const speed =
      name === fastest
        ? 'the fastest here'
        : `slower here: ${formatPercent(hashesPerSecond / speeds[fastest!]!)} of ${fastest}`;
    const chosen = name === (asked ?? fastest);
    const why = chosen ? `chosen: ${asked === undefined ? '' : 'asked for, '}${speed}` : speed;
    return { name, usable: true, chosen, hashesPerSecond, why };
  });
}
