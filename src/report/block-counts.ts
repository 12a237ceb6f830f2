/** Counts what has become of the blocks of this run. */

import type { MinerEvent } from '../events/events.ts';
import { type BlockState, FATE_OF } from '../events/vocabulary.ts';

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
}

export class BlockCounts {
  readonly #states = new Map<string, BlockState>();

  /** Blocks of earlier runs are followed, too, but are not counted here: their first event has a previous state. */
  add({ blockHash, state, previous }: MinerEvent & { type: 'block-state' }): void {
    if (previous === undefined || this.#states.has(blockHash)) this.#states.set(blockHash, state);
  }

  /** Undefined while no block was recorded: then there may be no block log. */
  get accepted(): AcceptedBlocks | undefined {
    if (this.#states.size === 0) return undefined;
    const counts = { won: 0, settled: 0, orphaned: 0, pending: 0, unanswered: 0, lost: 0 };
    for (const state of this.#states.values()) {
      if (state === 'settled') counts.settled++;
      counts[FATE_OF[state]]++;
    }
    return counts;
  }
}
