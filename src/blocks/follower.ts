/**
 * Follows blocks: asks every node what its chain says of them, decides what became of them, and proves their rewards. A node
 * gets one question for its cut and one for each chain and stretch of heights, however many blocks there are.
 */

import { pause } from '../system/abort.ts';
import { type Clock, wallMs } from '../system/clock.ts';
import type { Block } from './book.ts';
import type { LedgerView } from './ledger-view.ts';
import { lookAt } from './look-at.ts';
import type { Store } from './memory-store.ts';
import { RewardSearch } from './reward-search.ts';
import {
  type Agreement,
  APART_MS,
  isNews,
  isUrgent,
  isWatched,
  judge,
  type Look,
  ON_CHAIN,
  type Standing,
  UNDECIDED,
} from './states.ts';

/** Something about a block has changed. The block is as it is now. */
export type Change =
  | {
      readonly what: 'state';
      readonly block: Block;
      readonly before: Standing;
      /** Whether an earlier process has found the block. */
      readonly isEarlier: boolean;
    }
  /** It is proven what a block has earned that was won before. */
  | { readonly what: 'reward'; readonly block: Block }
  | { readonly what: 'reward-fault'; readonly block: Block; readonly fault: string };

export interface FollowerOptions {
  readonly views: readonly LedgerView[];
  readonly store: Store;
  readonly settledDepth: number;
  readonly clock: Clock;
  readonly changed: (change: Change) => void;
  /** Told when a node does not answer, and when it does again. */
  readonly nodeNews?: (node: string, fault: string | undefined) => void;
  readonly pace?: Pace;
  /** Whether the store forgets what is finished, so that the memory of a process that runs for years stays small. */
  readonly forgets?: boolean;
}

export interface Pace {
  /** How far apart looks must be to decide something. */
  readonly apartMs: number;
  /** The wait between two rounds while something is to be decided soon. */
  readonly soonMs: number;
  /** The same while blocks are only watched. */
  readonly watchMs: number;
}

/** @param speed how many times as fast the chains grow as those of real networks */
export function paceAt(speed: number): Pace {
  return { apartMs: APART_MS / speed, soonMs: 15_000 / speed, watchMs: 120_000 / speed };
}

/** How long the proof of a reward is sought after the block has come onto the chain. */
const GIVE_UP_REWARD_MS = 7 * 86_400_000;

