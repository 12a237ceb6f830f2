/**
 * Records the blocks that are sent to nodes. Blocks beyond a limit are only counted. Each recorded block is followed,
 * whatever the node answers, because an answer proves nothing. The miner leaves a node when a block of that node's work
 * is proven to pay another account.
 */

import { BoundedSet, LogBucket, TokenBucket } from '../../base/system/bounded.ts';
import { type Clock, wallMs } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { type BlockEvent, isBlockEvent, type MinerEvent } from '../../miner/events/events.ts';
import { LEFT } from '../../miner/events/vocabulary.ts';
import { blockOf, isHidden, type TrackedBlock } from '../../node/blocks/block-index.ts';
import type { AnswerOutcome, NotFollowed } from '../../node/blocks/block-lines.ts';
import type { Store } from '../../node/blocks/block-log.ts';
import { isNameOfKey, payeeInPlaceOf } from '../../node/blocks/block-reward.ts';
import { describeStanding, JUST_FOUND, ON_CHAIN, type Standing } from '../../node/blocks/confirmations.ts';
import { type Change, Follower, paceAt } from '../../node/blocks/follower.ts';
import { type BlockRecord, type FoundBlock, type Keyset, recordOf } from '../../node/blocks/record.ts';
import { formatDecimal } from '../../protocol/ledger/decimal.ts';
import type { RunningMiner } from '../../rig/running-miner.ts';
import type { Tally } from '../../rig/status/tally.ts';
import type { Config } from '../config/settings.ts';
import { type LedgerViews, openLedgerViews } from '../nodes/ledger-views.ts';
import type { ApiSettings } from '../nodes/node-clients.ts';

/* A block is recorded when it is sent, so that its record exists even if the process ends before the node answers. */

/** Maximum number of blocks recorded in a burst. Further blocks are only counted, so that they cannot fill the disk. */
const MOST_AT_ONCE = 1_000;
/**
 * Maximum number of blocks recorded per minute after a burst. A network with 20 chains has 40 new blocks per minute,
 * and few miners find a quarter of them.
 */
const MOST_PER_MINUTE = 10;

type SentEvent = MinerEvent & { type: 'sent-block' };
type AnsweredEvent = Exclude<BlockEvent, SentEvent>;

export interface BlockRecorderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly tally: Pick<Tally, 'summary'>;
  /** The account that the blocks should pay. */
  readonly miner: Pick<BlockRecord, 'account' | 'keyset'>;
  readonly networkOf: (node: string) => string;
  /** Whether the maximum number of blocks is being followed. */
  readonly isFull: () => boolean;
  /** Called for each block that is only counted. */
  readonly leftOut: () => void;
  readonly speed: number;
}

export class BlockRecorder {
  readonly #options: BlockRecorderOptions;
  readonly #allowance: TokenBucket;
  /** `switchSeconds` of each device's last `job-switch` event, by the device's name. */
  readonly #switches = new Map<string, number>();
  /** Records of blocks without an answer yet, by the header's bytes; undefined for a block that is only counted. */
  readonly #sent = new Map<string, BlockRecord | undefined>();
  /** The tally's `expectedBlocks` at the last record. Each record has only the increase since the record before it. */
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

  /**
   * Records a block that is being sent.
   * @returns the record; undefined if the block is only counted @throws LedgerFormatError when the header is not valid
   */
  sent(event: SentEvent): BlockRecord | undefined {
    const block = this.#record(event, false, 0);
    this.#sent.set(keyOf(event), block);
    return block;
  }

