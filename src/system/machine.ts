/** Describes the machine on which a result was measured. */

import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, version as osVersion, platform, release } from 'node:os';
import { z } from 'zod';
import { version } from './version.ts';

/** Machines are shown on terminals, which could take control characters for commands. */
const line = z
  .string()
  .max(256)
  .regex(/^\P{C}*$/u, 'control characters');

export const Machine = z.strictObject({
  /** Model of the CPU. */
  cpu: line,
  /** Number of threads that the CPU runs at a time. */
  cores: z.int().positive(),
  /** The platform, its kernel's version and the architecture: `linux 6.1.0-18-amd64 x64`. */
  os: line,
  /** The operating system's own name: `Debian GNU/Linux 12 (bookworm)`; null where it is not known. */
  osName: line.nullable(),
  /** Versions of Node.js and of pickaxe. */
  node: line,
  pickaxe: line,
});
export type Machine = Readonly<z.infer<typeof Machine>>;

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() || arch(),
    cores: availableParallelism(),
    os: `${platform()} ${release()} ${arch()}`,
    osName: osName(),
    node: process.version,
    pickaxe: version,
  };
}

function osName(): string | null {
  if (platform() === 'win32') return osVersion(); // `Windows 11 Pro`
  try {
    return parseOsRelease(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return null; // macOS, or a system that is stripped down
  }
}

/**
 * @param text the text of /etc/os-release: assignments as in a shell (os-release(5))
 * @returns its PRETTY_NAME; null where there is none, or where it is not one short line of printable characters
 */
export function parseOsRelease(text: string): string | null {
  const name = /^PRETTY_NAME=(["']?)([^"'\n]{1,100})\1$/m.exec(text)?.[2];
  return name === undefined || /\p{C}/u.test(name) ? null : name;
}