export class Follower {
  readonly #options: FollowerOptions;
  readonly #pace: Pace;
  /** The blocks that are followed, as they were when their last change was reported. */
  readonly #followed = new Map<string, Block>();
  /** The hashes of those of them that earlier processes have found. */
  readonly #earlier = new Set<string>();
  #hasBegun = false;
  readonly #agreements = new Map<string, Agreement>();
  readonly #rewards: RewardSearch;
  /** For each node that does not answer as it must, its last fault. */
  readonly #faults = new Map<string, string>();
  /** Ends the longer wait between two rounds. */
  #wake = new AbortController();

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#pace = options.pace ?? paceAt(1);
    this.#rewards = new RewardSearch(options.clock);
  }

  /** Goes round after round until `stop`. Never throws for what nodes or the disk do. */
  async run(stop: AbortSignal): Promise<void> {
    const { soonMs, watchMs } = this.#pace;
    while (!stop.aborted) {
      await this.round(stop);
      await pause(soonMs, stop);
      this.#wake = new AbortController();
      const isAnyUrgent = this.#watched().some(({ standing, foundMs }) => isUrgent(standing, this.#ageMs(foundMs)));
      if (!isAnyUrgent) await pause(watchMs - soonMs, stop, this.#wake.signal);
    }
  }

  /** Looks until it is known of every block what became of it and what it earned, or until `stop`. Not while `run` goes on. */
  async decide(stop: AbortSignal): Promise<void> {
    while (!stop.aborted && this.#isAnyUndecided()) {
      await this.round(stop);
      if (this.#isAnyUndecided()) await pause(this.#pace.apartMs, stop);
    }
  }

  /** Follows another block, which the store has. */
  add(block: Block): void {
    if (!this.#isOpen(block)) return;
    this.#followed.set(block.hash, block);
    this.#wake.abort();
  }

  /** One look of every node at every block that is watched. */
  async round(stop: AbortSignal): Promise<void> {
    const { store, views, clock, forgets = false } = this.#options;
    const isKept = (block: Block) => this.#followed.has(block.hash) || this.#isOpen(block);
    await store.refresh(forgets ? isKept : undefined);
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
      for (const { hash } of watched) await this.#proveReward(store.block(hash)!, stop);
    }
    for (const before of this.#followed.values()) this.#tell(before, store.block(before.hash)!);
  }

  /**
   * What earlier processes have left undecided is followed, too. What other processes find later is left to them, so that no two
   * report it. Blocks of networks that no node is configured for are left as they are.
   */
  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    for (const block of this.#options.store.blocks) {
      if (this.#followed.has(block.hash)) continue;
      this.add(block);
      if (this.#followed.has(block.hash)) this.#earlier.add(block.hash);
    }
  }

  #watched(): Block[] {
    const { store } = this.#options;
    return [...this.#followed.keys()].map((hash) => store.block(hash)!).filter((block) => this.#isOpen(block));
  }

  /** Whether anything about the block may still change, and a node can be asked. */
  #isOpen(block: Block): boolean {
    const { views } = this.#options;
    const isUndone = isWatched(block.standing) || this.#owesReward(block);
    return isUndone && views.some(({ network }) => network === block.network);
  }

  #isAnyUndecided(): boolean {
    return this.#watched().some((block) => UNDECIDED.includes(block.standing.state) || this.#owesReward(block));
  }

  #owesReward({ standing, reward, sinceMs }: Block): boolean {
    const isOwed = ON_CHAIN.includes(standing.state) && reward === undefined;
    return isOwed && this.#ageMs(sinceMs) < GIVE_UP_REWARD_MS;
  }

  #ageMs(thenMs: number): number {
    return wallMs(this.#options.clock) - thenMs;
  }

  async #ask(view: LedgerView, watched: readonly Block[], stop: AbortSignal): Promise<ReadonlyMap<string, Look>> {
    const own = watched.filter(({ network, standing }) => network === view.network && isWatched(standing));
    if (own.length === 0) return new Map();
    const { looks, fault } = await lookAt(view, own, stop);
    if (!stop.aborted) this.#heard(view.node, fault);
    return looks;
  }

  #heard(node: string, fault: string | undefined): void {
    const hadFault = this.#faults.has(node);
    if (fault === undefined) this.#faults.delete(node);
    else this.#faults.set(node, fault);
    if (hadFault !== (fault !== undefined)) this.#options.nodeNews?.(node, fault);
  }

  #judge(block: Block, looks: readonly Look[], nowMs: number): void {
    const { store, clock, settledDepth } = this.#options;
    const { apartMs } = this.#pace;
    const moment = { nowMs, ageMs: this.#ageMs(block.foundMs) };
    const earlier = this.#agreements.get(block.hash);
    const { standing, agreement } = judge(block.standing, earlier, looks, moment, { settledDepth, apartMs });
    if (isWatched(standing)) this.#agreements.set(block.hash, agreement);
    else this.#agreements.delete(block.hash);
    if (isNews(block.standing, standing)) {
      store.add({ type: 'state', hash: block.hash, atMs: wallMs(clock), standing });
    }
  }

  /** Nodes that have not answered in this round are asked last, because each could take minutes. */
  async #proveReward(block: Block, stop: AbortSignal): Promise<void> {
    if (!this.#owesReward(block)) return;
    const { store, views } = this.#options;
    const own = views.filter(({ network }) => network === block.network);
    const inTurn = own.toSorted((a, b) => this.#hasFault(a) - this.#hasFault(b));
    const { reward, fault } = await this.#rewards.seek(block, inTurn, stop);
    if (reward) store.add({ type: 'reward', hash: block.hash, reward });
    else if (fault !== undefined && fault !== block.rewardFault) {
      store.add({ type: 'reward-fault', hash: block.hash, fault });
    }
  }

  #hasFault({ node }: LedgerView): number {
    return Number(this.#faults.has(node));
  }

  /** Reports what has changed since the last report, whichever process has found it out. */
  #tell(before: Block, block: Block): void {
    const { changed } = this.#options;
    const isEarlier = this.#earlier.has(block.hash);
    if (this.#isOpen(block)) this.#followed.set(block.hash, block);
    else {
      this.#followed.delete(block.hash);
      this.#earlier.delete(block.hash);
      this.#rewards.forget(block);
    }
    const { state, nodesDisagree } = block.standing;
    if (state !== before.standing.state || nodesDisagree !== before.standing.nodesDisagree) {
      changed({ what: 'state', block, before: before.standing, isEarlier });
    } else if (block.reward && !before.reward) changed({ what: 'reward', block });
    const { rewardFault: fault } = block;
    if (fault !== undefined && fault !== before.rewardFault) changed({ what: 'reward-fault', block, fault });
  }
}
