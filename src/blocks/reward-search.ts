/** Seeks a payload that proves what a block has earned. Nodes may not have it yet, or may give a false one: they are asked again. */

import { parseHeader } from '../ledger/header.ts';
import type { Clock } from '../system/clock.ts';
import type { Block } from './book.ts';
import type { LedgerView } from './ledger-view.ts';
import { type ProvenReward, proveReward, RewardFault } from './reward.ts';

/** Between two searches for the same payload. The wait doubles each time. */
const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 3_600_000;

interface Wait {
  readonly waitMs: number;
  readonly untilMs: number;
}

/** Both are absent while no node has the payload, and while it is too early to search again. */
export interface Found {
  readonly reward?: ProvenReward;
  /** What a node gave in place of the payload, with the node's name, for people. */
  readonly fault?: string;
}

export class RewardSearch {
  readonly #clock: Clock;
  /** By the block's hash. */
  readonly #waits = new Map<string, Wait>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Asks the nodes as `seekReward` does, unless they were asked a short time ago. */
  async seek(block: Block, views: readonly LedgerView[], stop: AbortSignal): Promise<Found> {
    const nowMs = this.#clock.monotonicMs();
    const earlier = this.#waits.get(block.hash);
    if (earlier && nowMs < earlier.untilMs) return {};
    const found = await seekReward(block, views, stop);
    const waitMs = earlier ? Math.min(2 * earlier.waitMs, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
    if (found.reward) this.forget(block);
    else this.#waits.set(block.hash, { waitMs, untilMs: nowMs + waitMs });
    return found;
  }

  forget({ hash }: Pick<Block, 'hash'>): void {
    this.#waits.delete(hash);
  }
}

/** Asks one node after the other, until one has a payload that proves the reward. Never throws for what nodes do. */
export async function seekReward(block: Block, views: readonly LedgerView[], stop: AbortSignal): Promise<Found> {
  const { payloadHash } = parseHeader(block.header);
  let fault: string | undefined;
  for (const view of views) {
    try {
      const payload = await view.payloadWithOutputs(block.chain, payloadHash, block.height, stop);
      if (payload) return { reward: proveReward(block, payload) };
    } catch (error) {
      // A node that does not answer is asked again, like one that does not have the payload.
      if (error instanceof RewardFault) fault ??= `${view.node}: ${error.message}`;
    }
  }
  return fault === undefined ? {} : { fault };
}
