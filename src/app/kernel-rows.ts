/** A table of the CPU kernels: their speeds, and which one is used and why. */

import { z } from 'zod';
import { KERNEL_NAMES, type KernelName } from '../engine/cpu/kernel-names.ts';
import type { Survey } from '../engine/cpu/kernels/choose.ts';
import { CORE_KINDS } from '../engine/device.ts';
import { formatPercent } from '../report/units.ts';

export const KernelRow = z.object({
  name: z.enum(KERNEL_NAMES),
  /** The kind of cores that this is about; absent where all cores are alike. */
  cores: z.enum(CORE_KINDS).exactOptional(),
  usable: z.boolean(),
  chosen: z.boolean(),
  /** Whether it is certain that it is the fastest; absent unless pickaxe chose it. */
  proven: z.boolean().exactOptional(),
  /** H/s of one thread while all threads hash. Absent when the kernel cannot be used, or could not be measured. */
  hashesPerSecond: z.number().exactOptional(),
  /** Why the kernel is chosen, or why it is not. */
  why: z.string(),
});
export type KernelRow = Readonly<z.infer<typeof KernelRow>>;

/**
 * @param surveys one for each kind of cores
 * @param asked the kernel that was asked for and is used, whatever the speeds
 */
export function kernelRows(surveys: readonly Survey[], asked?: KernelName): KernelRow[] {
  return surveys.flatMap((survey) => rowsOf(survey, asked));
}

function rowsOf({ kind, speeds, fastest, proven, close, unusable }: Survey, asked?: KernelName): KernelRow[] {
  return KERNEL_NAMES.map((each) => {
    const name = { name: each, ...(kind !== undefined && { cores: kind }) };
    const hashesPerSecond = speeds[each];
    const refused = unusable.get(each);
    if (refused !== undefined) return { ...name, usable: false, chosen: false, why: refused };
    if (hashesPerSecond === undefined) {
      const chosen = each === (asked ?? fastest);
      return { ...name, usable: true, chosen, why: 'not measured: the machine was too busy' };
    }
    const part = hashesPerSecond / (speeds[fastest ?? each] ?? hashesPerSecond);
    const speed = fastest === undefined || each === fastest ? 'the fastest here' : `${compared(part)} ${fastest}`;
    const row = { ...name, usable: true, hashesPerSecond };
    if (each !== (asked ?? fastest)) return { ...row, chosen: false, why: speed };
    if (asked !== undefined) return { ...row, chosen: true, why: `chosen: asked for, ${speed}` };
    return { ...row, chosen: true, proven, why: `chosen: ${speed}${proven ? '' : unproven(each, close)}` };
  });
}

/** A part that is rounded to 100 % is no difference. */
function compared(part: number): string {
  return part < 0.995 ? `slower here: ${formatPercent(part)} of` : 'as fast here as';
}

function unproven(chosen: KernelName, close: readonly KernelName[]): string {
  const rivals = close.filter((name) => name !== chosen);
  if (rivals.length === 0) return ', which is not proven: the machine was too busy';
  return `, to be proven while mining: ${rivals.join(' and ')} ${rivals.length === 1 ? 'comes' : 'come'} close`;
}
