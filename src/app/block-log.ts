/**
 * Records each block that a node accepts, or whose answer is lost, and follows what becomes of it. Mining waits for none of
 * this.
 */

import type { Block } from '../blocks/book.ts';
import { type Change, Follower, paceAt } from '../blocks/follower.ts';
import type { Store } from '../blocks/memory-store.ts';
import { type FoundBlock, recordOf } from '../blocks/record.ts';
import { JUST_FOUND, type Standing } from '../blocks/states.ts';
import { describeStanding } from '../blocks/words.ts';
import type { Config } from '../config/settings.ts';
import { type BlockEvent, isBlockEvent, type MinerEvent } from '../events/events.ts';
import { formatDecimal } from '../ledger/decimal.ts';
import type { RunningMiner } from '../report/running-miner.ts';
import { wallMs } from '../system/clock.ts';
import { type LedgerViews, openLedgerViews } from './ledger-views.ts';
import type { ApiSettings } from './node-api.ts';

const TAG = { tag: 'block' } as const;
/** How long a chain takes for a block on average, on the networks that are known. */
const BLOCK_SECONDS = 30;

export interface BlockLog {
  /** Takes all events; three types of them are of interest. */
  hear(event: MinerEvent): void;
  /** Stops to follow, and writes what is not written yet. */
  end(): Promise<void>;
}

export interface BlockLogOptions {
  readonly settings: Config['blocks'];
  /** Whom the blocks are mined for. */
  readonly account: string;
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
  const { settings, account, node, ledger, openViews = openLedgerViews, speed = 1, lastLooksMs = 0 } = options;
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
    changed: (change) => emit(eventOf(change, told)),
    nodeNews: (node, fault) => {
      log.debug(TAG, fault === undefined ? `${node} tells about blocks again` : `${node} cannot be asked: ${fault}`);
    },
  });
  const switches = new Map<string, number>();
  /** The expected blocks that stand in records already. */
  let recorded = 0;
  const record = (event: BlockEvent) => {
    const { expectedBlocks } = tally.summary();
    const found = { ...foundBlock(event), foundMs: wallMs(clock), account, expectedBlocks: expectedBlocks - recorded };
    const { network } = views.find(({ node }) => node === event.source) ?? views[0];
    const switchSeconds = switches.get(event.device);
    const block = recordOf({ ...found, network, ...(switchSeconds !== undefined && { switchSeconds }) });
    recorded = expectedBlocks;
    store.add({ type: 'found', record: block });
    const added = store.block(block.hash)!;
    emit(stateEvent(added, undefined, told));
    follower.add(added);
  };
  const stopping = new AbortController();
  const following = follower.run(stopping.signal).catch((fault) => {
    log.error(TAG, `blocks are not followed any more, please report it: ${(fault as Error).stack}`);
  });
  return {
    hear: (event) => {
      if (event.type === 'job-switch') switches.set(event.device, event.switchSeconds);
      if (!isBlockEvent(event)) return;
      try {
        record(event);
      } catch (fault) {
        log.error(TAG, `the block cannot be recorded: ${(fault as Error).message}`);
      }
    },
    end: async () => {
      stopping.abort();
      await following;
      await decideWithin(follower, lastLooksMs);
      const rest = tally.summary().expectedBlocks - recorded;
      if (rest > 0) store.add({ type: 'searched', expectedBlocks: rest });
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

type Found = Omit<FoundBlock, 'foundMs' | 'account' | 'expectedBlocks' | 'network'>;

function foundBlock({ type, header, source: node, device, isRelay, difficulty, answerSeconds }: BlockEvent): Found {
  return { header, node, isAnswered: type === 'accepted-block', device, isRelay, difficulty, answerSeconds };
}

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
  return change.what === 'reward' ? { ...about, ...amountsOf(block) } : { ...about, fault: change.fault };
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
    reason: describeStanding(standing, before ?? JUST_FOUND),
  };
}

function aboutBlock({ chain, height, hash: blockHash, device, isRelay }: Block) {
  return { chain, height, blockHash, device, isRelay };
}

function amountsOf({ reward: proven }: Block): { reward?: string; fees?: string } {
  if (!proven) return {};
  const { reward, fees } = proven;
  return { ...(reward !== undefined && { reward: formatDecimal(reward) }), fees: formatDecimal(fees) };
}
