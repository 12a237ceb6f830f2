/** What became of many blocks together. Always: accepted = won + orphaned + pending. */

import { BLOCK_STATES, type BlockState } from '../events/vocabulary.ts';
import type { Decimal } from '../ledger/decimal.ts';
import type { Block } from './book.ts';
import { earnedBy } from './reward.ts';
import { OFF_CHAIN, ON_CHAIN, UNDECIDED } from './states.ts';

export interface Totals {
  readonly accepted: number;
  /** On the chain, settled ones included. */
  readonly won: number;
  /** Not on the chain, those included that never entered any. */
  readonly orphaned: number;
  /** Undecided: pending, contested or unknown. */
  readonly pending: number;
  readonly byState: Readonly<Record<BlockState, number>>;
  /** Orphaned ÷ decided ones; undefined before one is decided. */
  readonly orphanRate: number | undefined;
  /** What the blocks on the chain have earned, as far as it is proven. */
  readonly earned: Decimal;
  /** Blocks on the chain whose reward is not proven yet. */
  readonly unproven: number;
  /** How many blocks the devices had to expect from what they hashed. */
  readonly expectedBlocks: number;
  /** The devices' own accepted blocks ÷ expected ones; undefined while less than one was expected. */
  readonly luck: number | undefined;
  /** The median time from a New Cut to searching the new work; undefined where no block has it. */
  readonly switchSeconds: number | undefined;
}

/** @param searchedExpectedBlocks what was searched and led to none of these blocks; 0 when these are only some of all blocks */
export function totalsOf(blocks: Iterable<Block>, searchedExpectedBlocks = 0): Totals {
  const all = [...blocks];
  const inStates = (states: readonly BlockState[]) => all.filter(({ standing }) => states.includes(standing.state));
  const won = inStates(ON_CHAIN);
  const orphaned = inStates(OFF_CHAIN).length;
  const decided = won.length + orphaned;
  const proven = won.flatMap(({ reward }) => reward ?? []);
  const expectedBlocks = all.reduce((sum, each) => sum + each.expectedBlocks, searchedExpectedBlocks);
  return {
    accepted: all.length,
    won: won.length,
    orphaned,
    pending: inStates(UNDECIDED).length,
    byState: Object.fromEntries(BLOCK_STATES.map((state) => [state, inStates([state]).length])) as Totals['byState'],
    orphanRate: decided === 0 ? undefined : orphaned / decided,
    earned: proven.reduce((sum, reward) => sum + earnedBy(reward), 0n),
    unproven: won.length - proven.length,
    expectedBlocks,
    luck: expectedBlocks < 1 ? undefined : all.filter(({ isRelay }) => !isRelay).length / expectedBlocks,
    switchSeconds: median(all.flatMap(({ switchSeconds }) => switchSeconds ?? [])),
  };
}

function median(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
