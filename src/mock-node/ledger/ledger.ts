/**
 * The mock ledger: it issues work for its chains, judges submissions, and grows by solutions and by other miners' blocks. It
 * knows nothing of HTTP, and it has no peer network and no transactions.
 */

import { toHex, viewOf } from '../../chain/bytes.ts';
import { HEADER_BYTES, HEADER_OFFSET, TARGET_BYTES } from '../../chain/layout.ts';
import { difficultyOf, targetForDifficulty } from '../../chain/target.ts';
import { creationTimeOf, nonceOf } from '../../chain/work.ts';
import type { Clock } from '../../system/clock.ts';
import type { LedgerSettings } from '../options.ts';
import { type Random, randomInteger } from '../random.ts';
import { type Block, Chains } from './chains.ts';
import { type Judgement, nonceKey, Referee } from './referee.ts';
import { LedgerStats, type SubmissionRecord } from './stats.ts';

/** What the followers of the ledger are told about a chain. */
export type Update = 'New Cut' | 'Refreshed Block';

/** What happens on the ledger, for a log. */
export type LedgerEvent =
  | { type: 'work'; chain: number; height: bigint; account: string }
  | ({ type: 'submission' } & SubmissionRecord)
  | { type: 'block'; by: 'miner' | 'rival'; chain: number; height: bigint };

export interface LedgerSurroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (event: LedgerEvent) => void;
}

export class Ledger {
  readonly settings: LedgerSettings;
  readonly stats = new LedgerStats();
  /** How far the node's clock is ahead of the given one. It may be changed at any time. */
  clockSkewMs: number;
  /** Chooses the chain of the next work. It may be replaced at any time. */
  pickChain: () => number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #emit: (event: LedgerEvent) => void;
  readonly #chains: Chains;
  readonly #referee: Referee;
  readonly #followers: ((update: Update, chain: number) => void)[] = [];
  /** The timers of blocks whose New Cut has been sent already. */
  readonly #pendingBlocks = new Set<NodeJS.Timeout>();

  constructor(settings: LedgerSettings, { clock, random, emit }: LedgerSurroundings) {
    this.settings = settings;
    this.clockSkewMs = settings.clockSkewMs;
    this.pickChain = () => this.#randomChain();
    this.#clock = clock;
    this.#random = random;
    this.#emit = emit;
    const target = targetForDifficulty(settings.difficulty);
    this.#chains = new Chains(settings.chains, settings.network, target, this.nowUs(), random);
    this.#referee = new Referee(settings.workLifetimeMs, settings.checksProofOfWork);
  }

  /** The node's clock: µs since the UNIX epoch. */
  nowUs(): bigint {
    return this.#clock.nowUs() + BigInt(this.clockSkewMs) * 1000n;
  }

