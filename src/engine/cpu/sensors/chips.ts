/** The folders of Linux's hwmon that belong to CPUs. */

import { join } from 'node:path';
import { channels, list } from '../../sensors/hwmon-files.ts';
import { type ReadSysfs, readLine } from '../../sensors/read-line.ts';

/** One sensor of a folder. */
export interface Channel {
  /** The file with its value. */
  readonly file: string;
  /** What the driver calls it; undefined where it has no name. */
  readonly label: string | undefined;
}

export interface Chip {
  /** The name of the driver, like `k10temp`. */
  readonly driver: string;
  /** @param kind `temp`, `power`, `energy` */
  channels(kind: string): Promise<Channel[]>;
}

/**
 * @param drivers the names of drivers
 * @param sysfs where sysfs is mounted
 * @returns their folders; a driver has one for each socket, or for each die of a socket
 */
export async function findChips(drivers: readonly string[], sysfs: string, read?: ReadSysfs): Promise<Chip[]> {
  const root = join(sysfs, 'class/hwmon');
  const chips: Chip[] = [];
  for (const name of await list(root)) {
    const folder = join(root, name);
    const driver = await readLine(join(folder, 'name'), read);
    if (driver === undefined || !drivers.includes(driver)) continue;
    chips.push({ driver, channels: (kind) => channelsOf(folder, kind, read) });
  }
  return chips;
}

async function channelsOf(folder: string, kind: string, read?: ReadSysfs): Promise<Channel[]> {
  const found: Channel[] = [];
  for (const channel of channels(await list(folder), kind)) {
    const label = await readLine(join(folder, `${channel}_label`), read);
    // On machines with two sockets zenpower puts `cpu0 ` or `cpu1 ` before its names.
    found.push({ file: join(folder, `${channel}_input`), label: label?.replace(/^cpu\d+ /, '') });
  }
  return found;
}
