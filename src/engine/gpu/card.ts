/** The card that sensors belong to. */

/** The vendors' names for people. */
export const NAMES = { nvidia: 'NVIDIA', amd: 'AMD', intel: 'Intel' } as const;

export interface Card {
  readonly vendor?: 'nvidia' | 'amd' | 'intel' | undefined;
  /** The PCI address, such as `0000:65:00.0`. Without it, the sensors are those of the vendor's only card. */
  readonly bus?: string;
}

/**
 * @returns why no card could be chosen: without an address, there must be exactly one. `count` says how many there are
 */
export function whichCard(count: number, vendor: string): string {
  if (count === 0) return `the system lists no card of ${vendor}`;
  return `there are ${count} cards of ${vendor}, and no PCI address says which of them this is`;
}

/* Parses PCI addresses, with which the system distinguishes cards. */

/** How much of an invalid text is quoted in the error. */
const SHOWN_CHARS = 40;

/**
 * @returns the address as Linux writes it, such as `0000:65:00.0`: in lower case, the domain with at least four digits
 * @throws Error when the text is not a PCI address.
 */
export function parseBus(text: string): string {
  const match = /^([0-9a-f]{1,8})(:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/.exec(text.toLowerCase());
  if (!match) throw new Error(`'${text.slice(0, SHOWN_CHARS)}' is not a PCI address such as 0000:65:00.0`);
  return `${Number.parseInt(match[1], 16).toString(16).padStart(4, '0')}${match[2]}`;
}
