/**
 * Follows blocks: asks every node about them, decides what became of them, and proves their rewards. To learn what
 * became of all blocks, each round sends a node one request for its cut, and at most two for each chain and stretch of
 * heights, regardless of the number of blocks. For each reward that is not proven, further requests ask for a payload.
 */

import { pause } from '../../base/system/abort.ts';
import { TokenBucket } from '../../base/system/bounded.ts';
import { type Clock, wallMs } from '../../base/system/clock.ts';
import { isHidden, type TrackedBlock } from './block-index.ts';
import type { Store } from './block-log.ts';
import { payeeInPlaceOf } from './block-reward.ts';
import {
  type Agreement,
  APART_MS,
  type BlockLook,
  isNews,
  isUrgent,
  isWatched,
  judge,
  ON_CHAIN,
  type Standing,
  UNDECIDED,
  UNKNOWN_AFTER_MS,
} from './confirmations.ts';
import { type FoundReward, type LedgerView, lookAtBlocks, RewardSearch, seekReward } from './observation.ts';

export type Change =
  | {
      readonly what: 'state';
      readonly block: TrackedBlock;
      /** The standing at the last report; undefined for a refused block, because it was hidden until now. */
      readonly before: Standing | undefined;
      /** Whether an earlier process found the block. */
      readonly isEarlier: boolean;
    }
  /** The earnings of a block on the chain are now proven. Its state was reported before. */
  | { readonly what: 'reward'; readonly block: TrackedBlock }
  | { readonly what: 'reward-fault'; readonly block: TrackedBlock; readonly fault: string }
  /** It is proven that the block pays an account other than its miner's: the node gave work for that account. */
  | {
      readonly what: 'paid-elsewhere';
      readonly block: TrackedBlock;
      readonly payee: string;
      readonly isEarlier: boolean;
    };

export interface FollowerOptions {
  readonly views: readonly LedgerView[];
  readonly store: Store;
  readonly settledDepth: number;
  readonly clock: Clock;
  readonly changed: (change: Change) => void;
  /**
   * Called with the fault when a node stops answering properly, and without a fault when the node answers properly
   * again.
   */
  readonly nodeNews?: (node: string, fault: string | undefined) => void;
  readonly pace?: Pace;
  /**
   * Whether blocks that are no longer followed are removed from the store's memory, so that a process can run for
   * years.
   */
  readonly dropsFinished?: boolean;
}

interface Pace {
  /**
   * Like `APART_MS`, but shorter on a network whose chains grow faster. In `decide`, it is also the wait between two
   * rounds.
   */
  readonly apartMs: number;
  /** The wait between two rounds while a decision is due soon. */
  readonly soonMs: number;
  /** The wait between two rounds while blocks are only watched. */
  readonly watchMs: number;
  /**
   * The waits before the early requests for a new block's payload, which names the payee. Several requests are made,
   * because a node has the payload only after it has executed the block.
   */
  readonly earlyMs: readonly number[];
}

/** @param speed the speed at which the chains grow, as a multiple of that of real networks */
export function paceAt(speed: number): Pace {
  return {
    apartMs: APART_MS / speed,
    soonMs: 15_000 / speed,
    watchMs: 120_000 / speed,
    earlyMs: [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000].map((ms) => ms / speed),
  };
}

/**
 * Time for which nodes are asked to prove a block's reward. It begins when the block becomes won, and again when the
 * block becomes settled.
 */
const GIVE_UP_REWARD_MS = 7 * 86_400_000;
/**
 * Maximum number of changes of one block that are written in a burst: changes of its state, and faults of its reward. A
 * real chain causes far fewer. The bound prevents a node whose answers keep changing from filling the disk. Further
 * changes are neither written nor reported.
 */
const MOST_CHANGES = 20;
/** After the burst, one change is written per hour. */
const CHANGES_PER_SECOND = 1 / 3_600;

