/** The CPU kernels as `pickaxe devices` and `pickaxe bench --tune` print them. */

import { availableParallelism } from 'node:os';
import type { KernelRow } from '../app/kernel-rows.ts';
import { FOREIGN } from '../engine/cpu/kernels/native.ts';

/**
 * One line per kernel; those of other chips share one.
 * @param threads the number of threads that mine; as many of them as the machine runs at a time were busy
 */
export function kernelLines(rows: readonly KernelRow[], threads: number): string[] {
  const mark = ({ usable, chosen }: KernelRow) => (chosen ? '*' : usable ? '+' : '-');
  const speed = ({ hashesPerSecond }: KernelRow) =>
    hashesPerSecond === undefined ? '' : `${(hashesPerSecond / 1e6).toFixed(1)} MH/s`;
  const busy = Math.min(threads, availableParallelism());
  const foreign = rows.filter(({ why }) => why === FOREIGN);
  return [
    ...rows
      .filter((row) => !foreign.includes(row))
      .map((row) => `${mark(row)} ${row.name.padEnd(11)} ${speed(row).padStart(11)}   ${row.why}`),
    ...(foreign.length > 0 ? [`- ${foreign.map(({ name }) => name).join(', ')}: ${FOREIGN}`] : []),
    `MH/s of one thread${busy > 1 ? ` while ${busy} are busy` : ''}; * is used, + can be used (--kernel NAME), - cannot be used here`,
  ];
}
