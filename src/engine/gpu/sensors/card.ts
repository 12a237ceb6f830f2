/** The interface of a card's sensors, and the card that they belong to. */

import type { Telemetry } from '../../telemetry.ts';

/** The vendors' names for people. */
export const NAMES = { nvidia: 'NVIDIA', amd: 'AMD', intel: 'Intel' } as const;

export interface Card {
  readonly vendor?: 'nvidia' | 'amd' | 'intel' | undefined;
  /** The PCI address, such as `0000:65:00.0`. Without it, the sensors are those of the vendor's only card. */
  readonly bus?: string;
}

export interface Sensors {
  /** For people: where the readings come from, or why there are none. One line. */
  readonly what: string;
  /** Never rejects. Wait for one reading before the next: a driver that hangs answers late or never. */
  read(): Promise<Telemetry>;
}

/** @returns why no card could be chosen: without an address, there must be exactly one. `count` says how many there are */
export function whichCard(count: number, vendor: string): string {
  if (count === 0) return `the system lists no card of ${vendor}`;
  return `there are ${count} cards of ${vendor}, and no PCI address says which of them this is`;
}
