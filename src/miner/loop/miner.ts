/** The mining loop: the source gives work, every engine searches the current work, and solutions are submitted. */

import { randomInt } from 'node:crypto';
import { aborted, onAbort, sharedController } from '../../base/system/abort.ts';
import { type Clock, systemClock } from '../../base/system/clock.ts';
import { equalBytes } from '../../protocol/chain/bytes.ts';
import { type Job, prepareJob } from '../../protocol/chain/job.ts';
import { LANES, type Lane, laneWithin } from '../../protocol/chain/nonce.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import { creationTimeOf, networkNumberOf, type Work } from '../../protocol/chain/work.ts';
import type { Engine } from '../engine/engine.ts';
import type { Controls, Listener, PauseReason } from '../events/events.ts';
import { type CompleteSource, completed } from '../source/complete-source.ts';
import { updatesOf } from '../source/following.ts';
import { creationTimeFor, type SourceUpdate, type WorkSource } from '../source/source.ts';
import { Submitter } from '../source/submitter.ts';
import { EngineSupervisor, type SupervisorOptions } from './engine-supervisor.ts';
import { Assignment, Space } from './space.ts';

/**
 * Time between two moves of the creation time to the present time. A new job costs well under a millisecond of
 * searching.
 */
const ROLL_MS = 3_000;
/**
 * Number of pending submissions at which the devices pause until half of them have been answered. The miner drops no
 * solution, so a source that does not answer must not get more of them. A pool usually has one or two pending.
 */
const MOST_PENDING = 1_024;

const systemRandom = (below: number) => randomInt(below);

export interface MinerOptions extends Partial<SupervisorOptions> {
  /** Must be a SharedSource if relays use the source, too. */
  readonly source: WorkSource;
  /** The engines must have different names. */
  readonly engines: readonly Engine[];
  /** Called with everything that happens. An error that it throws ends mining, and `run` throws it. */
  readonly emit?: Listener;
  /** Returns a uniformly distributed integer in [0, below). The default is the system's random numbers. */
  readonly random?: (below: number) => number;
  /** Lane for sources that leave the lane open. The default is random, so that two rigs rarely repeat nonces. */
  readonly lane?: number;
  /**
   * Whether to go on following the source when no engine is left, because relays use its work. By default mining ends.
   */
  readonly staysWithoutEngines?: boolean;
}

export class Miner implements Controls {
  readonly #source: CompleteSource;
  readonly #emit: Listener;
  readonly #clock: Clock;
  readonly #random: (below: number) => number;
  readonly #lane: number | undefined;
  readonly #staysWithoutEngines: boolean;
  readonly #supervisors: readonly EngineSupervisor[];
  readonly #submitter: Submitter;
  readonly #ownLane: number;
  readonly #stale = new WeakSet<Work>();
  readonly #solved = new WeakSet<Work>();
  #current: Assignment | undefined;
  /** The last assignment, which may have ended. */
  #last: Assignment | undefined;
  #hasBacklog = false;
  /** Whether it was reported that a job's nonces were used up before the next job came. */
  #hasUsedUp = false;
  /** Time of the last New Cut (monotonic, ms); undefined once the work after it has come. */
  #cutMs: number | undefined;
  readonly #stopping = sharedController();
  #stop: AbortSignal = AbortSignal.abort();
  #hasRun = false;
  /** The first error that the source or a listener has thrown, although neither may throw. */
  #fault: { readonly thrown: unknown } | undefined;

