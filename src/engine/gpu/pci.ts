/** GPUs as the system's PCI bus shows them (Linux's sysfs). */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SYSFS = '/sys/bus/pci/devices';
/** PCI class 03: display controllers, 3D controllers without an output among them. */
const DISPLAY = /^0x03/;

/** The makers whose GPUs are looked for: PCI's number and Dawn's name. */
const MAKERS = [
  [0x10de, 'nvidia'],
  [0x1002, 'amd'],
  [0x8086, 'intel'],
] as const;
export type Maker = (typeof MAKERS)[number][1];

/**
 * @param vendor PCI's number of the maker, or Dawn's name
 * @returns undefined for other makers
 */
export function makerOf(vendor: number | string): Maker | undefined {
  return MAKERS.find(([id, name]) => id === vendor || name === vendor)?.[1];
}

export interface DisplayDevice {
  /** Like `0000:65:00.0`. */
  readonly bus: string;
  readonly vendor: Maker;
}

/** The display devices of makers of GPUs; none where the system does not show them. */
export function displayDevices(sysfs = SYSFS): DisplayDevice[] {
  try {
    return readdirSync(sysfs).flatMap((bus) => {
      const read = (file: string) => readFileSync(join(sysfs, bus, file), 'utf8').trim();
      const vendor = makerOf(Number(read('vendor')));
      return vendor && DISPLAY.test(read('class')) ? [{ bus, vendor }] : [];
    });
  } catch {
    return []; // not Linux, or a sandbox
  }
}
