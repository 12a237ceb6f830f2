/** The cards on the PCI bus, with their makers and PCI addresses. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SYSFS = '/sys/bus/pci/devices';
/** PCI class 03: display controllers, including 3D controllers without an output. */
const DISPLAY = /^0x03/;

/** PCI vendor IDs and Dawn's names of known makers. */
const MAKERS = [
  [0x10de, 'nvidia'],
  [0x1002, 'amd'],
  [0x8086, 'intel'],
] as const;
export type Maker = (typeof MAKERS)[number][1];

/** @param vendor PCI vendor ID or Dawn's name @returns undefined for other makers */
export function makerOf(vendor: number | string): Maker | undefined {
  return MAKERS.find(([id, name]) => id === vendor || name === vendor)?.[1];
}

export interface DisplayDevice {
  /** PCI address, such as `0000:65:00.0`. */
  readonly bus: string;
  readonly vendor: Maker;
}

/** @returns the display controllers of known makers; an empty list when the system does not list its devices */
export function displayDevices(sysfs = SYSFS): DisplayDevice[] {
  try {
    return readdirSync(sysfs).flatMap((bus) => {
      const read = (file: string) => readFileSync(join(sysfs, bus, file), 'utf8');
      const vendor = makerOf(Number(read('vendor')));
      return vendor && DISPLAY.test(read('class')) ? [{ bus, vendor }] : [];
    });
  } catch {
    return []; // The system is not Linux, or a sandbox hides sysfs.
  }
}

/** The makers' names, as people write them. */
export const NAMES = { nvidia: 'NVIDIA', amd: 'AMD', intel: 'Intel' } as const;

export interface Card {
  readonly vendor?: Maker | undefined;
  /** PCI address, such as `0000:65:00.0`. Without an address, the vendor's only card is meant. */
  readonly bus?: string;
}

/**
 * @param count number of the vendor's cards, which is not 1 @returns why no card could be chosen: a clause for people
 */
export function whichCard(count: number, vendor: string): string {
  if (count === 0) return `the system lists no card of ${vendor}`;
  return `there are ${count} cards of ${vendor}, and no PCI address says which of them this is`;
}

/** Maximum number of characters of an invalid text that the error quotes. */
const SHOWN_CHARS = 40;

/**
 * @returns the PCI address as Linux writes it, such as `0000:65:00.0`: in lower case, with at least four digits for the
 *   domain
 * @throws Error for anything but a PCI address
 */
export function parseBus(text: string): string {
  const match = /^([0-9a-f]{1,8})(:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/.exec(text.toLowerCase());
  if (!match) throw new Error(`'${text.slice(0, SHOWN_CHARS)}' is not a PCI address such as 0000:65:00.0`);
  return `${Number.parseInt(match[1], 16).toString(16).padStart(4, '0')}${match[2]}`;
}
