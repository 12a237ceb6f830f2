/** A simulated miner that follows a source of works, really hashes in virtual time, and counts the verdicts. */

import { sharedController } from '#pickaxe/base/system/abort.js';
import type { Clock, Timer } from '#pickaxe/base/system/clock.js';
import type { Outcome } from '#pickaxe/miner/events/vocabulary.js';
import type { SourceUpdate, WorkSource } from '#pickaxe/miner/source/source.js';
import { equalBytes } from '#pickaxe/protocol/chain/bytes.js';
import { prepareJob, puzzleOf } from '#pickaxe/protocol/chain/job.js';
import { laneWithin } from '#pickaxe/protocol/chain/nonce.js';
import { verify } from '#pickaxe/protocol/chain/verify.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { Search } from './hashing.ts';

export interface SimulatedMinerOptions {
  readonly clock: Clock;
  readonly source: WorkSource;
  readonly hashesPerSecond: number;
}

/** Time between two rounds of hashing. */
const ROUND_MS = 200;

export class SimulatedMiner {
  readonly outcomes: Record<Outcome, number> = {
    accepted: 0,
    delivered: 0,
    rejected: 0,
    stale: 0,
    unknown: 0,
  };
  /** The reasons of all outcomes but `accepted`. */
  readonly reasons: string[] = [];
  readonly updates: SourceUpdate[] = [];
  /** Number of shares that were found. */
  found = 0;
  /** Number of hashes while there was work. */
  hashes = 0;
  /** Number of rounds without work. */
  idleRounds = 0;
  /** Settles when the source has ended. */
  readonly ended: Promise<void>;
  readonly #options: SimulatedMinerOptions;
  readonly #stop = sharedController();
  readonly #timer: Timer;
  #work: Work | undefined;
  /** The newest work, even if it is stale. */
  #last: Work | undefined;
  #search: Search | undefined;

  constructor(options: SimulatedMinerOptions) {
    const { clock, source } = options;
    this.#options = options;
    this.ended = source.follow((update) => this.#apply(update), this.#stop.signal);
    this.#timer = clock.setInterval(() => this.#hash(), ROUND_MS);
  }

  /** Number of shares that have no verdict yet. */
  get pending(): number {
    return this.found - Object.values(this.outcomes).reduce((sum, count) => sum + count, 0);
  }

  stop(): void {
    this.#timer.cancel();
    this.#stop.abort();
  }

  #apply(update: SourceUpdate): void {
    this.updates.push(update);
    if (update.kind === 'work') this.#begin(update.work);
    else if (update.kind === 'stale' && update.works.some((work) => work === this.#work)) this.#work = undefined;
  }

  #begin(work: Work): void {
    const before = this.#last;
    if (work === this.#work) return;
    // A work that differs from the last one only in its target has the same nonces, which are not searched again.
    const isAgain = before && equalBytes(before.header, work.header) && before.nonce1.value === work.nonce1.value;
    const counter = isAgain ? this.#search?.counter : 0;
    this.#work = work;
    this.#last = work;
    this.#search = new Search(puzzleOf(work.header, work.target), laneWithin(work.nonce1, 0), counter);
  }

  #hash(): void {
    const work = this.#work;
    if (!work || !this.#search) {
      this.idleRounds++;
      return;
    }
    const hashes = Math.round((this.#options.hashesPerSecond * ROUND_MS) / 1000);
    this.hashes += hashes;
    for (const nonce of this.#search.next(hashes)) void this.#submit(work, nonce);
  }

  async #submit(work: Work, nonce: bigint): Promise<void> {
    const { solution } = verify(prepareJob(work), nonce);
    if (!solution) throw new Error('a found nonce is no solution');
    this.found++;
    const { outcome, reason } = await this.#options.source.submit(solution, this.#stop.signal);
    this.outcomes[outcome]++;
    if (outcome !== 'accepted') this.reasons.push(reason);
  }
}
