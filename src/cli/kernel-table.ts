/** The CPU kernels as `pickaxe devices` and `pickaxe bench --tune` show them. */

import { availableParallelism } from 'node:os';
import type { Survey } from '../engine/cpu/kernels/choose.ts';
import { KERNEL_NAMES, type KernelName } from '../engine/cpu/kernels/kernel.ts';
import { FOREIGN } from '../engine/cpu/kernels/native.ts';
import { fastestOf } from '../engine/cpu/kernels/speed.ts';
import { formatPercent } from '../report/units.ts';

/** Its names are part of what wrappers rely on. */
export interface KernelRow {
  readonly name: KernelName;
  readonly usable: boolean;
  readonly chosen: boolean;
  /** H/s of one thread while all hash, of a kernel that can be used. */
  readonly hashrate?: number;
  /** Why it is chosen, or why it is not. */
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

/**
 * One line a kernel; those of other chips share one.
 * @param threads that mine: as many of them as the machine runs at a time were busy
 */
export function kernelLines(rows: readonly KernelRow[], threads: number): string[] {
  const mark = ({ usable, chosen }: KernelRow) => (chosen ? '*' : usable ? '+' : '-');
  const speed = ({ hashrate }: KernelRow) => (hashrate === undefined ? '' : `${(hashrate / 1e6).toFixed(1)} MH/s`);
  const busy = Math.min(threads, availableParallelism());
  const foreign = rows.filter(({ why }) => why === FOREIGN);
  return [
    ...rows
      .filter((row) => !foreign.includes(row))
      .map((row) => `${mark(row)} ${row.name.padEnd(11)} ${speed(row).padStart(11)}   ${row.why}`),
    ...(foreign.length > 0 ? [`- ${foreign.map(({ name }) => name).join(', ')}: ${FOREIGN}`] : []),
    `MH/s of one thread${busy > 1 ? ` of ${busy} that hash at a time` : ''}; * is used, + could be (--kernel NAME), - cannot be used here`,
  ];
}
