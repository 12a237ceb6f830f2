/**
 * Follows blocks: asks every node what its chain says of them, decides what became of them, and proves their rewards. A node
 * gets one question for its cut and one for each chain and stretch of heights, however many blocks there are.
 */

import { parseHeader } from '../ledger/header.ts';
import { pause } from '../system/abort.ts';
import { type Clock, wallMs } from '../system/clock.ts';
import type { Block } from './book.ts';
import type { Head, LedgerView } from './ledger-view.ts';
import type { Store } from './memory-store.ts';
import { proveReward, RewardFault } from './reward.ts';
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

/** Blocks closer than this are asked for together: their hashes fit in one page of a node's answer. */
const STRETCH = 500n;
/** A payload that a node does not have is asked for again, after waits that double, until this long after the block was found. */
const FIRST_REWARD_WAIT_MS = 15_000;
const LONGEST_REWARD_WAIT_MS = 3_600_000;
const GIVE_UP_REWARD_MS = 7 * 86_400_000;

interface RewardTries {
  readonly waitMs: number;
  readonly nextMs: number;
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #pace: Pace;
  /** The blocks that are followed, as they were when their last change was reported. */
  readonly #followed = new Map<string, Block>();
  /** The hashes of those of them that earlier processes have found. */
  readonly #earlier = new Set<string>();
  #hasBegun = false;
  readonly #agreements = new Map<string, Agreement>();
  readonly #rewardTries = new Map<string, RewardTries>();
  /** For each node that does not answer as it must, its last fault. */
  readonly #faults = new Map<string, string>();
  /** Ends the longer wait between two rounds. */
  #wake = new AbortController();

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#pace = options.pace ?? paceAt(1);
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

  /** @returns what the node says of the blocks, by their hashes. A block about which it does not answer has no entry */
  async #ask(view: LedgerView, watched: readonly Block[], stop: AbortSignal): Promise<ReadonlyMap<string, Look>> {
    const looks = new Map<string, Look>();
    const own = watched.filter(({ network, standing }) => network === view.network && isWatched(standing));
    if (own.length === 0) return looks;
    let fault: string | undefined;
    try {
      const heads = await view.heads(stop);
      for (const [chain, blocks] of byChain(own)) {
        const head = heads.get(chain);
        if (!head) continue;
        try {
          for await (const [hash, look] of askChain(view, head, blocks, stop)) looks.set(hash, look);
        } catch (error) {
          fault ??= `chain ${chain}: ${(error as Error).message}`;
        }
      }
    } catch (error) {
      fault = (error as Error).message;
    }
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

  /**
   * Asks one node after the other, until one has the payload and it proves the reward. Those that have not answered in this round
   * come last, because each could take minutes.
   */
  async #proveReward(block: Block, stop: AbortSignal): Promise<void> {
    const { store, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const tries = this.#rewardTries.get(block.hash);
    if (!this.#owesReward(block) || (tries && nowMs < tries.nextMs)) return;
    let fault: string | undefined;
    const views = this.#options.views.filter(({ network }) => network === block.network);
    for (const view of views.toSorted((a, b) => this.#hasFault(a) - this.#hasFault(b))) {
      try {
        const { payloadHash } = parseHeader(block.header);
        const payload = await view.payloadWithOutputs(block.chain, payloadHash, block.height, stop);
        if (!payload) continue;
        store.add({ type: 'reward', hash: block.hash, reward: proveReward(block, payload) });
        this.#rewardTries.delete(block.hash);
        return;
      } catch (error) {
        // A node that does not answer is asked again, like one that does not have the payload.
        if (error instanceof RewardFault) fault ??= `${view.node}: ${error.message}`;
      }
    }
    const waitMs = tries ? Math.min(2 * tries.waitMs, LONGEST_REWARD_WAIT_MS) : FIRST_REWARD_WAIT_MS;
    this.#rewardTries.set(block.hash, { waitMs, nextMs: nowMs + waitMs });
    if (fault !== undefined && fault !== block.rewardFault) {
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
      this.#rewardTries.delete(block.hash);
    }
    const { state, nodesDisagree } = block.standing;
    if (state !== before.standing.state || nodesDisagree !== before.standing.nodesDisagree) {
      changed({ what: 'state', block, before: before.standing, isEarlier });
    } else if (block.reward && !before.reward) changed({ what: 'reward', block });
    const { rewardFault: fault } = block;
    if (fault !== undefined && fault !== before.rewardFault) changed({ what: 'reward-fault', block, fault });
  }
}

function byChain(blocks: readonly Block[]): Map<number, Block[]> {
  const chains = new Map<number, Block[]>();
  for (const block of blocks) chains.set(block.chain, [...(chains.get(block.chain) ?? []), block]);
  return chains;
}

/** What a node says of blocks of one chain, by their hashes: young blocks come first, because nodes may no longer have old ones. */
async function* askChain(
  view: LedgerView,
  head: Head,
  blocks: readonly Block[],
  stop: AbortSignal,
): AsyncGenerator<readonly [string, Look], void> {
  const { node } = view;
  for (const { hash, height } of blocks) if (height > head.height) yield [hash, { node, says: 'not-yet' }];
  for (const stretch of stretchesOf(blocks.filter(({ height }) => height <= head.height))) {
    const [from, to] = [stretch[0].height, stretch[stretch.length - 1].height];
    const ancestors = await view.ancestors(stretch[0].chain, head.hash, from, to, stop);
    for (const block of stretch) {
      const there = ancestors.get(block.height);
      if (there === undefined) continue;
      const depth = Number(head.height - block.height);
      if (there === block.hash) yield [block.hash, { node, says: 'ours', depth }];
      else yield [block.hash, await another(view, block, there, depth, stop)];
    }
  }
}

/** A block that was kept once is not asked for again. */
async function another(
  view: LedgerView,
  { hash, chain, height, standing }: Block,
  winner: string,
  depth: number,
  stop: AbortSignal,
): Promise<Look> {
  const look = { node: view.node, says: 'another', depth, winner } as const;
  if (depth === 0 || standing.state === 'orphaned') return look;
  try {
    return { ...look, keepsOurs: (await view.hashesAt(chain, height, stop)).includes(hash) };
  } catch {
    return look;
  }
}

/** @returns the blocks of one chain, divided where many heights lie between two of them: the highest first, each upwards */
function stretchesOf(blocks: readonly Block[]): Block[][] {
  const stretches: Block[][] = [];
  for (const block of blocks.toSorted((a, b) => Number(a.height - b.height))) {
    const last = stretches.at(-1);
    if (last && block.height - last[0].height < STRETCH) last.push(block);
    else stretches.push([block]);
  }
  return stretches.reverse();
}
