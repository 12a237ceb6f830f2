/**
 * The Relay interface. A relay hands a source's work on to hashers outside of this process, such as ASICs, and verifies
 * their nonces. Unlike an engine, a relay takes no ranges and counts no nonces.
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
  /** The relay's name for people and in events, such as `stratum`. No device has the same name. */
  readonly name: string;
  /** Prepares the relay, for example listens on its port. @throws Error or RelayRefusal if that is not possible */
  open(): Promise<void>;
  /**
   * Relays work until `stop`, then waits for pending submissions and frees everything. Called once, after `open`.
   * @throws only what the source has thrown, or a RelayRefusal, after everything is freed
   */
  run(stop: AbortSignal): Promise<void>;
}

/** The relay may not go on, and the run ends with it. The message gives the remedy. */
export class RelayRefusal extends Error {
  override readonly name = 'RelayRefusal';
}

export interface RelayLog {
  debug(line: string): void;
  info(line: string): void;
  warn(line: string): void;
}

/* The works of a relay's source. There are several at once, because solutions of a replaced work still count. */

export interface RelayedWorksOptions {
  readonly name: string;
  readonly source: WorkSource;
  readonly emit?: Listener;
  readonly clock?: Clock;
  /** Called with the current work when it has changed; with undefined when there is no work. */
  readonly changed: (work: Work | undefined, update: SourceUpdate) => void;
  /** Called after each update of the source, and after `changed` if the update has changed the current work. */
  readonly updated?: (update: SourceUpdate) => void;
}

export interface Judgement extends Verification {
  /** The source's verdict, if the nonce is a submitted solution: see `submit`. */
  readonly verdict: Promise<Verdict> | undefined;
}

export class RelayedWorks {
  readonly #options: RelayedWorksOptions;
  readonly #submitter: Submitter;
  readonly #stale = new WeakSet<Work>();
  /** Works that ended with their first solution. */
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

  /** Follows the source until `stop`, then waits for submissions. Called once. @throws what the source has thrown */
  async follow(stop: AbortSignal): Promise<void> {
    this.#stop = stop;
    setMaxListeners(0, stop); // Each solution that waits for its verdict has a listener.
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
   * @returns a job with the latest creation time that is valid; undefined if the earlier job has the same
   */
  jobOf(work: Work, earlier?: Job): Job | undefined {
    const creationTimeUs = creationTimeFor(work, this.#options.source);
    if (earlier && creationTimeUs <= creationTimeOf(earlier.header)) return undefined;
    return prepareJob(work, creationTimeUs);
  }

  /**
   * Verifies a nonce, and submits it if it is a solution.
   * @param job the job that the hasher got, with the target of its shares as search target
   * @param nonce 0 … 2^64 − 1
   */
  judge(job: Job, nonce: bigint): Judgement {
    const verification = verify(job, nonce);
    const { solution } = verification;
    return { ...verification, verdict: solution && this.submit(solution) };
  }

  /**
   * Submits a solution, unless its work takes only one solution and another was submitted before. Even if the first is
   * refused, a second would be useless: the source repeats the first while it can be accepted, a node drops the work
   * of a solution that it refuses, and only one block can follow the work's parent.
   * @returns the source's verdict; undefined if the solution is not submitted
   */
  submit(solution: Solution): Promise<Verdict> | undefined {
    const { work } = solution;
    if (this.#solved.has(work)) return undefined;
    const verdict = this.#submitter.submit(solution, { name: this.#options.name, isRelay: true }, this.#stop);
    if (!verdict || work.until === 'replaced') return verdict;
    this.#solved.add(work);
    // The source reports `solved` only after it has sent the solution. No more jobs of the work may be made meanwhile.
    if (work === this.#current) this.#end({ kind: 'stale', works: [work], reason: 'solved' });
    return verdict;
  }

  #apply(update: SourceUpdate): void {
    if (update.kind === 'lost') return; // Its work stays valid.
    if (update.kind === 'work') {
      const { work } = update;
      if (work === this.#current || this.#stale.has(work) || this.#solved.has(work)) return;
      this.#current = work;
      this.#options.changed(work, update);
    } else if (update.kind === 'rest') {
      if (this.#current) this.#end(update);
    } else {
      for (const work of update.works) this.#stale.add(work);
      if (this.#current && update.works.includes(this.#current)) this.#end(update);
    }
  }

  #end(update: SourceUpdate): void {
    this.#current = undefined;
    this.#options.changed(undefined, update);
  }
}
