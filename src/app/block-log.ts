/**
 * Records each block that a node accepts, or whose answer is lost, and follows what becomes of it. Mining waits for none of
 * this.
 */

import type { Block } from '../blocks/book.ts';
import { type Change, Follower, type Pace } from '../blocks/follower.ts';
import { type FoundBlock, recordOf } from '../blocks/record.ts';
import { JUST_FOUND, type Standing } from '../blocks/states.ts';
import { BlockStore } from '../blocks/store.ts';
import { describeStanding } from '../blocks/words.ts';
import type { Config } from '../config/settings.ts';
import { type BlockEvent, isBlockEvent, type MinerEvent } from '../events/events.ts';
import { formatDecimal } from '../ledger/decimal.ts';
import type { RunningMiner } from '../report/running-miner.ts';
import { wallMs } from '../system/clock.ts';
import { type LedgerViews, openLedgerViews } from './ledger-views.ts';

const TAG = { tag: 'block' } as const;

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
  /** The nodes to ask. */
  readonly node: Config['node'];
  /** Opens the views of the nodes. Tests have views of their own. */
  readonly openViews?: (node: Config['node']) => LedgerViews;
  readonly pace?: Pace;
}

/** @param folder that of the block log */
export function startBlockLog(running: RunningMiner, folder: string, options: BlockLogOptions): BlockLog {
  const { settings, account, node, openViews = openLedgerViews, pace } = options;
  const { settledDepth } = settings;
  const { events, tally, clock, log } = running;
  const { emit } = events;
  const { views, close } = openViews(node);
  const store = new BlockStore({ folder, warn: (line) => log.warn(TAG, line) });
  const follower = new Follower({
    views,
    store,
    settledDepth,
    clock,
    ...(pace && { pace }),
    changed: (change) => emit(eventOf(change, settledDepth)),
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
    emit(stateEvent(added, undefined, settledDepth));
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
      const rest = tally.summary().expectedBlocks - recorded;
      if (rest > 0) store.add({ type: 'searched', expectedBlocks: rest });
      await store.close();
      await close();
    },
  };
}

type Found = Omit<FoundBlock, 'foundMs' | 'account' | 'expectedBlocks' | 'network'>;

function foundBlock({ type, header, source: node, device, isRelay, difficulty, answerSeconds }: BlockEvent): Found {
  return { header, node, isAnswered: type === 'accepted-block', device, isRelay, difficulty, answerSeconds };
}

/** @returns the event that tells of a change */
export function eventOf(change: Change, settledDepth: number): MinerEvent {
  const { block } = change;
  if (change.what === 'state') return stateEvent(block, change.before, settledDepth);
  const about = { type: 'block-reward', ...aboutBlock(block) } as const;
  return change.what === 'reward' ? { ...about, ...amountsOf(block) } : { ...about, fault: change.fault };
}

function stateEvent(block: Block, before: Standing | undefined, settledDepth: number): MinerEvent {
  const { standing } = block;
  return {
    type: 'block-state',
    ...aboutBlock(block),
    state: standing.state,
    ...(before && { previous: before.state }),
    depth: standing.depth,
    nodesDisagree: standing.nodesDisagree,
    settledDepth,
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
