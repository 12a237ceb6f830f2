/**
 * The mock ledger, without HTTP. It issues work, decides on submissions, and adds the blocks of solutions and of
 * simulated other miners.
 */

import type { Clock } from '../../base/system/clock.ts';
import { HEADER_BYTES, TARGET_BYTES, toHex } from '../../protocol/chain/bytes.ts';
import { difficultyOf, targetForDifficulty } from '../../protocol/chain/target.ts';
import type { Miner } from '../../protocol/ledger/payload.ts';
import { ChainState } from '../execution/chain-state.ts';
import { NO_TRANSACTIONS, type Transactions } from '../execution/transactions.ts';
import type { LedgerSettings } from '../options.ts';
import { type Random, randomInteger } from '../random.ts';
import type { Block, BlockPayload } from './block-store.ts';
import type { Chains } from './chains.ts';
import { makeChains } from './first-blocks.ts';
import { LedgerStats, recordOf, type SubmissionRecord } from './mining-stats.ts';
import { type IssuedWork, type Judgement, nonceKey, Referee } from './referee.ts';

/** The kinds of updates that followers of the ledger get. Each update is about one chain. */
export type Update = 'New Cut' | 'Refreshed Block';

export type LedgerEvent =
  | { type: 'work'; chain: number; height: bigint; account: string }
  | ({ type: 'submission' } & SubmissionRecord)
  | { type: 'block'; by: 'miner' | 'rival'; chain: number; height: bigint }
  /** Another node's cut has changed the heads of these chains. */
  | { type: 'join'; chains: readonly number[] };

interface LedgerContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (event: LedgerEvent) => void;
  /** Runs commands in blocks. By default, blocks have no commands. */
  readonly transactions?: Transactions;
  /** The headers of the first blocks of a saved state, without their hashes. By default, new ones are made. */
  readonly saved?: readonly Uint8Array[] | undefined;
  /** @returns the first state of a chain; by default, there are no accounts */
  readonly stateOf?: (chain: number) => ChainState;
}

/** No chain can pay the miner. */
export class UnpaidError extends Error {
  override readonly name = 'UnpaidError';
}

export class Ledger {
  readonly settings: LedgerSettings;
  readonly stats = new LedgerStats();
  readonly chains: Chains;
  /** Time by which the node's clock is ahead of `clock`, in ms. May be changed at any time. */
  clockSkewMs: number;
  /** Whether the regular blocks of other miners (`rivalMs`) are suspended. May be changed at any time. */
  standsStill = false;
  /** Chooses the chain of the next work. May be replaced at any time. */
  pickChain: () => number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #emit: (event: LedgerEvent) => void;
  readonly #referee: Referee;
  readonly #followers: ((update: Update, chain: number) => void)[] = [];
  readonly #blockFollowers: ((block: Block) => void)[] = [];
  /** The timer of the next block of another miner. */
  #rival: NodeJS.Timeout | undefined;
  #refreshing: NodeJS.Timeout | undefined;
  /** The timers of blocks that a New Cut has announced, but that are not added yet. */
  readonly #pendingBlocks = new Set<NodeJS.Timeout>();
  /**
   * Number of blocks above the next solution's block at which that block becomes an orphan (`orphanNext`). Undefined if
   * that block will not become an orphan.
   */
  #orphanDepth: number | undefined;
  /** A block that will become an orphan as soon as `depth` blocks of its chain are above it. */
  #doomed: { readonly block: Block; readonly depth: number } | undefined;

  constructor(settings: LedgerSettings, context: LedgerContext) {
    const { clock, random, emit, saved, transactions = NO_TRANSACTIONS, stateOf = () => new ChainState() } = context;
    this.settings = settings;
    this.clockSkewMs = settings.clockSkewMs;
    this.pickChain = () => this.#randomChain();
    this.#clock = clock;
    this.#random = random;
    this.#emit = emit;
    this.chains = makeChains(settings, { transactions, random, saved, stateOf, nowUs: this.nowUs() });
    if (saved && !settings.retargets) this.difficulty = settings.difficulty;
    this.#referee = new Referee(settings.workLifetimeMs, settings.checksProofOfWork);
  }

  /** Begins to add other miners' blocks and to refresh payloads, at the rates of the settings. */
  start(): void {
    const { rivalMs, refreshMs } = this.settings;
    if (rivalMs > 0) this.#awaitRival(rivalMs);
    if (refreshMs > 0) this.#refreshing = setInterval(() => this.refreshPayload(), refreshMs);
  }

  /** The node's clock: µs since the UNIX epoch. */
  nowUs(): bigint {
    return this.#clock.nowUs() + BigInt(this.clockSkewMs) * 1000n;
  }

  /**
   * Average number of hashes for a solution of new work. Without effect if the option `retargets` is on.
   * @throws RangeError when it is assigned while `retargets` is on
   */
  get difficulty(): number {
    return difficultyOf(this.target);
  }
  set difficulty(expectedHashes: number) {
    this.target = targetForDifficulty(expectedHashes);
  }

