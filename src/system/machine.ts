/** What machine a result was measured on. */

import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, version as osVersion, platform, release } from 'node:os';
import { version } from './version.ts';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  /** The platform, its kernel's version and the architecture: `linux 6.1.0-18-amd64 x64`. */
  readonly os: string;
  /** What the operating system calls itself: `Debian GNU/Linux 12 (bookworm)`; null where it does not tell. */
  readonly osName: string | null;
  readonly node: string;
  readonly pickaxe: string;
}

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
 * @param text of /etc/os-release: assignments as in a shell (os-release(5))
 * @returns its PRETTY_NAME; null where there is none, or where it is not one short line of printable characters
 */
export function parseOsRelease(text: string): string | null {
  const name = /^PRETTY_NAME=(["']?)([^"'\n]{1,100})\1$/m.exec(text)?.[2];
  return name === undefined || /\p{C}/u.test(name) ? null : name;
}