export class Follower {
  readonly #options: FollowerOptions;
  readonly #pace: Pace;
  /** The followed blocks, each as it was at its last report. */
  readonly #followed = new Map<string, TrackedBlock>();
  /** The hashes of the followed blocks that earlier processes found. */
  readonly #earlier = new Set<string>();
  #hasBegun = false;
  readonly #agreements = new Map<string, Agreement>();
  readonly #rewards: RewardSearch;
  /** For each block, by its hash, the bound on its changes that are written. */
  readonly #changes = new Map<string, TokenBucket>();
  /**
   * Hashes of the blocks that this run sent before its first round. In the first round, they must not count as blocks
   * of earlier runs.
   */
  readonly #sent = new Set<string>();
  /**
   * The early requests for payloads that are in progress: for each node, at most one series for a refused block, and
   * one series for a block that was not refused.
   */
  readonly #early = new Map<string, Promise<void>>();
  #stop: AbortSignal | undefined;
  readonly #faults = new Map<string, string>();
  /** Ends the longer wait between two rounds. */
  #wake = new AbortController();

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#pace = options.pace ?? paceAt(1);
    this.#rewards = new RewardSearch(options.clock);
  }

  /** Runs rounds until `stop` fires. Never throws for faults of nodes or of the disk. */
  async run(stop: AbortSignal): Promise<void> {
    const { soonMs, watchMs } = this.#pace;
    this.#stop = stop;
    while (!stop.aborted) {
      await this.round(stop);
      await pause(this.#options.clock, soonMs, stop);
      this.#wake = new AbortController();
      const isAnyUrgent = this.#watched().some(({ standing, foundMs }) => isUrgent(standing, this.#ageMs(foundMs)));
      if (!isAnyUrgent) await pause(this.#options.clock, watchMs - soonMs, stop, this.#wake.signal);
    }
    await Promise.all(this.#early.values());
  }

  /**
   * Like `run`, but ends when every followed block is decided, and its reward is proven or no longer searched for.
   * Hidden blocks do not count. Must not run at the same time as `run`.
   */
  async decide(stop: AbortSignal): Promise<void> {
    while (!stop.aborted && this.#isAnyUndecided()) {
      await this.round(stop);
      if (this.#isAnyUndecided()) await pause(this.#options.clock, this.#pace.apartMs, stop);
    }
  }

  get size(): number {
    return this.#followed.size;
  }

  /**
   * Notes that this run has just sent the block, and that the answer has not come yet. The store must have the block.
   */
  expect({ hash }: Pick<TrackedBlock, 'hash'>): void {
    if (!this.#hasBegun) this.#sent.add(hash);
  }

  /**
   * Follows another block of this run, and starts the early requests for its payload. The store must have the block.
   */
  add(block: TrackedBlock): void {
    this.#follow(block);
    this.lookAtPayee(block.node, block.isRefused === true, () => block);
  }

  /**
   * Starts the early requests for the payload of a block of this run, to find out whom the block pays. Does nothing
   * before `run` is called, or if such requests are in progress for another block with the same `node` and
   * `isRefused`.
   * @param node the node that received the block
   * @param blockOf makes the block; called only if the requests are started
   */
  lookAtPayee(node: string, isRefused: boolean, blockOf: () => TrackedBlock): void {
    const place = `${isRefused ? 'refused' : 'other'} ${node}`;
    if (this.#stop === undefined || this.#early.has(place)) return;
    this.#early.set(
      place,
      this.#lookEarly(blockOf(), this.#stop).finally(() => this.#early.delete(place)),
    );
  }

  #follow(block: TrackedBlock): void {
    if (!this.#isOpen(block)) return;
    this.#followed.set(block.hash, block);
    this.#wake.abort();
  }

  async round(stop: AbortSignal): Promise<void> {
    const { store, views, clock, dropsFinished = false } = this.#options;
    const isKept = (block: TrackedBlock) => this.#followed.has(block.hash) || this.#isOpen(block);
    await store.refresh(dropsFinished ? isKept : undefined);
    this.#dropMissing();
    this.#begin();
    const watched = this.#watched();
    if (watched.length > 0) {
      const seen = await Promise.all(views.map((view) => this.#ask(view, watched, stop)));
      if (stop.aborted) return;
      const nowMs = clock.monotonicMs();
      for (const block of watched) {
        const looks = seen.flatMap((looks) => looks.get(block.hash) ?? []);
        this.#judge(block, looks, nowMs);
      }
      for (const { hash } of watched) {
        const block = store.block(hash);
        if (block) await this.#proveReward(block, stop);
      }
    }
    for (const before of this.#followed.values()) {
      const block = store.block(before.hash);
      if (block) this.#report(before, block);
    }
  }

  #dropMissing(): void {
    for (const hash of this.#followed.keys()) if (!this.#options.store.block(hash)) this.#drop(hash);
  }

  #drop(hash: string): void {
    this.#followed.delete(hash);
    this.#earlier.delete(hash);
    this.#rewards.drop({ hash });
    this.#agreements.delete(hash);
    this.#changes.delete(hash);
  }

  /**
   * In the first round, also follows those blocks in the store that must still be followed (`#isOpen`). Blocks that
   * other processes find later are not followed, because those processes report them.
   */
  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { blocks, hiddenBlocks } = this.#options.store;
    for (const block of [...blocks, ...hiddenBlocks]) {
      if (this.#followed.has(block.hash) || this.#sent.has(block.hash)) continue;
      this.#follow(block);
      if (this.#followed.has(block.hash)) this.#earlier.add(block.hash);
    }
    this.#sent.clear();
  }

  #watched(): TrackedBlock[] {
    const { store } = this.#options;
    return [...this.#followed.keys()].flatMap((hash) => store.block(hash) ?? []).filter((block) => this.#isOpen(block));
  }

  /**
   * Whether the block must be followed: its state may change or its reward is not proven, and a node of its network can
   * be asked. A hidden block is followed for an hour at most.
   */
  #isOpen(block: TrackedBlock): boolean {
    const { views } = this.#options;
    const isUndone = isHidden(block)
      ? block.standing.state !== 'lost' && this.#ageMs(block.foundMs) < UNKNOWN_AFTER_MS
      : isWatched(block.standing) || this.#owesReward(block);
    return isUndone && views.some(({ network }) => network === block.network);
  }

  #isAnyUndecided(): boolean {
    const known = this.#watched().filter((block) => !isHidden(block));
    return known.some((block) => UNDECIDED.includes(block.standing.state) || this.#owesReward(block));
  }

  #owesReward(block: TrackedBlock): boolean {
    const { standing, sinceMs } = block;
    const isOwed = ON_CHAIN.includes(standing.state) && !isProven(block);
    return isOwed && this.#ageMs(sinceMs) < GIVE_UP_REWARD_MS;
  }

  #ageMs(thenMs: number): number {
    return wallMs(this.#options.clock) - thenMs;
  }

  async #ask(
    view: LedgerView,
    watched: readonly TrackedBlock[],
    stop: AbortSignal,
  ): Promise<ReadonlyMap<string, BlockLook>> {
    const own = watched.filter(({ network, standing }) => network === view.network && isWatched(standing));
    if (own.length === 0) return new Map();
    const { looks, fault } = await lookAtBlocks(view, own, stop);
    if (!stop.aborted) this.#noteAnswer(view.node, fault);
    return looks;
  }

  #noteAnswer(node: string, fault: string | undefined): void {
    const hadFault = this.#faults.has(node);
    if (fault === undefined) this.#faults.delete(node);
    else this.#faults.set(node, fault);
    if (hadFault !== (fault !== undefined)) this.#options.nodeNews?.(node, fault);
  }

  #judge(block: TrackedBlock, looks: readonly BlockLook[], nowMs: number): void {
    const { store, clock, settledDepth } = this.#options;
    const { apartMs } = this.#pace;
    const moment = { nowMs, ageMs: this.#ageMs(block.foundMs) };
    const earlier = this.#agreements.get(block.hash);
    const { standing, agreement } = judge(block.standing, earlier, looks, moment, { settledDepth, apartMs });
    if (isWatched(standing)) this.#agreements.set(block.hash, agreement);
    else this.#agreements.delete(block.hash);
    if (isNews(block.standing, standing) && this.#mayChange(block)) {
      store.add({ type: 'state', hash: block.hash, atMs: wallMs(clock), standing });
    }
  }

  #mayChange({ hash }: TrackedBlock): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const bucket = this.#changes.get(hash) ?? new TokenBucket(MOST_CHANGES, CHANGES_PER_SECOND, nowMs);
    this.#changes.set(hash, bucket);
    return bucket.take(1, nowMs);
  }

  /**
   * Asks nodes for the payload of a new block, which names the payee. The payload is requested as soon as possible, and
   * not only when the block is won. So a node that gives work for another account is detected by its first block.
   */
  async #lookEarly(block: TrackedBlock, stop: AbortSignal): Promise<void> {
    const { store, views, changed } = this.#options;
    const { hash, node } = block;
    const own = views.filter(({ network }) => network === block.network);
    const inTurn = own.toSorted((a, b) => Number(b.node === node) - Number(a.node === node));
    const isKnown = () => isProven(store.block(hash) ?? block);
    for (const ms of this.#pace.earlyMs) {
      await pause(this.#options.clock, ms, stop);
      if (stop.aborted || isKnown()) return;
      const found = await seekReward(block, inTurn, stop);
      if (isKnown()) return;
      const before = this.#followed.get(hash);
      if (before) {
        this.#note(block, found);
        const after = store.block(hash);
        if (after?.paidElsewhere) this.#report(before, after);
      } else if (found.reward) {
        const payee = payeeInPlaceOf(block, found.reward);
        if (payee !== undefined) changed({ what: 'paid-elsewhere', block, payee, isEarlier: false });
        return;
      }
    }
  }

  /** Nodes whose last answer had a fault are asked after all other nodes, because each of them could take minutes. */
  async #proveReward(block: TrackedBlock, stop: AbortSignal): Promise<void> {
    if (!this.#owesReward(block)) return;
    const own = this.#options.views.filter(({ network }) => network === block.network);
    const inTurn = own.toSorted((a, b) => this.#hasFault(a) - this.#hasFault(b));
    this.#note(block, await this.#rewards.seek(block, inTurn, stop));
  }

  #note({ hash }: TrackedBlock, { reward, fault }: FoundReward): void {
    const { store } = this.#options;
    const block = store.block(hash);
    if (!block || isProven(block)) return;
    if (reward) store.add({ type: 'reward', hash, reward });
    else if (fault !== undefined && fault !== block.rewardFault && this.#mayChange(block)) {
      store.add({ type: 'reward-fault', hash, fault });
    }
  }

  #hasFault({ node }: LedgerView): number {
    return Number(this.#faults.has(node));
  }

  /** Reports changes since the last report, including changes found by other processes. */
  #report(before: TrackedBlock, block: TrackedBlock): void {
    const { changed } = this.#options;
    const isEarlier = this.#earlier.has(block.hash);
    if (this.#isOpen(block)) this.#followed.set(block.hash, block);
    else this.#drop(block.hash);
    const { state, nodesDisagree } = block.standing;
    const isShown = !isHidden(block);
    if (isShown && isHidden(before)) changed({ what: 'state', block, before: undefined, isEarlier });
    else if (isShown && (state !== before.standing.state || nodesDisagree !== before.standing.nodesDisagree)) {
      changed({ what: 'state', block, before: before.standing, isEarlier });
    } else if (block.reward && !before.reward && ON_CHAIN.includes(state)) changed({ what: 'reward', block });
    const { paidElsewhere } = block;
    if (paidElsewhere && !before.paidElsewhere) {
      changed({ what: 'paid-elsewhere', block, payee: payeeInPlaceOf(block, paidElsewhere)!, isEarlier });
    }
    const { rewardFault: fault } = block;
    if (fault !== undefined && fault !== before.rewardFault && !isHidden(block))
      changed({ what: 'reward-fault', block, fault });
  }
}

function isProven({ reward, paidElsewhere }: TrackedBlock): boolean {
  return reward !== undefined || paidElsewhere !== undefined;
}