  /**
   * Target of new work, 32 bytes, little-endian. Without effect if the option `retargets` is on.
   * @throws RangeError when it is assigned while `retargets` is on, or if its length is wrong
   */
  get target(): Uint8Array {
    return this.chains.target;
  }
  set target(target: Uint8Array) {
    if (target.length !== TARGET_BYTES) throw new RangeError(`a target is ${TARGET_BYTES} bytes, not ${target.length}`);
    if (this.settings.retargets) throw new RangeError('with the option retargets, the ledger sets the targets');
    this.chains.target = target.slice();
  }

  follow(follower: (update: Update, chain: number) => void): void {
    this.#followers.push(follower);
  }

  /** Registers a listener for new canonical blocks. Each block comes after the blocks on which it builds. */
  followBlocks(follower: (block: Block) => void): void {
    this.#blockFollowers.push(follower);
  }

  /**
   * Sends a New Cut for another miner's block, and adds the block to a chain `cutLeadMs` later. Neighbours that are too
   * low for this block get blocks first.
   */
  advance(chain = this.#randomChain()): void {
    const { cutLeadMs } = this.settings;
    if (cutLeadMs === 0) this.#addRival(chain);
    else this.#later(cutLeadMs, () => this.#addRival(chain));
    this.#publishNewCut(chain);
  }

  /** Adds other miners' blocks, without the pause `cutLeadMs`, until the chain has this height. */
  advanceTo(chain: number, height: bigint): void {
    while (this.chains.heightOf(chain) < height) {
      this.#addRival(chain);
      this.#publishNewCut(chain);
    }
  }

  /**
   * Makes the block of the next solution an orphan (`reorganise`) as soon as `depth` blocks of its chain are above it.
   */
  orphanNext(depth: number): void {
    this.#orphanDepth = depth;
  }

  /**
   * Replaces a canonical block, and all blocks that build on it, by other miners' blocks. All chains keep their
   * heights.
   */
  reorganise(block: Block): void {
    const lost = this.chains.remove(block);
    const changed = [...lost.keys()];
    const affected = new Set(changed.flatMap((chain) => [chain, ...this.chains.graph[chain]]));
    for (const chain of affected) this.#referee.advance(chain, this.settings.lateSolutions === 'refuse');
    for (let chain = this.#lowestOf(lost); chain !== undefined; chain = this.#lowestOf(lost)) {
      this.#addRival(chain);
      lost.set(chain, lost.get(chain)! - 1);
    }
    for (const chain of changed) this.#publishNewCut(chain);
  }

  /**
   * Joins the ledger's own cut with another node's cut.
   * @param heads the heads of the other cut: known blocks, one of each chain, in the order of the chains
   * @throws LedgerFormatError if the heads are not a cut
   */
  join(heads: readonly Block[]): void {
    const changed = this.chains.joined(heads);
    const added = this.chains.notCanonical(changed);
    const left = this.chains.moveTips(changed);
    const chains = changed.map(({ header }) => header.chain);
    // Work on a neighbouring chain may build on an old tip that is an orphan now.
    const affected = new Set([...chains, ...left.flatMap((chain) => this.chains.graph[chain])]);
    for (const chain of affected) this.#referee.advance(chain, this.settings.lateSolutions === 'refuse');
    for (const chain of chains) this.#publishNewCut(chain);
    for (const block of added) this.#publishBlock(block);
    this.#emit({ type: 'join', chains });
  }

  /**
   * Replaces the payload of a chain's next block by one with the newest transactions. Work with the old payload stays
   * valid.
   */
  refreshPayload(chain = this.#randomChain()): void {
    this.chains.refreshPayload(chain);
    this.#publish('Refreshed Block', chain);
  }

  get hasTooMuchWork(): boolean {
    return this.#referee.remembered(this.#clock.monotonicMs()) > this.settings.workLimit;
  }

  /**
   * Issues work to a miner, on the chain that `pickChain` chooses, or on another one if the miner cannot be paid there.
   * @param guard the predicate and the keys of the account. The default is one key: the account's name without `k:`
   * @returns a work record of 322 bytes
   * @throws UnpaidError if the miner cannot be paid on any chain
   */
  issueWork(account: string, guard: Omit<Miner, 'account'> = guardOfName(account)): Uint8Array {
    const miner = { account, ...guard };
    const picked = this.pickChain();
    const fault = this.chains.whyUnpaid(picked, miner);
    const isPaid = (chain: number) => chain !== picked && this.chains.whyUnpaid(chain, miner) === undefined;
    const chain = fault === undefined ? picked : [...this.chains.graph.keys()].find(isPaid);
    if (chain === undefined) throw new UnpaidError(fault);
    this.#catchUp(chain);
    const { record, payload } = this.chains.work(chain, miner, this.nowUs());
    const parentTimeUs = this.chains.parentTimeUs(chain);
    this.#referee.issue(record, { chain, parentTimeUs, payload }, this.#clock.monotonicMs());
    this.stats.workIssued += 1;
    this.#emit({ type: 'work', chain, height: this.chains.heightOf(chain) + 1n, account });
    return record;
  }

