/** Which card, and what its sensors are to whoever reads them. */

import type { Telemetry } from '../../telemetry.ts';

/** Vendors as people write them. */
export const NAMES = { nvidia: 'NVIDIA', amd: 'AMD', intel: 'Intel' } as const;

export interface Card {
  readonly vendor?: 'nvidia' | 'amd' | 'intel' | undefined;
  /** PCI address as `0000:65:00.0`, where known. Without it the sensors are those of the only card of the vendor. */
  readonly bus?: string;
}

export interface Sensors {
  /** Where the readings come from, or why there are none: one line for people. */
  readonly what: string;
  /** Never rejects. For the caller: never two at once, since a driver that hangs answers late or never. */
  read(): Promise<Telemetry>;
}

/** Why no card was chosen, of so many: without an address, it takes exactly one. */
export function whichCard(count: number, vendor: string): string {
  if (count === 0) return `the system lists no card of ${vendor}`;
  return `there are ${count} cards of ${vendor}, and no PCI address says which of them this is`;
}
