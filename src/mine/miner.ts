/**
 * The mining loop: the source gives work, every engine searches the current work, and solutions are submitted. It uses the
 * interfaces WorkSource and Engine and knows no implementation of either.
 */

import { setMaxListeners } from 'node:events';
import { rolledCreationTime } from '../chain/creation-time.ts';
import { prepareJob } from '../chain/job.ts';
import { LANES, PAGES } from '../chain/nonce.ts';
import type { Solution } from '../chain/verify.ts';
import { creationTimeOf, type Work } from '../chain/work.ts';
import type { Engine } from '../engine/engine.ts';
import type { Controls, PauseReason } from '../events/controls.ts';
import type { Listener } from '../events/events.ts';
import type { SourceUpdate, WorkSource } from '../source/source.ts';
import { onAbort } from '../system/abort.ts';
import { Assignment } from './assignment.ts';
import { EngineSupervisor, type SupervisorOptions } from './engine-supervisor.ts';
import { Space } from './space.ts';
import { Submitter } from './submitter.ts';

/** How often the creation time follows the clock. A new job costs well under a millisecond of searching. */
const ROLL_MS = 3_000;
/**
 * How far a rolled time stays behind the node's clock. What is known of that clock is a lower bound already; the margin is for
 * nodes that compare the time with another node's clock.
 */
const TIME_MARGIN_US = 500_000n;

export interface MinerOptions extends SupervisorOptions {
  readonly source: WorkSource;
  readonly engines: readonly Engine[];
  readonly emit: Listener;
  /** Returns a uniformly distributed integer in [0, below). */
  readonly random: (below: number) => number;
}

export class Miner implements Controls {
  readonly #options: MinerOptions;
  readonly #supervisors: readonly EngineSupervisor[];
  readonly #submitter: Submitter;
  /** A rig stays in one random lane unless its source assigns another, so that two rigs hardly ever search the same nonces. */
  readonly #ownLane: number;
  readonly #stale = new WeakSet<Work>();
  readonly #solved = new WeakSet<Work>();
  #current: Assignment | undefined;
  /** When the last New Cut came, while its new work has not come yet. */
  #cutMs: number | undefined;
  readonly #stopping = new AbortController();
  #stop: AbortSignal = AbortSignal.abort();

  constructor(options: MinerOptions) {
    this.#options = options;
    const { source, emit, clock, engines, random } = options;
    this.#ownLane = random(LANES);
    this.#submitter = new Submitter({ source, emit, clock, isStale: ({ work }) => this.#stale.has(work) });
    const hooks = {
      emit,
      solved: (solution: Solution, device: string) => this.#take(solution, device),
      exhausted: (assignment: Assignment) => this.#renew(assignment),
    };
    this.#supervisors = engines.map((engine) => new EngineSupervisor(engine, hooks, options));
  }

  /** Mines until it is stopped or all engines are parked, then waits for pending submissions. May be called once. */
  async run(stop?: AbortSignal): Promise<void> {
    const release = stop && onAbort(stop, () => this.stop());
    this.#stop = this.#stopping.signal;
    setMaxListeners(0, this.#stop); // Each device adds some listeners.
    onAbort(this.#stop, () => this.#assign(undefined));
    const rolling = setInterval(() => this.#roll(), ROLL_MS);
    const following = this.#follow();
    await Promise.all(this.#supervisors.map((supervisor) => supervisor.run(this.#stop)));
    clearInterval(rolling);
    await this.#submitter.settled();
    this.stop();
    await following;
    release?.();
  }

  pause(reason: PauseReason, why: string, device?: string): boolean {
    const supervisors = this.#named(device);
    for (const supervisor of supervisors) supervisor.pause(reason, why);
    return supervisors.length > 0;
  }

  resume(reason: PauseReason, device?: string): boolean {
    const supervisors = this.#named(device);
    for (const supervisor of supervisors) supervisor.resume(reason);
    return supervisors.length > 0;
  }

  stop(): void {
    this.#stopping.abort();
  }

  #named(device: string | undefined): readonly EngineSupervisor[] {
    return this.#supervisors.filter(({ engine }) => device === undefined || engine.name === device);
  }

  async #follow(): Promise<void> {
    for await (const update of this.#options.source.updates(this.#stop)) this.#heed(update);
  }

  #heed(update: SourceUpdate): void {
    if (this.#stop.aborted) return;
    if (update.kind === 'work') {
      const { work } = update;
      if (this.#current?.job.work === work || this.#solved.has(work) || this.#stale.has(work)) return;
      const { chain, height } = work;
      const assignment = this.#prepare(work);
      this.#cutMs = undefined;
      this.#assign(assignment);
      this.#options.emit({ type: 'work', chain, height, difficulty: assignment.difficulty });
    } else if (update.kind === 'stale') {
      if (this.#current) {
        const { work } = this.#current.job;
        this.#stale.add(work);
        if (update.reason === 'new-cut') {
          this.#cutMs = this.#options.clock.monotonicMs();
          this.#options.emit({ type: 'new-cut', chain: work.chain });
        }
      }
      // Stale hashes are worth nothing, and idle engines leave the processor to the request for new work.
      this.#assign(undefined);
    }
    // When a source is lost, its work stays valid.
  }

  /** Gives every engine an assignment. The old one ends only after the new one has begun, so that no engine is idle. */
  #assign(assignment: Assignment | undefined): void {
    const previous = this.#current;
    this.#current = assignment;
    for (const supervisor of this.#supervisors) supervisor.assign(assignment);
    previous?.end();
  }

  #prepare(work: Work, lane = work.lane ?? this.#ownLane): Assignment {
    const job = prepareJob(work, this.#timeFor(work));
    return new Assignment(job, new Space(lane, this.#options.random(PAGES)), this.#cutMs);
  }

  #timeFor(work: Work): bigint {
    const received = creationTimeOf(work.header);
    if (!work.rollTime) return received;
    return rolledCreationTime(received, this.#options.source.latestTimeUs(work), TIME_MARGIN_US);
  }

  /** Moves the current work's creation time forward to the clock. This makes a new job with a fresh space. */
  #roll(): void {
    if (!this.#current) return;
    const { work, header } = this.#current.job;
    const creationTimeUs = this.#timeFor(work);
    if (creationTimeUs <= creationTimeOf(header)) return;
    this.#assign(this.#prepare(work));
    this.#options.emit({ type: 'job', chain: work.chain, height: work.height, creationTimeMicros: creationTimeUs });
  }

  /** Called when the space is used up. A later creation time gives a fresh space; so does another lane, if none is assigned. */
  #renew(exhausted: Assignment): void {
    if (this.#current !== exhausted) return;
    this.#roll();
    const { work } = exhausted.job;
    if (this.#current === exhausted && work.lane === undefined) {
      this.#assign(this.#prepare(work, this.#options.random(LANES)));
    }
  }

  #take(solution: Solution, device: string): void {
    const { work } = solution;
    if (work.until === 'solved') {
      if (this.#solved.has(work)) return;
      this.#solved.add(work);
      // A parent can carry only one block of this miner, so further hashes are worth nothing.
      if (this.#current?.job.work === work) this.#assign(undefined);
    }
    this.#submitter.submit(solution, device, this.#stop);
  }
}