  /**
   * Decides whether a submitted header is a solution. A solution becomes the next block of its chain, or an orphan if
   * the chain has already advanced.
   */
  submit(header: Uint8Array): Judgement {
    const judgement = this.#referee.judge(header, this.nowUs(), this.#clock.monotonicMs());
    if (header.length === HEADER_BYTES) this.#record(header, judgement);
    if (judgement.outcome === 'accepted') this.#take(header, judgement.work);
    return judgement;
  }

  close(): void {
    clearTimeout(this.#rival);
    clearInterval(this.#refreshing);
    for (const timer of this.#pendingBlocks) clearTimeout(timer);
    this.#pendingBlocks.clear();
  }

  #take(header: Uint8Array, { chain, late, payload }: IssuedWork): void {
    if (late) {
      this.chains.addOrphan(header, payload);
      return;
    }
    const block = this.#append(chain, header, payload);
    if (this.#orphanDepth !== undefined) this.#doomed = { block, depth: this.#orphanDepth };
    this.#orphanDepth = undefined;
    this.#publishNewCut(chain);
    this.#orphanTheDoomed();
  }

  #record(header: Uint8Array, judgement: Judgement): void {
    const submission = recordOf(header, judgement, this.stats.isDuplicate(toHex(header), nonceKey(header)));
    this.stats.record(submission);
    if (judgement.outcome === 'rejected' && judgement.timeViolation) this.stats.timeViolations += 1;
    this.#emit({ type: 'submission', ...submission });
  }

  #append(chain: number, header: Uint8Array, payload: BlockPayload): Block {
    const block = this.chains.append(header, payload);
    this.#appended(chain, 'miner');
    return block;
  }

  #addRival(chain: number): void {
    this.#catchUp(chain);
    this.#addRivalAt(chain, this.nowUs());
    this.#orphanTheDoomed();
  }

  #addRivalAt(chain: number, timeUs: bigint): void {
    this.chains.addRival(chain, timeUs);
    this.stats.rivalBlocks += 1;
    this.#appended(chain, 'rival');
  }

  #appended(chain: number, by: 'miner' | 'rival'): void {
    this.#referee.advance(chain, this.settings.lateSolutions === 'refuse');
    this.#emit({ type: 'block', by, chain, height: this.chains.heightOf(chain) });
    this.#publishBlock(this.chains.tip(chain));
  }

  /**
   * Adds other miners' blocks to lower chains until this chain can get its next block. The creation time of an added
   * block is that of this chain's tip, but at least 1 µs after the added block's latest parent.
   */
  #catchUp(chain: number): void {
    const timeUs = this.chains.tip(chain).header.creationTimeUs;
    for (let behind = this.chains.laggardOf(chain); behind !== undefined; behind = this.chains.laggardOf(chain)) {
      this.#addRivalAt(behind, timeUs);
      this.#publishNewCut(behind);
    }
  }

  #orphanTheDoomed(): void {
    if (!this.#doomed) return;
    const { block, depth } = this.#doomed;
    if (this.chains.heightOf(block.header.chain) - block.header.height < depth) return;
    this.#doomed = undefined;
    this.reorganise(block);
  }

  /**
   * @returns the lowest of the chains that still lack blocks; undefined if no chain lacks any. The neighbours of the
   *   lowest chain are high enough for its next block
   */
  #lowestOf(lost: ReadonlyMap<number, number>): number | undefined {
    const chains = [...lost].filter(([, blocks]) => blocks > 0).map(([chain]) => chain);
    return chains.sort((a, b) => Number(this.chains.heightOf(a) - this.chains.heightOf(b)))[0];
  }

  #publishNewCut(chain: number): void {
    this.#publish('New Cut', chain);
    if (this.settings.neighbourCuts) {
      for (const neighbour of this.chains.graph[chain]) this.#publish('New Cut', neighbour);
    }
  }

  #publish(update: Update, chain: number): void {
    for (const follower of this.#followers) follower(update, chain);
  }

  #publishBlock(block: Block): void {
    for (const follower of this.#blockFollowers) follower(block);
  }

  /** @returns a random one of the chains that can get their next block now */
  #randomChain(): number {
    const free = this.chains.graph.flatMap((_, chain) => (this.chains.isFree(chain) ? [chain] : []));
    return free[randomInteger(this.#random, free.length)];
  }

  #awaitRival(meanMs: number): void {
    // Blocks are a Poisson process, so the gaps between them have an exponential distribution.
    const gapMs = -Math.log(1 - this.#random()) * meanMs;
    this.#rival = setTimeout(() => {
      if (!this.standsStill) this.advance();
      this.#awaitRival(meanMs);
    }, gapMs);
  }

  #later(ms: number, append: () => void): void {
    const timer = setTimeout(() => {
      this.#pendingBlocks.delete(timer);
      append();
    }, ms);
    this.#pendingBlocks.add(timer);
  }
}

function guardOfName(account: string): Omit<Miner, 'account'> {
  return { predicate: 'keys-all', publicKeys: [account.replace(/^k:/, '')] };
}
