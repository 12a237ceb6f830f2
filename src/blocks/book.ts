/** All blocks of the log with what has become of them, made from the lines of the block log. */

import type { Line, NotFollowed } from './lines.ts';
import type { BlockRecord } from './record.ts';
import { type ProvenReward, payeeInPlaceOf } from './reward.ts';
import { JUST_FOUND, type Standing, UNANSWERED } from './states.ts';

export interface Block extends BlockRecord {
  readonly standing: Standing;
  /** Since when it has been in its state: milliseconds since the UNIX epoch. */
  readonly sinceMs: number;
  /** What it earned, once that is proven. */
  readonly reward?: ProvenReward;
  /** What it pays to another account than its miner's, once that is proven: then it has earned nothing. */
  readonly paidElsewhere?: ProvenReward;
  /** What is false in a node's last answer about its reward. */
  readonly rewardFault?: string;
}

export class Book {
  readonly #blocks = new Map<string, Block>();
  #searched = 0;
  #notFollowed: NotFollowed = { own: 0, relayed: 0, unanswered: 0 };

  /** In the order in which they were found. */
  get blocks(): Iterable<Block> {
    return this.#blocks.values();
  }

  get size(): number {
    return this.#blocks.size;
  }

  block(hash: string): Block | undefined {
    return this.#blocks.get(hash);
  }

  /** Forgets all other blocks. */
  keepOnly(isKept: (block: Block) => boolean): void {
    for (const block of this.#blocks.values()) if (!isKept(block)) this.#blocks.delete(block.hash);
  }

  /** How many blocks the rig had to expect from what it hashed, apart from what stands in the records. */
  get searchedExpectedBlocks(): number {
    return this.#searched;
  }

  /** How many blocks came faster than they are recorded. */
  get notFollowed(): NotFollowed {
    return this.#notFollowed;
  }

  /** Lines about a block that has none are without effect. The same line again changes nothing, unless it changes sums. */
  apply(line: Line): void {
    if (line.type === 'searched') {
      this.#searched += line.expectedBlocks;
      return;
    }
    if (line.type === 'not-followed') {
      const { own, relayed, unanswered } = this.#notFollowed;
      this.#notFollowed = {
        own: own + line.own,
        relayed: relayed + line.relayed,
        unanswered: unanswered + line.unanswered,
      };
      return;
    }
    if (line.type === 'found') {
      const { record } = line;
      if (this.#blocks.has(record.hash)) return;
      const standing = record.isAnswered ? JUST_FOUND : UNANSWERED;
      this.#blocks.set(record.hash, { ...record, standing, sinceMs: record.foundMs });
      return;
    }
    const block = this.#blocks.get(line.hash);
    if (!block) return;
    if (line.type === 'answer' && line.outcome === 'refused') {
      // What was hashed for it was hashed all the same.
      this.#searched += block.expectedBlocks;
      this.#blocks.delete(line.hash);
      return;
    }
    this.#blocks.set(line.hash, { ...block, ...changeOf(block, line) });
  }
}

function changeOf(block: Block, line: Exclude<Line, { type: 'found' | 'searched' | 'not-followed' }>): Partial<Block> {
  switch (line.type) {
    case 'answer': {
      const { answerSeconds } = line;
      if (line.outcome !== 'accepted') return { answerSeconds };
      const isNew = block.standing.state === 'unanswered';
      return { isAnswered: true, answerSeconds, ...(isNew && { standing: JUST_FOUND }) };
    }
    case 'state':
      // What only deepens a state does not begin it anew.
      return {
        standing: line.standing,
        sinceMs: line.standing.state === block.standing.state ? block.sinceMs : line.atMs,
      };
    case 'reward':
      return payeeInPlaceOf(block, line.reward) === undefined
        ? { reward: line.reward }
        : { paidElsewhere: line.reward };
    case 'reward-fault':
      return { rewardFault: line.fault };
  }
}
