/** What machine a result was measured on. */

import { arch, availableParallelism, cpus, platform, release } from 'node:os';
import { z } from 'zod';
import { version } from './version.ts';

export const Machine = z.object({
  /** Model of the CPU. */
  cpu: z.string(),
  /** How many threads the CPU runs at a time. */
  cores: z.int().positive(),
  os: z.string(),
  /** Versions of Node.js and of pickaxe. */
  node: z.string(),
  pickaxe: z.string(),
});
export type Machine = Readonly<z.infer<typeof Machine>>;

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() || arch(),
    cores: availableParallelism(),
    os: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    pickaxe: version,
  };
}
