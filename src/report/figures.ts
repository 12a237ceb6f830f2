/** Pure: what terminal, page, tables and the formats of mining systems make of the counts that are public. */

import { OUTCOMES, type Outcome } from '../source/vocabulary.ts';

type Counts = Readonly<Record<Outcome, number>>;

/** Whether shares are what people look at: the work is a pool's, or shares were found before. */
export function countsShares(
  work: { readonly shareDifficulty?: number | null } | null | undefined,
  shares: Counts,
): boolean {
  return typeof work?.shareDifficulty === 'number' || OUTCOMES.some((outcome) => shares[outcome] > 0);
}

/**
 * Accepted ÷ expected blocks; undefined while less than one is expected. Only the devices' own blocks count: how much relays hash
 * is not known well enough to expect blocks from it.
 */
export function luckOf({
  devices,
  expectedBlocks,
}: {
  readonly devices: Readonly<Record<string, { readonly accepted: number }>>;
  readonly expectedBlocks: number;
}): number | undefined {
  if (expectedBlocks < 1) return undefined;
  return Object.values(devices).reduce((sum, { accepted }) => sum + accepted, 0) / expectedBlocks;
}
