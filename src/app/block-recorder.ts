/**
 * Writes blocks to the block log: each when it is sent, so that one that a node has accepted is there even if this process ends
 * before the answer, and then the answer. Blocks that come too fast are only counted.
 */

import type { AnswerOutcome, NotFollowed } from '../blocks/lines.ts';
import type { Store } from '../blocks/memory-store.ts';
import { type BlockRecord, type FoundBlock, recordOf } from '../blocks/record.ts';
import type { BlockEvent, MinerEvent } from '../events/events.ts';
import type { Tally } from '../report/tally.ts';
import { type Clock, wallMs } from '../system/clock.ts';
import { TokenBucket } from '../system/token-bucket.ts';

/**
 * Blocks beyond this rate are counted without a record of their own, so that a node that accepts everything does not fill the disk.
 * Ten a minute is a quarter of what all miners of a network of 20 chains find together.
 */
const MOST_AT_ONCE = 1_000;
export const MOST_PER_MINUTE = 10;

type SentEvent = MinerEvent & { type: 'sent-block' };
type AnsweredEvent = Exclude<BlockEvent, SentEvent>;

export interface BlockRecorderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly tally: Pick<Tally, 'summary'>;
  /** Whom blocks are mined for. */
  readonly miner: Pick<BlockRecord, 'account' | 'keyset'>;
  /** @returns the network of the node of this name */
  readonly networkOf: (node: string) => string;
  /** Whether no more blocks can be followed for now. */
  readonly isFull: () => boolean;
  /** Called for each block that is only counted. */
  readonly leftOut: () => void;
  /** How many times as fast the chains grow as those of real networks. */
  readonly speed: number;
}

export class BlockRecorder {
  readonly #options: BlockRecorderOptions;
  readonly #allowance: TokenBucket;
  /** From the last New Cut to searching the new work, by device. */
  readonly #switches = new Map<string, number>();
  /** The blocks that are under way, by the bytes of their headers; undefined for those that are only counted. */
  readonly #sent = new Map<string, BlockRecord | undefined>();
  /** The expected blocks that stand in records already. */
  #recorded = 0;
  #notFollowed = NONE;

  constructor(options: BlockRecorderOptions) {
    this.#options = options;
    const { speed, clock } = options;
    this.#allowance = new TokenBucket(MOST_AT_ONCE, (speed * MOST_PER_MINUTE) / 60, clock.monotonicMs());
  }

  switched({ device, switchSeconds }: MinerEvent & { type: 'job-switch' }): void {
    this.#switches.set(device, switchSeconds);
  }

  /** @returns the record; undefined for a block that is only counted @throws LedgerFormatError when the header is not one */
  sent(event: SentEvent): BlockRecord | undefined {
    const block = this.#record(event, false, 0);
    this.#sent.set(keyOf(event), block);
    return block;
  }

  /**
   * @returns the block that is to be followed, refused ones included; undefined for one that is not recorded,
   * which is counted unless it was refused
   * @throws LedgerFormatError when the header is not one
   */
  answered(event: AnsweredEvent): BlockRecord | undefined {
    const { answerSeconds } = event;
    const outcome = OUTCOMES[event.type];
    const key = keyOf(event);
    const wasSent = this.#sent.has(key);
    const block = wasSent ? this.#sent.get(key) : this.#record(event, outcome === 'accepted', answerSeconds);
    this.#sent.delete(key);
    const isAnswerNews = wasSent || outcome === 'refused';
    if (block && isAnswerNews) this.#options.store.add({ type: 'answer', hash: block.hash, outcome, answerSeconds });
    if (!block && outcome !== 'refused') this.#notFollowed = plus(this.#notFollowed, event);
    return block;
  }

  /** @returns the record of a block that is only counted, without what was hashed for it @throws LedgerFormatError */
  unrecorded(event: AnsweredEvent): BlockRecord {
    return recordOf(this.#found(event, event.type === 'accepted-block', event.answerSeconds, 0));
  }

  /** Writes how many blocks were only counted since the last time. */
  writeCounts(): void {
    if (this.#notFollowed !== NONE) this.#options.store.add({ type: 'not-followed', ...this.#notFollowed });
    this.#notFollowed = NONE;
  }

  /** To be called at the end: writes what stands in no record. */
  end(): void {
    this.writeCounts();
    const rest = this.#options.tally.summary().expectedBlocks - this.#recorded;
    if (rest > 0) this.#options.store.add({ type: 'searched', expectedBlocks: rest });
  }

  #record(event: BlockEvent, isAnswered: boolean, answerSeconds: number): BlockRecord | undefined {
    const { store, clock, tally, isFull, leftOut } = this.#options;
    if (isFull() || !this.#allowance.take(1, clock.monotonicMs())) {
      leftOut();
      return undefined;
    }
    const { expectedBlocks } = tally.summary();
    const block = recordOf(this.#found(event, isAnswered, answerSeconds, expectedBlocks - this.#recorded));
    this.#recorded = expectedBlocks;
    store.add({ type: 'found', record: block });
    return block;
  }

  #found(event: BlockEvent, isAnswered: boolean, answerSeconds: number, expectedBlocks: number): FoundBlock {
    const { clock, miner, networkOf } = this.#options;
    const { header, source: node, device, isRelay, difficulty } = event;
    const switchSeconds = this.#switches.get(device);
    return {
      header,
      foundMs: wallMs(clock),
      network: networkOf(node),
      node,
      isAnswered,
      ...miner,
      device,
      isRelay,
      difficulty,
      answerSeconds,
      ...(switchSeconds !== undefined && { switchSeconds }),
      expectedBlocks,
    };
  }
}

const OUTCOMES = {
  'accepted-block': 'accepted',
  'unanswered-block': 'unanswered',
  'refused-block': 'refused',
} as const satisfies Record<AnsweredEvent['type'], AnswerOutcome>;

const NONE: NotFollowed = { own: 0, relayed: 0, unanswered: 0 };

function plus({ own, relayed, unanswered }: NotFollowed, { type, isRelay }: AnsweredEvent): NotFollowed {
  if (type === 'unanswered-block') return { own, relayed, unanswered: unanswered + 1 };
  return isRelay ? { own, relayed: relayed + 1, unanswered } : { own: own + 1, relayed, unanswered };
}

function keyOf({ header }: BlockEvent): string {
  return Buffer.from(header).toString('latin1');
}
