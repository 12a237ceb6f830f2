/** The card that sensors belong to. */

/** The vendors' names for people. */
export const NAMES = { nvidia: 'NVIDIA', amd: 'AMD', intel: 'Intel' } as const;

export interface Card {
  readonly vendor?: 'nvidia' | 'amd' | 'intel' | undefined;
  /** The PCI address, such as `0000:65:00.0`. Without it, the sensors are those of the vendor's only card. */
  readonly bus?: string;
}

/** @returns why no card could be chosen: without an address, there must be exactly one. `count` says how many there are */
export function whichCard(count: number, vendor: string): string {
  if (count === 0) return `the system lists no card of ${vendor}`;
  return `there are ${count} cards of ${vendor}, and no PCI address says which of them this is`;
}