  /** How many hashes a solution needs on average. A change applies to work issued from now on. */
  get difficulty(): number {
    return difficultyOf(this.#chains.target);
  }
  set difficulty(expectedHashes: number) {
    this.#chains.target = targetForDifficulty(expectedHashes);
  }

  /** 32 bytes, little-endian. A change applies to work issued from now on. @throws RangeError for another length */
  get target(): Uint8Array {
    return this.#chains.target;
  }
  set target(target: Uint8Array) {
    if (target.length !== TARGET_BYTES) throw new RangeError(`a target is ${TARGET_BYTES} bytes, not ${target.length}`);
    this.#chains.target = target.slice();
  }

  /** Registers a listener for the updates of all chains. */
  follow(follower: (update: Update, chain: number) => void): void {
    this.#followers.push(follower);
  }

  /** Adds another miner's block to a chain. */
  advance(chain = this.#randomChain()): void {
    const append = () => {
      this.stats.rivalBlocks += 1;
      this.#append(chain, this.#chains.rivalHeader(chain, this.nowUs()), 'rival');
    };
    const { cutLeadMs } = this.settings;
    if (cutLeadMs === 0) append();
    else this.#later(cutLeadMs, append);
    this.#tellNewCut(chain);
  }

  /** Gives a chain newer transactions. The old work stays valid. */
  refreshPayload(chain = this.#randomChain()): void {
    this.#chains.refreshPayload(chain);
    this.#tell('Refreshed Block', chain);
  }

  /** Whether so much work is remembered that no more is issued for now. */
  get hasTooMuchWork(): boolean {
    return this.#referee.remembered(this.#clock.monotonicMs()) > this.settings.workLimit;
  }

  /** Issues work to a miner's account, on the chain that `pickChain` chooses. @returns a work record, 322 bytes */
  issueWork(account: string): Uint8Array {
    const chain = this.pickChain();
    const record = this.#chains.work(chain, account, this.nowUs());
    this.#referee.issue(record, chain, this.#chains.parentTimeUs(chain), this.#clock.monotonicMs());
    this.stats.workIssued += 1;
    this.#emit({ type: 'work', chain, height: this.#chains.heightOf(chain) + 1n, account });
    return record;
  }

  /** Judges a submitted header. If it solves work on its chain's tip, it becomes the next block. */
  submit(header: Uint8Array): Judgement {
    const judgement = this.#referee.judge(header, this.nowUs(), this.#clock.monotonicMs());
    if (header.length === HEADER_BYTES) this.#record(header, judgement);
    if (judgement.outcome === 'accepted' && !judgement.work.late) {
      this.#append(judgement.work.chain, header, 'miner');
      this.#tellNewCut(judgement.work.chain);
    }
    return judgement;
  }

  /** @returns the blocks with `minHeight <= height <= maxHeight`, ascending */
  blocks(chain: number, minHeight: bigint, maxHeight: bigint): Block[] {
    return this.#chains.blocks(chain, minHeight, maxHeight);
  }

  /** Cancels the blocks that are still to come. */
  close(): void {
    for (const timer of this.#pendingBlocks) clearTimeout(timer);
    this.#pendingBlocks.clear();
  }

  #record(header: Uint8Array, judgement: Judgement): void {
    const { outcome, work } = judgement;
    const view = viewOf(header);
    const submission: SubmissionRecord = {
      outcome,
      reason: outcome === 'accepted' ? '' : judgement.reason,
      orphaned: outcome === 'accepted' && judgement.work.late,
      chain: view.getUint32(HEADER_OFFSET.chain, true),
      height: view.getBigUint64(HEADER_OFFSET.height, true),
      nonce: nonceOf(header),
      creationTimeUs: creationTimeOf(header),
      workTimeUs: work && creationTimeOf(work.header),
      duplicate: this.stats.isDuplicate(toHex(header), nonceKey(header)),
      header,
    };
    this.stats.record(submission);
    if (outcome === 'rejected' && judgement.timeViolation) this.stats.timeViolations += 1;
    this.#emit({ type: 'submission', ...submission });
  }

  #append(chain: number, header: Uint8Array, by: 'miner' | 'rival'): void {
    this.#chains.append(chain, header);
    this.#referee.advance(chain, this.settings.lateSolutions === 'refuse');
    this.#emit({ type: 'block', by, chain, height: this.#chains.heightOf(chain) });
  }

  #tellNewCut(chain: number): void {
    this.#tell('New Cut', chain);
    if (this.settings.neighbourCuts) {
      for (const neighbour of this.#chains.adjacentsOf(chain)) this.#tell('New Cut', neighbour);
    }
  }

  #tell(update: Update, chain: number): void {
    for (const follower of this.#followers) follower(update, chain);
  }

  #randomChain(): number {
    return randomInteger(this.#random, this.settings.chains);
  }

  #later(ms: number, append: () => void): void {
    const timer = setTimeout(() => {
      this.#pendingBlocks.delete(timer);
      append();
    }, ms);
    this.#pendingBlocks.add(timer);
  }
}
