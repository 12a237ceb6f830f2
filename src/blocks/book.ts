/** All blocks of the log with what has become of them, made from the lines of the block log. */

import type { Line, NotFollowed } from './lines.ts';
import type { BlockRecord } from './record.ts';
import { type ProvenReward, payeeInPlaceOf } from './reward.ts';
import { JUST_FOUND, type Standing, UNANSWERED } from './states.ts';

export interface Block extends BlockRecord {
  readonly standing: Standing;
  /** Since when it has been in its state: milliseconds since the UNIX epoch. */
  readonly sinceMs: number;
  /**
   * Present where the node said that it refused the block. That is only its word: the block is hidden, and counts as one only
   * once a node's chain has it or a node keeps it.
   */
  readonly isRefused?: true;
  /** What it earned, once that is proven. */
  readonly reward?: ProvenReward;
  /** What it pays to another account than its miner's, once that is proven: then it has earned nothing. */
  readonly paidElsewhere?: ProvenReward;
  /** What is false in a node's last answer about its reward. */
  readonly rewardFault?: string;
}

/** A block that a node has said nothing of yet, or has accepted. */
export function blockOf(record: BlockRecord): Block {
  return { ...record, standing: record.isAnswered ? JUST_FOUND : UNANSWERED, sinceMs: record.foundMs };
}

/** Whether the block was refused and no node has shown it since: then it is no block for people. */
export function isHidden({ isRefused, standing: { state } }: Pick<Block, 'isRefused' | 'standing'>): boolean {
  return isRefused === true && (state === 'unanswered' || state === 'lost');
}

export class Book {
  readonly #blocks = new Map<string, Block>();
  #searched = 0;
  #notFollowed: NotFollowed = { own: 0, relayed: 0, unanswered: 0 };

  /** In the order in which they were found. */
  get blocks(): readonly Block[] {
    return [...this.#blocks.values()].filter((block) => !isHidden(block));
  }

  /** Those that were refused and that no node has shown since. */
  get hiddenBlocks(): readonly Block[] {
    return [...this.#blocks.values()].filter(isHidden);
  }

  /** @returns the block of that hash, hidden ones included */
  block(hash: string): Block | undefined {
    return this.#blocks.get(hash);
  }

  /** Forgets all other blocks. */
  keepOnly(isKept: (block: Block) => boolean): void {
    for (const block of this.#blocks.values()) if (!isKept(block)) this.#blocks.delete(block.hash);
  }

  /** How many blocks the rig had to expect from what it hashed, apart from what stands in the records of `blocks`. */
  get searchedExpectedBlocks(): number {
    // What was hashed for a refused block was hashed all the same.
    return this.hiddenBlocks.reduce((sum, { expectedBlocks }) => sum + expectedBlocks, this.#searched);
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
      this.#blocks.set(record.hash, blockOf(record));
      return;
    }
    const block = this.#blocks.get(line.hash);
    if (!block) return;
    this.#blocks.set(line.hash, { ...block, ...changeOf(block, line) });
  }
}

function changeOf(block: Block, line: Exclude<Line, { type: 'found' | 'searched' | 'not-followed' }>): Partial<Block> {
  switch (line.type) {
    case 'answer': {
      const { answerSeconds } = line;
      if (line.outcome === 'refused') return { answerSeconds, isRefused: true };
      if (line.outcome === 'unanswered') return { answerSeconds };
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
