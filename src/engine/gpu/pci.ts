/** Lists the GPUs on the PCI bus, from Linux's sysfs. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SYSFS = '/sys/bus/pci/devices';
/** PCI class 03 stands for display controllers, including 3D controllers without an output. */
const DISPLAY = /^0x03/;

/** The known makers of GPUs: PCI number and Dawn's name. */
const MAKERS = [
  [0x10de, 'nvidia'],
  [0x1002, 'amd'],
  [0x8086, 'intel'],
] as const;
export type Maker = (typeof MAKERS)[number][1];

/**
 * @param vendor the maker's PCI number, or Dawn's name for it
 * @returns undefined for other makers
 */
export function makerOf(vendor: number | string): Maker | undefined {
  return MAKERS.find(([id, name]) => id === vendor || name === vendor)?.[1];
}

export interface DisplayDevice {
  /** The PCI address, such as `0000:65:00.0`. */
  readonly bus: string;
  readonly vendor: Maker;
}

/** @returns the display devices of the known makers; none when the system does not list them */
export function displayDevices(sysfs = SYSFS): DisplayDevice[] {
  try {
    return readdirSync(sysfs).flatMap((bus) => {
      const read = (file: string) => readFileSync(join(sysfs, bus, file), 'utf8').trim();
      const vendor = makerOf(Number(read('vendor')));
      return vendor && DISPLAY.test(read('class')) ? [{ bus, vendor }] : [];
    });
  } catch {
    return []; // The system is not Linux, or a sandbox hides sysfs.
  }
}
