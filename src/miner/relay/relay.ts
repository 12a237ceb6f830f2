/**
 * The Relay interface. A relay passes a source's work to hashers outside of this process, such as ASICs, and verifies
 * the nonces that they find. Unlike an engine, a relay takes no ranges and does not count searched nonces.
 */

import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from '../../base/system/clock.ts';
import { type Job, prepareJob } from '../../protocol/chain/job.ts';
import { type Solution, type Verification, verify } from '../../protocol/chain/verify.ts';
import { creationTimeOf, type Work } from '../../protocol/chain/work.ts';
import type { Listener } from '../events/events.ts';
import { completed } from '../source/complete-source.ts';
import { updatesOf } from '../source/following.ts';
import { creationTimeFor, type SourceUpdate, type Verdict, type WorkSource } from '../source/source.ts';
import { Submitter } from '../source/submitter.ts';

export interface Relay {
  /** The relay's name, for people and in events, such as `stratum`. No device may have the same name. */
  readonly name: string;
  /**
   * Prepares the relay: for example, a server begins to listen.
   * @throws Error or RelayRefusal if that is not possible
   */
  open(): Promise<void>;
  /**
   * Relays work until `stop` is aborted. Then waits for pending submissions and frees all resources. Called once, after
   * `open`.
   * @throws only what the source has thrown, or a RelayRefusal, after all resources are freed
   */
  run(stop: AbortSignal): Promise<void>;
}

/** Thrown if the relay must not run. Then the whole rig ends. The message includes the remedy. */
export class RelayRefusal extends Error {
  override readonly name = 'RelayRefusal';
}

export interface RelayLog {
  debug(line: string): void;
  info(line: string): void;
  warn(line: string): void;
}

/* The works of a relay's source. Several works are valid at once, because solutions of a replaced work still count. */

export interface RelayedWorksOptions {
  readonly name: string;
  readonly source: WorkSource;
  readonly emit?: Listener;
  readonly clock?: Clock;
  /** Called when the current work has changed: with the new work, or with undefined if there is none. */
  readonly changed: (work: Work | undefined, update: SourceUpdate) => void;
  /** Called after each update of the source. If the update has changed the current work, `changed` is called first. */
  readonly updated?: (update: SourceUpdate) => void;
}

export interface Judgement extends Verification {
  /** The source's verdict on the solution; undefined if nothing was submitted (see `submit`). */
  readonly verdict: Promise<Verdict> | undefined;
}

export class RelayedWorks {
  readonly #options: RelayedWorksOptions;
  readonly #submitter: Submitter;
  readonly #stale = new WeakSet<Work>();
  /** Works that accept one solution, and for which a solution was submitted. */
  readonly #solved = new WeakSet<Work>();
  #current: Work | undefined;
  #stop: AbortSignal = AbortSignal.abort();

  constructor(options: RelayedWorksOptions) {
    this.#options = options;
    const { emit = () => {}, clock = systemClock } = options;
    const source = completed(options.source);
    this.#submitter = new Submitter({ source, emit, clock, isStale: ({ work }) => this.#stale.has(work) });
  }

  get current(): Work | undefined {
    return this.#current;
  }

  isStale(work: Work): boolean {
    return this.#stale.has(work);
  }

  /**
   * Follows the source until `stop`, then waits for pending submissions. Called once.
   * @throws what the source has thrown
   */
  async follow(stop: AbortSignal): Promise<void> {
    this.#stop = stop;
    setMaxListeners(0, stop); // Each pending submission may add a listener.
    try {
      for await (const update of updatesOf(this.#options.source, stop)) {
        this.#apply(update);
        this.#options.updated?.(update);
      }
    } finally {
      await this.#submitter.settled();
    }
  }

  /**
   * @param earlier the hasher's last job of the same work
   * @returns a job with the latest valid creation time; undefined if this time is not later than the earlier job's
   */
  jobOf(work: Work, earlier?: Job): Job | undefined {
    const creationTimeUs = creationTimeFor(work, this.#options.source);
    if (earlier && creationTimeUs <= creationTimeOf(earlier.header)) return undefined;
    return prepareJob(work, creationTimeUs);
  }

  /**
   * Verifies a nonce. If its hash meets the work's own target, the nonce is submitted as a solution.
   * @param job the job that the hasher got, with the target of the hasher's shares as the search target
   * @param nonce 0 … 2^64 − 1
   */
  judge(job: Job, nonce: bigint): Judgement {
    const verification = verify(job, nonce);
    const { solution } = verification;
    return { ...verification, verdict: solution && this.submit(solution) };
  }

  /**
   * Submits a solution, with two exceptions: the same solution was submitted before, or its work accepts only one
   * solution and another solution was submitted before. In the second case, the new solution is useless. If the first
   * solution was accepted, no other solution can be accepted, because only one block can follow the work's parent. If
   * the node refused the first solution, the node has dropped the work. If no answer came, the source repeats the first
   * solution as long as the node can accept it.
   * @returns the source's verdict; undefined if the solution is not submitted
   */
  submit(solution: Solution): Promise<Verdict> | undefined {
    const { work } = solution;
    if (this.#solved.has(work)) return undefined;
    const verdict = this.#submitter.submit(solution, { name: this.#options.name, isRelay: true }, this.#stop);
    if (!verdict || work.until === 'replaced') return verdict;
    this.#solved.add(work);
    // The source sends the solution first, and reports only later that the work is stale. In the meantime, no further
    // job of the work may be made.
    if (work === this.#current) this.#end({ kind: 'stale', works: [work], reason: 'solved' });
    return verdict;
  }

  #apply(update: SourceUpdate): void {
    if (update.kind === 'lost') return; // The source's work stays valid.
    if (update.kind === 'work') {
      const { work } = update;
      if (work === this.#current || this.#stale.has(work) || this.#solved.has(work)) return;
      this.#current = work;
      this.#options.changed(work, update);
    } else if (update.kind === 'rest') {
      if (this.#current) this.#end(update);
    } else {
      for (const work of update.works) this.#stale.add(work);
      if (update.works.some((work) => work === this.#current)) this.#end(update);
    }
  }

  #end(update: SourceUpdate): void {
    this.#current = undefined;
    this.#options.changed(undefined, update);
  }
}
