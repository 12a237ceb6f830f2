/** PCI devices as Linux's sysfs lists them (Documentation/ABI/testing/sysfs-bus-pci). */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { NAMES, whichCard } from './card.ts';
import { readLine } from './read-line.ts';

/** PCI vendor IDs, as the file `vendor` has them. */
const VENDORS = { amd: '0x1002', intel: '0x8086' } as const;
export type PciVendor = keyof typeof VENDORS;

/** The file `class` of display controllers: base class 03 of the PCI Code and ID Assignment Specification. */
const DISPLAY = /^0x03[0-9a-f]{4}$/;

/** Of a text that is no address, shown in the error. */
const SHOWN_CHARS = 40;

/**
 * @returns the address as Linux writes it, `0000:65:00.0`: lower case, the domain in four digits or as many as it takes
 * @throws Error when it is no PCI address.
 */
export function parseBus(text: string): string {
  const match = /^([0-9a-f]{1,8})(:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/.exec(text.toLowerCase());
  if (!match) throw new Error(`'${text.slice(0, SHOWN_CHARS)}' is no PCI address such as 0000:65:00.0`);
  return `${Number.parseInt(match[1], 16).toString(16).padStart(4, '0')}${match[2]}`;
}

/**
 * @param devices the folder of sysfs with one entry per PCI device
 * @returns the address of the only display controller of this vendor
 * @throws Error that says why there is no telling.
 */
export async function onlyCard(devices: string, vendor: PciVendor): Promise<string> {
  const cards: string[] = [];
  for (const address of await readdir(devices)) {
    const type = await readLine(join(devices, address, 'class'));
    if (type === undefined || !DISPLAY.test(type)) continue;
    if ((await readLine(join(devices, address, 'vendor'))) === VENDORS[vendor]) cards.push(address);
  }
  if (cards.length !== 1) throw new Error(whichCard(cards.length, NAMES[vendor]));
  return cards[0];
}
