/** Counts what has become of the blocks of this run. */

import type { MinerEvent } from '../events/events.ts';
import { BLOCK_STATES, type BlockState, FATE_OF } from '../events/vocabulary.ts';

/** Accepted blocks = won + orphaned + pending. The others are not known to be accepted. */
export interface AcceptedBlocks {
  /** On the chain, settled ones included. */
  readonly won: number;
  /** Those of the won ones that can be relied on. */
  readonly settled: number;
  /** Not on the chain. */
  readonly orphaned: number;
  /** Nothing is decided. */
  readonly pending: number;
  /** Their answer was lost, and no chain has shown yet whether a node took them. */
  readonly unanswered: number;
  /** Their answer was lost, and no node has them. */
  readonly lost: number;
  /** Blocks that pay another account than the miner's: some of these, and some that were refused or only counted. */
  readonly paidElsewhere: number;
}

/** Events say what a block was before, so no block needs to be remembered, however many a run finds. */
export class BlockCounts {
  readonly #counts = new Map<BlockState, number>(BLOCK_STATES.map((state) => [state, 0]));
  #paidElsewhere = 0;

  /** Blocks of earlier runs are followed, too, but are not counted here. */
  add({ state, previous, isEarlier }: MinerEvent & { type: 'block-state' }): void {
    if (isEarlier) return;
    if (previous !== undefined) this.#change(previous, -1);
    this.#change(state, 1);
  }

  /** Each block that pays another account has one such event. */
  addReward({ paidTo, isEarlier }: MinerEvent & { type: 'block-reward' }): void {
    if (paidTo !== undefined && !isEarlier) this.#paidElsewhere++;
  }

  /** Undefined while no block was recorded: then there may be no block log. */
  get accepted(): AcceptedBlocks | undefined {
    const settled = this.#counts.get('settled')!;
    const paidElsewhere = this.#paidElsewhere;
    const counts = { won: 0, settled, orphaned: 0, pending: 0, unanswered: 0, lost: 0, paidElsewhere };
    for (const [state, count] of this.#counts) counts[FATE_OF[state]] += count;
    const { won, orphaned, pending, unanswered, lost } = counts;
    return won + orphaned + pending + unanswered + lost > 0 ? counts : undefined;
  }

  #change(state: BlockState, by: number): void {
    this.#counts.set(state, this.#counts.get(state)! + by);
  }
}
