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

/** Devices or relays by their names: a map in the miner, and an object in public JSON. */
type Named = ReadonlyMap<string, unknown> | Readonly<Record<string, unknown>>;

/**
 * Whether a rig has no devices of its own and only hands work on. Then nothing is hashed on it, and nothing is wrong
 * with that.
 */
export function livesOnRelays({ devices, relays }: { readonly devices: Named; readonly relays: Named }): boolean {
  return countOf(devices) === 0 && countOf(relays) > 0;
}

function countOf(named: Named): number {
  return named instanceof Map ? named.size : Object.keys(named).length;
}

/**
 * Accepted ÷ expected blocks; undefined while less than one is expected. Only the devices' own blocks count: how much
 * relays hash is not known well enough to expect blocks from it.
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

/** As long as a public key or longer, and more than anybody reads. */
const HEX_RUN = /[0-9a-f]{40,}/gi;

/** @returns `k:3f1c88…9b04.rig1` for the name of a worker with a key in it; a name without a key stays as it is */
export function shortName(name: string): string {
  return name.replaceAll(HEX_RUN, (run) => `${run.slice(0, 6)}…${run.slice(-4)}`);
}

/* The names of what a rig can be doing. This file imports nothing; `rig-state.ts` says when a rig is in which state. */

export const RIG_STATES = ['starting', 'mining', 'paused', 'waiting-for-work', 'no-source', 'no-device'] as const;
export type RigStateName = (typeof RIG_STATES)[number];
