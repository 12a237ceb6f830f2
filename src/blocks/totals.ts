/** What became of many blocks together. Always: accepted = won + orphaned + pending. Others are not known to be accepted. */

import { BLOCK_STATES, type BlockFate, type BlockState, FATE_OF } from '../events/vocabulary.ts';
import type { Decimal } from '../ledger/decimal.ts';
import type { Block } from './book.ts';
import type { NotFollowed } from './lines.ts';
import { earnedBy } from './reward.ts';

export interface Totals {
  /** A node has said that it accepted them, or has shown it. */
  readonly accepted: number;
  /** On the chain, settled ones included. */
  readonly won: number;
  /** Not on the chain, those included that never entered any. */
  readonly orphaned: number;
  /** Undecided: pending, contested or unknown. */
  readonly pending: number;
  /** Their answer was lost, and no chain has shown yet whether a node took them. */
  readonly unanswered: number;
  /** Their answer was lost, and no node has them. */
  readonly lost: number;
  readonly byState: Readonly<Record<BlockState, number>>;
  /** Orphaned ÷ decided ones; undefined before one is decided. */
  readonly orphanRate: number | undefined;
  /** What the blocks on the chain have earned, as far as it is proven. */
  readonly earned: Decimal;
  /** Blocks on the chain whose reward is not proven yet. */
  readonly unproven: number;
  /** Blocks on the chain that pay another account than their miner's: they have earned nothing. */
  readonly paidElsewhere: number;
  /** Accepted blocks that came faster than they are recorded, beside all others. */
  readonly notFollowed: number;
  /** How many blocks the devices had to expect from what they hashed. */
  readonly expectedBlocks: number;
  /** The devices' own accepted blocks ÷ expected ones; undefined while less than one was expected. */
  readonly luck: number | undefined;
  /** The median time from a New Cut to searching the new work; undefined where no block has it. */
  readonly switchSeconds: number | undefined;
}

/**
 * @param searchedExpectedBlocks what was searched and led to none of these blocks; 0 when these are only some of all blocks
 * @param notFollowed blocks that were counted and not recorded; none when these are only some of all blocks
 */
export function totalsOf(
  blocks: Iterable<Block>,
  searchedExpectedBlocks = 0,
  notFollowed: NotFollowed = { own: 0, relayed: 0, unanswered: 0 },
): Totals {
  const all = [...blocks];
  const of = (...fates: BlockFate[]) => all.filter(({ standing }) => fates.includes(FATE_OF[standing.state]));
  const accepted = of('won', 'orphaned', 'pending');
  const won = of('won');
  const orphaned = of('orphaned').length;
  const decided = won.length + orphaned;
  const paidElsewhere = won.filter((block) => block.paidElsewhere).length;
  const own = accepted.filter(({ isRelay }) => !isRelay).length + notFollowed.own;
  const proven = won.flatMap(({ reward }) => reward ?? []);
  const expectedBlocks = all.reduce((sum, each) => sum + each.expectedBlocks, searchedExpectedBlocks);
  return {
    accepted: accepted.length,
    won: won.length,
    orphaned,
    pending: of('pending').length,
    unanswered: of('unanswered').length + notFollowed.unanswered,
    lost: of('lost').length,
    byState: Object.fromEntries(BLOCK_STATES.map((state) => [state, countOf(all, state)])) as Totals['byState'],
    orphanRate: decided === 0 ? undefined : orphaned / decided,
    earned: proven.reduce((sum, reward) => sum + earnedBy(reward), 0n),
    unproven: won.length - proven.length - paidElsewhere,
    paidElsewhere,
    notFollowed: notFollowed.own + notFollowed.relayed,
    expectedBlocks,
    luck: expectedBlocks < 1 ? undefined : own / expectedBlocks,
    switchSeconds: median(all.flatMap(({ switchSeconds }) => switchSeconds ?? [])),
  };
}

function countOf(blocks: readonly Block[], state: BlockState): number {
  return blocks.filter(({ standing }) => standing.state === state).length;
}

function median(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
