/** The CPU kernels as `pickaxe devices` and `pickaxe bench --tune` print them. */

import { availableParallelism } from 'node:os';
import type { KernelRow } from '../app/kernel-rows.ts';
import type { Survey } from '../engine/cpu/kernels/choose.ts';
import { FOREIGN } from '../engine/cpu/kernels/native.ts';

/**
 * One line per kernel and kind of cores; those of other chips share one.
 * @param surveys one for each kind of cores
 */
export function kernelLines(
  rows: readonly KernelRow[],
  surveys: readonly Pick<Survey, 'kind' | 'threads'>[],
): string[] {
  const foreign = [...new Set(rows.filter(({ why }) => why === FOREIGN).map(({ name }) => name))];
  const threads = surveys.reduce((sum, survey) => sum + survey.threads, 0);
  // As many of the threads as the machine runs at a time were busy.
  const busy = Math.min(threads, availableParallelism());
  return [
    ...surveys.flatMap(({ kind, threads }) => [
      ...(kind === undefined ? [] : [`${kind} cores, ${threads} ${threads === 1 ? 'thread' : 'threads'}:`]),
      ...rows.filter(({ cores, why }) => cores === kind && why !== FOREIGN).map(kernelLine),
    ]),
    ...(foreign.length > 0 ? [`- ${foreign.join(', ')}: ${FOREIGN}`] : []),
    `MH/s of one thread${busy > 1 ? ` while ${busy} are busy` : ''}; * is used, + can be used (--kernel NAME), - cannot be used here`,
  ];
}

function kernelLine({ name, usable, chosen, hashesPerSecond, why }: KernelRow): string {
  const mark = chosen ? '*' : usable ? '+' : '-';
  const speed = hashesPerSecond === undefined ? '' : `${(hashesPerSecond / 1e6).toFixed(1)} MH/s`;
  return `${mark} ${name.padEnd(11)} ${speed.padStart(11)}   ${why}`;
}

/** @returns the kernels that are used, as in `kernel` of all public JSON; undefined when there is none */
export function usedKernel(rows: readonly KernelRow[]): string | undefined {
  const chosen = new Set(rows.filter(({ chosen }) => chosen).map(({ name }) => name));
  return chosen.size > 0 ? [...chosen].join('+') : undefined;
}
