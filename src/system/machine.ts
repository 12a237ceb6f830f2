/** Describes the machine on which a result was measured. */

import { arch, availableParallelism, cpus, platform, release } from 'node:os';
import { version } from './version.ts';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly os: string;
  readonly node: string;
  readonly pickaxe: string;
}

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() || arch(),
    cores: availableParallelism(),
    os: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    pickaxe: version,
  };
}
