/** Describes the machine on which a result was measured. */

import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, version as osVersion, platform, release } from 'node:os';
import { z } from 'zod';
import { version } from './version.ts';

/** A text about a machine. It is printed on terminals, where control characters could act as commands. */
const line = z
  .string()
  .max(256)
  .regex(/^\P{C}*$/u, 'control characters');

export const Machine = z
  .strictObject({
    cpu: line,
    cores: z.int().positive().describe('threads that run at a time'),
    os: line.describe('platform, kernel version, architecture: `linux 6.1.0-18-amd64 x64`'),
    osName: line.nullable().describe('its own name'),
    node: line.describe('the version of Node.js'),
    pickaxe: line.describe('its version'),
  })
  .describe('a computer');
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
    return null; // macOS and minimal systems do not have the file.
  }
}

/**
 * @param text the contents of /etc/os-release (os-release(5))
 * @returns the value of PRETTY_NAME; null if it is absent, empty, or longer than 100 characters, or contains quotes or
 *   control characters
 */
export function parseOsRelease(text: string): string | null {
  const name = /^PRETTY_NAME=(["']?)([^"'\n]{1,100})\1$/m.exec(text)?.[2];
  return name === undefined || /\p{C}/u.test(name) ? null : name;
}