  /** @throws RangeError when two engines have the same name */
  constructor(options: MinerOptions) {
    const { engines, emit = () => {}, clock = systemClock, random = systemRandom, lane } = options;
    const source = completed(options.source);
    const names = engines.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) throw new RangeError(`two engines have the name “${twice}”: give each a name of its own`);
    this.#source = source;
    this.#emit = (event) => this.#guarded(() => emit(event));
    this.#clock = clock;
    this.#random = random;
    this.#lane = lane;
    this.#ownLane = lane ?? random(LANES);
    this.#staysWithoutEngines = options.staysWithoutEngines ?? false;
    this.#submitter = new Submitter({
      source,
      emit: this.#emit,
      clock,
      isStale: ({ work }) => this.#stale.has(work),
      pending: (count) => this.#limitBacklog(count),
    });
    const hooks = {
      emit: this.#emit,
      solved: (solution: Solution, device: string) => this.#take(solution, device),
      exhausted: (assignment: Assignment) => this.#guarded(() => this.#renew(assignment)),
    };
    this.#supervisors = engines.map((engine) => new EngineSupervisor(engine, hooks, { ...options, clock }));
  }

  /**
   * Mines until it is stopped or, unless it stays without engines, until all engines are parked. Then waits for pending
   * submissions.
   * @throws what the source or `emit` has thrown, after the engines have ended; Error when `run` is called again
   */
  async run(stop?: AbortSignal): Promise<void> {
    if (this.#hasRun) throw new Error('a miner runs once: make a new one to mine again');
    this.#hasRun = true;
    const release = stop && onAbort(stop, () => this.stop());
    this.#stop = this.#stopping.signal;
    onAbort(this.#stop, () => this.#assign(undefined));
    const rolling = setInterval(() => this.#guarded(() => this.#refresh()), ROLL_MS);
    const following = this.#follow().catch((thrown: unknown) => this.#fail(thrown));
    await Promise.all(this.#supervisors.map((supervisor) => supervisor.run(this.#stop)));
    if (this.#staysWithoutEngines) await aborted(this.#stop);
    clearInterval(rolling);
    await this.#submitter.settled();
    this.stop();
    await following;
    release?.();
    if (this.#fault) throw this.#fault.thrown;
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

  /**
   * Runs an action that calls the source or a listener, and ends mining if it throws. The error must not reach the
   * timer or the search that runs the action.
   */
  #guarded(action: () => void): void {
    try {
      action();
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  /** Ends mining after an error of the source or of a listener: mining cannot go on without them. */
  #fail(thrown: unknown): void {
    this.#fault ??= { thrown };
    this.stop();
  }

  #named(device: string | undefined): readonly EngineSupervisor[] {
    return this.#supervisors.filter(({ engine }) => device === undefined || engine.name === device);
  }

  async #follow(): Promise<void> {
    for await (const update of updatesOf(this.#source, this.#stop)) this.#apply(update);
  }

  #apply(update: SourceUpdate): void {
    if (this.#stop.aborted) return;
    if (update.kind === 'work') {
      const { work } = update;
      if (this.#current?.job.work === work || this.#solved.has(work) || this.#stale.has(work)) return;
      const { chain, height, until, target } = work;
      const assignment = this.#prepare(work);
      this.#cutMs = undefined;
      this.#assign(assignment);
      const { difficulty } = assignment;
      const share = until === 'replaced' && { shareDifficulty: difficultyOf(target) };
      const networkCode = networkNumberOf(work.header);
      this.#emit({ type: 'work', chain, height, networkCode, difficulty, ...share });
    } else if (update.kind === 'rest') {
      if (!this.#current) return;
      const { chain } = this.#current.job.work;
      this.#assign(undefined);
      this.#emit({ type: 'work-ended', chain, reason: 'cancelled' });
    } else if (update.kind === 'stale') {
      for (const work of update.works) this.#stale.add(work);
      const current = this.#current?.job.work;
      if (!current || !update.works.includes(current)) return;
      const { chain } = current;
      if (update.reason === 'new-cut') {
        this.#cutMs = this.#clock.monotonicMs();
        this.#emit({ type: 'new-cut', chain });
      } else {
        this.#emit({ type: 'work-ended', chain, reason: update.reason });
      }
      // Stale hashes are worth nothing, and idle engines leave the processor to the request for new work.
      this.#assign(undefined);
    }
    // An update `lost` changes nothing, because the work stays valid.
  }

  /**
   * Gives every engine an assignment. The previous assignment ends only after the new one has begun, so that no engine
   * is idle.
   */
  #assign(assignment: Assignment | undefined): void {
    const previous = this.#current;
    this.#current = assignment;
    if (assignment) this.#last = assignment;
    for (const supervisor of this.#supervisors) supervisor.assign(assignment);
    previous?.end();
  }

  #prepare(work: Work, lane = this.#ownLane): Assignment {
    const job = prepareJob(work, creationTimeFor(work, this.#source));
    return new Assignment(job, this.#spaceFor(job, laneWithin(work.nonce1, lane)), this.#cutMs);
  }

  /**
   * Reuses the space of an equal header, so that no nonce is searched again when two works differ only in their targets
   * or names.
   */
  #spaceFor({ header }: Job, lane: Lane): Space {
    const known = this.#last;
    const isSameLane = known?.space.lane === lane.lane && known.space.step === lane.step;
    if (isSameLane && equalBytes(known.job.header, header)) return known.space;
    return Space.anywhere(lane, this.#random);
  }

  #refresh(): void {
    this.#roll();
    for (const supervisor of this.#supervisors) supervisor.adjustProofs();
  }

  /**
   * Moves the current work's creation time forward to the present time, as far as the work allows. This makes a new job
   * with a fresh space.
   */
  #roll(): void {
    if (!this.#current) return;
    const { work, header } = this.#current.job;
    const creationTimeUs = creationTimeFor(work, this.#source);
    if (creationTimeUs <= creationTimeOf(header)) return;
    this.#assign(this.#prepare(work));
    this.#emit({ type: 'job', chain: work.chain, height: work.height, creationTimeMicros: creationTimeUs });
  }

  /**
   * Called when a space is used up. A new space comes from a later creation time or, if neither the source nor the
   * options fix the lane, from another lane.
   */
  #renew(exhausted: Assignment): void {
    if (this.#current !== exhausted) return;
    this.#roll();
    const { work } = exhausted.job;
    if (this.#current !== exhausted) return;
    if (work.nonce1.bytes >= 2) this.#reportUsedUp(work);
    else if (this.#lane === undefined) this.#assign(this.#prepare(work, this.#random(LANES)));
  }

  /**
   * Reports once that devices wait: with a nonce1 of three or four bytes, a job has too few nonces for a fast device.
   */
  #reportUsedUp(work: Work): void {
    const { kind } = this.#source;
    if (this.#hasUsedUp || work.rollTime) return;
    this.#hasUsedUp = true;
    const { bytes } = work.nonce1;
    const left = `leaves 2^${64 - 8 * bytes} nonces of a job (nonce1 has ${bytes} bytes)`;
    const reason = `${left}: all are searched, and the devices wait for the next job`;
    this.#emit({
      type: 'source',
      source: this.#source.nameOf(work),
      kind,
      state: 'info',
      reason,
    });
  }

  #take(solution: Solution, device: string): void {
    const { work } = solution;
    if (work.until === 'solved') {
      if (this.#solved.has(work)) return;
      this.#solved.add(work);
      // A parent can carry only one block of this miner, so further hashes are worth nothing.
      if (this.#current?.job.work === work) {
        this.#assign(undefined);
        this.#emit({ type: 'work-ended', chain: work.chain, reason: 'solved' });
      }
    }
    void this.#submitter.submit(solution, { name: device, isRelay: false }, this.#stop);
  }

  #limitBacklog(pending: number): void {
    if (pending >= MOST_PENDING && !this.#hasBacklog) {
      this.#hasBacklog = true;
      const { name } = this.#source;
      this.pause('backlog', `${name} does not answer: ${MOST_PENDING} solutions wait for their verdicts`);
    } else if (pending <= MOST_PENDING / 2 && this.#hasBacklog) {
      this.#hasBacklog = false;
      this.resume('backlog');
    }
  }
}
