/** Counts verdicts: of blocks, and of shares, which a pool takes as proofs of work. A share that is a block counts as both. */

import type { MinerEvent } from '../events/events.ts';
import { OUTCOMES, type Outcome } from '../source/vocabulary.ts';

/** How many solutions had each outcome. */
export type OutcomeCounts = Readonly<Record<Outcome, number>>;

export type ShareCounts = OutcomeCounts & {
  /** How many hashes the accepted shares stand for: the sum of their works' difficulties. */
  readonly acceptedHashes: number;
};

export class VerdictCounts {
  readonly #blocks = none();
  readonly #shares = none();
  #acceptedHashes = 0;

  add({ outcome, isBlock, isShare, difficulty }: MinerEvent & { type: 'verdict' }): void {
    if (isBlock) this.#blocks[outcome]++;
    if (!isShare) return;
    this.#shares[outcome]++;
    if (outcome === 'accepted') this.#acceptedHashes += difficulty;
  }

  get blocks(): OutcomeCounts {
    return { ...this.#blocks };
  }

  get shares(): ShareCounts {
    return { ...this.#shares, acceptedHashes: this.#acceptedHashes };
  }
}

function none(): Record<Outcome, number> {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
}
