/** The blocks in the block log, and the totals of blocks. Both are computed from the lines of the log. */

import type { Decimal } from '../../protocol/ledger/decimal.ts';
import type { Line, NotFollowed } from './block-lines.ts';
import { earnedBy, type ProvenReward, payeeInPlaceOf } from './block-reward.ts';
import { JUST_FOUND, type Standing, UNANSWERED } from './confirmations.ts';
import { BLOCK_STATES, type BlockFate, type BlockState, FATE_OF } from './fate.ts';
import type { BlockRecord } from './record.ts';

export interface TrackedBlock extends BlockRecord {
  readonly standing: Standing;
  /** The time at which the block entered its state: milliseconds since the UNIX epoch. */
  readonly sinceMs: number;
  /**
   * Present if the node refused the block, perhaps wrongly. Such a block is hidden until a node's chain has it, or a
   * node keeps it beside its chain.
   */
  readonly isRefused?: true;
  readonly reward?: ProvenReward;
  /**
   * What the block pays to an account other than its miner's, once this is proven. The block has then earned nothing.
   */
  readonly paidElsewhere?: ProvenReward;
  /** The last fault that was found in a node's answer about the block's reward. */
  readonly rewardFault?: string;
}

export function blockOf(record: BlockRecord): TrackedBlock {
  return { ...record, standing: record.isAnswered ? JUST_FOUND : UNANSWERED, sinceMs: record.foundMs };
}

/** Whether the block was refused and no node has shown it since. Hidden blocks are not shown to people. */
export function isHidden({ isRefused, standing: { state } }: Pick<TrackedBlock, 'isRefused' | 'standing'>): boolean {
  return isRefused === true && (state === 'unanswered' || state === 'lost');
}

const NONE_NOT_FOLLOWED: NotFollowed = { own: 0, relayed: 0, unanswered: 0 };

export class BlockIndex {
  readonly #blocks = new Map<string, TrackedBlock>();
  #searched = 0;
  #notFollowed = NONE_NOT_FOLLOWED;

  /** The blocks in the order in which they were found, without hidden blocks. */
  get blocks(): readonly TrackedBlock[] {
    return [...this.#blocks.values()].filter((block) => !isHidden(block));
  }

  get hiddenBlocks(): readonly TrackedBlock[] {
    return [...this.#blocks.values()].filter(isHidden);
  }

  /** @returns the block with this hash, even if it is hidden */
  block(hash: string): TrackedBlock | undefined {
    return this.#blocks.get(hash);
  }

  keepOnly(isKept: (block: TrackedBlock) => boolean): void {
    for (const block of this.#blocks.values()) if (!isKept(block)) this.#blocks.delete(block.hash);
  }

  /** Number of blocks to expect from some hashes of the rig's devices: those that no record in `blocks` counts. */
  get searchedExpectedBlocks(): number {
    // The hashes that the records of hidden blocks count are part of this number.
    return this.hiddenBlocks.reduce((sum, { expectedBlocks }) => sum + expectedBlocks, this.#searched);
  }

  get notFollowed(): NotFollowed {
    return this.#notFollowed;
  }

  /** Sets the sums to zero, before all lines are applied again. */
  restartSums(): void {
    this.#searched = 0;
    this.#notFollowed = NONE_NOT_FOLLOWED;
  }

  /**
   * Ignores lines about unknown blocks. Applying a line twice changes nothing, unless the line adds to a sum (`isSum`).
   */
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

function changeOf(
  block: TrackedBlock,
  line: Exclude<Line, { type: 'found' | 'searched' | 'not-followed' }>,
): Partial<TrackedBlock> {
  switch (line.type) {
    case 'answer': {
      const { answerSeconds } = line;
      if (line.outcome === 'refused') return { answerSeconds, isRefused: true };
      if (line.outcome === 'unanswered') return { answerSeconds };
      const isNew = block.standing.state === 'unanswered';
      return { isAnswered: true, answerSeconds, ...(isNew && { standing: JUST_FOUND }) };
    }
    case 'state':
      // `sinceMs` stays if the block is still in the same state and, for example, only its depth has changed.
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

/* The totals of several blocks. This is always true: accepted = won + orphaned + pending. */

export interface Totals {
  /** Blocks that a node has reported as accepted, or has shown on its chain or beside it. */
  readonly accepted: number;
  /** Blocks on the chain, including settled blocks. */
  readonly won: number;
  /** Accepted blocks in whose place the chain has another block, including those that no chain has ever had. */
  readonly orphaned: number;
  /** Accepted blocks that are not decided: pending, contested or unknown. */
  readonly pending: number;
  /**
   * Blocks whose answer was lost or has not come yet, as long as no chain shows whether a node accepted them. Blocks
   * that came too fast to be recorded are included if their answer was lost.
   */
  readonly unanswered: number;
  /**
   * Blocks whose answer was lost, and in whose place the chain has another block. No node that was asked keeps them.
   */
  readonly lost: number;
  readonly byState: Readonly<Record<BlockState, number>>;
  /** Orphaned ÷ decided (won and orphaned) blocks; undefined before the first decision. */
  readonly orphanRate: number | undefined;
  /** The proven earnings of the blocks on the chain. */
  readonly earned: Decimal;
  /** Number of blocks on the chain whose reward is not proven yet. */
  readonly unproven: number;
  /** Number of blocks on the chain that pay an account other than their miner's. They have earned nothing. */
  readonly paidElsewhere: number;
  /**
   * Accepted blocks that came too fast to be recorded. The counts above do not include them. `luck` includes those of
   * the rig's devices.
   */
  readonly notFollowed: number;
  /**
   * Number of blocks to expect from the hashes of the rig's devices. For a selection of blocks, only the hashes that
   * their records count.
   */
  readonly expectedBlocks: number;
  /** Accepted blocks of the rig's devices ÷ `expectedBlocks`; undefined while `expectedBlocks` is less than 1. */
  readonly luck: number | undefined;
  /** The median time from a New Cut to searching the new work; undefined if no block has this time. */
  readonly switchSeconds: number | undefined;
}

/**
 * @param searchedExpectedBlocks number of blocks to expect from hashes that no record in `blocks` counts; 0 if `blocks`
 *   is a selection
 * @param notFollowed zeros if `blocks` is a selection
 */
export function totalsOf(
  blocks: Iterable<TrackedBlock>,
  searchedExpectedBlocks = 0,
  notFollowed = NONE_NOT_FOLLOWED,
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

function countOf(blocks: readonly TrackedBlock[], state: BlockState): number {
  return blocks.filter(({ standing }) => standing.state === state).length;
}

function median(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