  /**
   * Records a node's answer to a block.
   * @returns the block, to be followed even if it was refused; undefined if the block is only counted
   * @throws LedgerFormatError when the header is not valid
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

  /**
   * Makes the record of a block that is only counted, and does not store it.
   * @throws LedgerFormatError when the header is not valid
   */
  unrecorded(event: AnsweredEvent): BlockRecord {
    return recordOf(this.#found(event, event.type === 'accepted-block', event.answerSeconds, 0));
  }

  /** Writes how many blocks since the last call were counted and not recorded. Refused blocks do not count. */
  writeCounts(): void {
    if (this.#notFollowed !== NONE) this.#options.store.add({ type: 'not-followed', ...this.#notFollowed });
    this.#notFollowed = NONE;
  }

  /**
   * Writes the counts, and the number of blocks to expect from the hashes since the last record. Must be called before
   * the store closes.
   */
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

const TAG = { tag: 'block' } as const;
/** Average time between two blocks of a chain, on known networks. */
const BLOCK_SECONDS = 30;
/** Maximum number of blocks that are followed at the same time. Most blocks are followed for an hour. */
const MOST_FOLLOWED = 10_000;
/** Time between two calls of `writeCounts`. */
const COUNTS_MS = 60_000;
const MAX_NAME = 300;

export interface BlockLog {
  record(event: MinerEvent): void;
  end(): Promise<void>;
}

export interface BlockLogOptions {
  readonly settings: Config['blocks'];
  readonly account: string;
  /** The account's keys. Without them, a payee is compared with the account by name only. */
  readonly keyset?: Keyset;
  /**
   * Called when a node's work is proven to be for another account. `reason` continues a sentence that begins with the
   * node's name.
   */
  readonly leave?: (node: string, reason: string) => void;
  readonly node: Config['node'];
  readonly ledger: Config['ledger'];
  /** Opens views of the nodes' ledgers; replaced by tests. */
  readonly openViews?: (settings: ApiSettings) => LedgerViews;
  /** Factor by which the chains grow faster than those of real networks; 1 by default. */
  readonly speed?: number;
  /** Maximum time to wait at the end for the states of the last blocks; 0 by default. */
  readonly lastLooksMs?: number;
}

export function startBlockLog(running: RunningMiner, store: Store, options: BlockLogOptions): BlockLog {
  const { settings, account, keyset, node, ledger, leave, openViews = openLedgerViews } = options;
  const { speed = 1, lastLooksMs = 0 } = options;
  const { settledDepth } = settings;
  const network = { settledDepth, blockSeconds: BLOCK_SECONDS / speed };
  const { events, tally, clock, log } = running;
  const { emit } = events;
  const { views, close } = openViews({ node, ledger });
  const follower = new Follower({
    views,
    store,
    settledDepth,
    clock,
    pace: paceAt(speed),
    dropsFinished: true,
    changed: (change) => {
      if (change.what === 'paid-elsewhere' && elsewhere.has(change.block.hash)) return;
      emit(eventOf(change, network));
      if (change.what !== 'paid-elsewhere' || change.isEarlier) return;
      const payee = oneLine(change.payee, MAX_NAME);
      leave?.(change.block.node, `works for ${payee} and not for ${account}, so it is ${LEFT}`);
    },
    nodeNews: (node, fault) => {
      log.debug(TAG, fault === undefined ? `${node} answers about blocks again` : `${node} cannot be asked: ${fault}`);
    },
  });
  /**
   * Hashes of recent blocks whose work was not from the configured nodes. If such a block pays another account, no
   * configured node is at fault.
   */
  const elsewhere = new BoundedSet<string>(MOST_FOLLOWED);
  const warnings = new LogBucket(1, clock.monotonicMs());
  const faults = new LogBucket(5, clock.monotonicMs());
  const recorder = new BlockRecorder({
    store,
    clock,
    tally,
    miner: { account, ...(keyset && !isNameOfKey(account) && { keyset }) },
    networkOf: (node) => (views.find((view) => view.node === node) ?? views[0]).network,
    isFull: () => follower.size >= MOST_FOLLOWED,
    leftOut: () => {
      if (warnings.take(clock.monotonicMs()) !== undefined) log.warn(TAG, TOO_MANY);
    },
    speed,
  });
  const counting = clock.setInterval(() => recorder.writeCounts(), COUNTS_MS);
  counting.unref();
  /** Functions that have not run yet. Each records a block that is being sent. */
  const leaving: (() => void)[] = [];
  const takeLeaving = () => {
    for (const take of leaving.splice(0)) orLog(take);
  };
  const orLog = (act: () => void) => {
    try {
      act();
    } catch (fault) {
      if (faults.take(clock.monotonicMs()) === undefined) return;
      log.error(TAG, `the block cannot be recorded: ${(fault as Error).message}`);
    }
  };
  const answered = (event: Exclude<BlockEvent, { type: 'sent-block' }>) => {
    const block = recorder.answered(event);
    if (event.isElsewhere) {
      if (!block) return;
      elsewhere.add(block.hash);
    }
    if (!block) {
      const isRefused = event.type === 'refused-block';
      follower.lookAtPayee(event.source, isRefused, () => blockOf(recorder.unrecorded(event)));
      return;
    }
    const added = store.block(block.hash)!;
    if (!isHidden(added)) emit(stateEvent(added, undefined, network));
    follower.add(added);
  };
  const stopping = new AbortController();
  const following = follower.run(stopping.signal).catch((fault) => {
    log.error(TAG, `blocks are not followed any more, please report it: ${(fault as Error).stack}`);
  });
  return {
    record: (event) => {
      if (event.type === 'job-switch') recorder.switched(event);
      if (!isBlockEvent(event)) return;
      // The rigs of a fleet can send any number of made-up blocks of another coordinator's work. Only a block that a
      // node has accepted is certain to have proof of work.
      if (event.isElsewhere && event.type !== 'accepted-block') return;
      if (event.type === 'sent-block') {
        // The block is recorded after its first bytes have been sent, and always before its answer is recorded.
        clock.setImmediate(takeLeaving);
        leaving.push(() => {
          const block = recorder.sent(event);
          if (block) follower.expect(block);
        });
        return;
      }
      takeLeaving();
      orLog(() => answered(event));
    },
    end: async () => {
      stopping.abort();
      await following;
      await decideWithin(clock, follower, lastLooksMs);
      counting.cancel();
      takeLeaving();
      recorder.end();
      await store.close();
      await close();
    },
  };
}

async function decideWithin(clock: Clock, follower: Follower, ms: number): Promise<void> {
  const ending = new AbortController();
  const timer = clock.setTimeout(() => ending.abort(), ms);
  if (ms > 0) await follower.decide(ending.signal);
  timer.cancel();
}

const TOO_MANY =
  `blocks are sent faster than ${MOST_PER_MINUTE} a minute: those beyond are counted, and it is not followed what becomes ` +
  'of them';

interface Network {
  readonly settledDepth: number;
  readonly blockSeconds: number;
}

function eventOf(change: Change, network: Network): MinerEvent {
  const { block } = change;
  if (change.what === 'state') {
    return { ...stateEvent(block, change.before, network), ...(change.isEarlier && { isEarlier: true }) };
  }
  const about = { type: 'block-reward', ...aboutBlock(block) } as const;
  switch (change.what) {
    case 'reward':
      return { ...about, ...amountsOf(block) };
    case 'reward-fault':
      return { ...about, fault: change.fault };
    case 'paid-elsewhere': {
      const { account, node: source } = block;
      const paidTo = oneLine(change.payee, MAX_NAME);
      return { ...about, paidTo, account, source, ...(change.isEarlier && { isEarlier: true }) };
    }
  }
}

function stateEvent(
  block: TrackedBlock,
  before: Standing | undefined,
  { settledDepth, blockSeconds }: Network,
): MinerEvent {
  const { standing } = block;
  const missing = Math.max(0, settledDepth - standing.depth);
  return {
    type: 'block-state',
    ...aboutBlock(block),
    state: standing.state,
    ...(before && { previous: before.state }),
    depth: standing.depth,
    nodesDisagree: standing.nodesDisagree,
    settledDepth,
    ...(standing.state === 'won' && { settledInSeconds: missing * blockSeconds }),
    ...amountsOf(block),
    reason: describeStanding(standing, before ?? JUST_FOUND, block.isRefused),
  };
}

function aboutBlock({ chain, height, hash: blockHash, device, isRelay }: TrackedBlock) {
  return { chain, height, blockHash, device, isRelay };
}

/**
 * @returns the proven reward and fees of a block, or the other account that it pays; nothing if none of these is
 *   proven, or if the block is not on its chain
 */
function amountsOf(block: TrackedBlock): { reward?: string; fees?: string; paidTo?: string } {
  const { standing, reward: proven, paidElsewhere } = block;
  if (!ON_CHAIN.includes(standing.state)) return {};
  if (paidElsewhere) return { paidTo: oneLine(payeeInPlaceOf(block, paidElsewhere)!, MAX_NAME) };
  if (!proven) return {};
  const { reward, fees } = proven;
  return { ...(reward !== undefined && { reward: formatDecimal(reward) }), fees: formatDecimal(fees) };
}
