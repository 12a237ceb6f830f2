/**
 * Records each block that is sent to a node, and follows what becomes of it, whatever the node answers: that is only its word.
 * Mining waits for none of this. A node whose block is proven to pay another account is left.
 */

import { type Block, blockOf, isHidden } from '../blocks/book.ts';
import { type Change, Follower, paceAt } from '../blocks/follower.ts';
import type { Store } from '../blocks/memory-store.ts';
import type { Keyset } from '../blocks/record.ts';
import { isNameOfKey, payeeInPlaceOf } from '../blocks/reward.ts';
import { JUST_FOUND, ON_CHAIN, type Standing } from '../blocks/states.ts';
import { describeStanding } from '../blocks/words.ts';
import type { Config } from '../config/settings.ts';
import { type BlockEvent, isBlockEvent, type MinerEvent } from '../events/events.ts';
import { formatDecimal } from '../ledger/decimal.ts';
import type { RunningMiner } from '../report/running-miner.ts';
import { LEFT } from '../source/vocabulary.ts';
import { LogBucket } from '../system/log-bucket.ts';
import { oneLine } from '../text/one-line.ts';
import { BlockRecorder, MOST_PER_MINUTE } from './block-recorder.ts';
import { type LedgerViews, openLedgerViews } from './ledger-views.ts';
import type { ApiSettings } from './node-api.ts';

const TAG = { tag: 'block' } as const;
/** How long a chain takes for a block on average, on the networks that are known. */
const BLOCK_SECONDS = 30;
/** A rig follows far fewer: each is watched for an hour. */
const MOST_FOLLOWED = 10_000;
/** How often it is written how many were only counted. */
const COUNTS_MS = 60_000;
const MAX_NAME = 300;

export interface BlockLog {
  /** Takes all events; a few types of them are of interest. */
  hear(event: MinerEvent): void;
  /** Stops to follow, and writes what is not written yet. */
  end(): Promise<void>;
}

export interface BlockLogOptions {
  readonly settings: Config['blocks'];
  /** Whom the blocks are mined for. */
  readonly account: string;
  /** The keys of that account. Without them only names are compared. */
  readonly keyset?: Keyset;
  /**
   * Called when it is proven that a node's work was for another account.
   * @param node its name
   * @param reason what follows its name in a sentence
   */
  readonly leave?: (node: string, reason: string) => void;
  /** The nodes to ask, and how they are spoken to. */
  readonly node: Config['node'];
  readonly ledger: Config['ledger'];
  /** Opens the views of the nodes. Tests have views of their own. */
  readonly openViews?: (settings: ApiSettings) => LedgerViews;
  /** How many times as fast the chains grow as those of real networks; 1 by default. */
  readonly speed?: number;
  /** How long the end may wait until it is known what became of the last blocks; by default it does not. */
  readonly lastLooksMs?: number;
}

/** @param store where blocks are recorded */
export function startBlockLog(running: RunningMiner, store: Store, options: BlockLogOptions): BlockLog {
  const { settings, account, keyset, node, ledger, leave, openViews = openLedgerViews } = options;
  const { speed = 1, lastLooksMs = 0 } = options;
  const { settledDepth } = settings;
  const told = { settledDepth, blockSeconds: BLOCK_SECONDS / speed };
  const { events, tally, clock, log } = running;
  const { emit } = events;
  const { views, close } = openViews({ node, ledger });
  const follower = new Follower({
    views,
    store,
    settledDepth,
    clock,
    pace: paceAt(speed),
    forgets: true,
    changed: (change) => {
      emit(eventOf(change, told));
      if (change.what !== 'paid-elsewhere' || change.isEarlier) return;
      const payee = oneLine(change.payee, MAX_NAME);
      leave?.(change.block.node, `works for ${payee} and not for ${account}, so it is ${LEFT}`);
    },
    nodeNews: (node, fault) => {
      log.debug(TAG, fault === undefined ? `${node} tells about blocks again` : `${node} cannot be asked: ${fault}`);
    },
  });
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
  const counting = setInterval(() => recorder.writeCounts(), COUNTS_MS);
  counting.unref();
  /** Blocks that are being sent at this moment. */
  const leaving: (() => void)[] = [];
  const takeLeaving = () => {
    for (const take of leaving.splice(0)) orSay(take);
  };
  const orSay = (act: () => void) => {
    try {
      act();
    } catch (fault) {
      if (faults.take(clock.monotonicMs()) === undefined) return;
      log.error(TAG, `the block cannot be recorded: ${(fault as Error).message}`);
    }
  };
  const answered = (event: Exclude<BlockEvent, { type: 'sent-block' }>) => {
    const block = recorder.answered(event);
    if (!block) {
      const isRefused = event.type === 'refused-block';
      follower.lookAtPayee(event.source, isRefused, () => blockOf(recorder.unrecorded(event)));
      return;
    }
    const added = store.block(block.hash)!;
    if (!isHidden(added)) emit(stateEvent(added, undefined, told));
    follower.add(added);
  };
  const stopping = new AbortController();
  const following = follower.run(stopping.signal).catch((fault) => {
    log.error(TAG, `blocks are not followed any more, please report it: ${(fault as Error).stack}`);
  });
  return {
    hear: (event) => {
      if (event.type === 'job-switch') recorder.switched(event);
      if (!isBlockEvent(event)) return;
      if (event.type === 'sent-block') {
        // It is recorded once its first bytes have left, and in any case before its answer.
        setImmediate(takeLeaving);
        leaving.push(() => {
          const block = recorder.sent(event);
          if (block) follower.expect(block);
        });
        return;
      }
      takeLeaving();
      orSay(() => answered(event));
    },
    end: async () => {
      stopping.abort();
      await following;
      await decideWithin(follower, lastLooksMs);
      clearInterval(counting);
      takeLeaving();
      recorder.end();
      await store.close();
      await close();
    },
  };
}

async function decideWithin(follower: Follower, ms: number): Promise<void> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), ms);
  if (ms > 0) await follower.decide(ending.signal);
  clearTimeout(timer);
}

const TOO_MANY =
  `blocks are sent faster than ${MOST_PER_MINUTE} a minute: those beyond are counted, and it is not followed what becomes ` +
  'of them';

/** What events say of a network beside its blocks. */
interface Network {
  readonly settledDepth: number;
  /** How long a chain takes for a block on average. */
  readonly blockSeconds: number;
}

/** @returns the event that reports a change */
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

function stateEvent(block: Block, before: Standing | undefined, { settledDepth, blockSeconds }: Network): MinerEvent {
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

function aboutBlock({ chain, height, hash: blockHash, device, isRelay }: Block) {
  return { chain, height, blockHash, device, isRelay };
}

/** What a block has earned. One that is not on its chain has earned nothing, even if it is known what it would have paid. */
function amountsOf(block: Block): { reward?: string; fees?: string; paidTo?: string } {
  const { standing, reward: proven, paidElsewhere } = block;
  if (!ON_CHAIN.includes(standing.state)) return {};
  if (paidElsewhere) return { paidTo: oneLine(payeeInPlaceOf(block, paidElsewhere)!, MAX_NAME) };
  if (!proven) return {};
  const { reward, fees } = proven;
  return { ...(reward !== undefined && { reward: formatDecimal(reward) }), fees: formatDecimal(fees) };
}
