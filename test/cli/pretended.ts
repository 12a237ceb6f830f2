/** Starts the command line on a pretended machine. */

import type { PretendedMachine } from '../miner/engine/cpu/cpu-sensors/machines.ts';

const preload = `--import=${new URL('./pretend-sysfs.mjs', import.meta.url)}`;

/**
 * @param watts the power that the machine's energy counter shows; without it, the counter does not change
 * @param refused a pattern of files that only root may read
 * @returns environment variables with which the command line sees the sysfs of that machine
 */
export function on(
  { sysfs }: PretendedMachine,
  { watts, refused = '(?!)' }: { readonly watts?: number; readonly refused?: string } = {},
): Record<string, string> {
  const power = watts === undefined ? {} : { PRETENDED_WATTS: `${watts}` };
  return { NODE_OPTIONS: preload, PRETENDED_SYSFS: sysfs, REFUSED: refused, ...power };
}
