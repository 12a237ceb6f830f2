/**
 * The mining loop: a source gives work, all engines search the current work, and solutions are submitted to the source.
 */

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
 * Interval at which the current work's creation time is moved forward, if it may be moved. Each move makes a new job,
 * which costs well under a millisecond of searching.
 */
const ROLL_MS = 3_000;
/**
 * Number of pending submissions at which all devices pause. They resume when at most half of this number is pending.
 * The miner drops no solution, so solutions for a source that does not answer would pile up without a bound. Usually,
 * one or two submissions to a pool are pending.
 */
const MOST_PENDING = 1_024;

const systemRandom = (below: number) => randomInt(below);

export interface MinerOptions extends Partial<SupervisorOptions> {
  /** Must be a `SharedSource` if relays follow the same source. */
  readonly source: WorkSource;
  /** The engines must have different names. */
  readonly engines: readonly Engine[];
  /** Called with each event. If it throws an error, mining ends, and `run` throws the same error. */
  readonly emit?: Listener;
  /** Returns a uniformly distributed integer in [0, below). The default uses the system's random number generator. */
  readonly random?: (below: number) => number;
  /**
   * The lane to search. If the source fixes some or all bytes of the lane, the source's bytes are used instead. The
   * default is a random lane, so that two rigs rarely search the same nonces.
   */
  readonly lane?: number;
  /**
   * Whether the miner goes on after all its engines are parked. It should go on if relays follow the same source. By
   * default mining ends then.
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
  /** The latest assignment, even if it has ended. */
  #last: Assignment | undefined;
  /**
   * Whether an event has reported that a job's nonces were used up before the next job came. This is reported only
   * once.
   */
  #hasUsedUp = false;
  /** Time of the last New Cut (monotonic, ms); undefined once new work has come after it. */
  #cutMs: number | undefined;
  readonly #stopping = sharedController();
  #stop: AbortSignal = AbortSignal.abort();
  #hasRun = false;
  /** The first error that the source or the listener (`emit`) has thrown. Neither should throw. */
  #fault: { readonly thrown: unknown } | undefined;

  /** @throws RangeError when two engines have the same name */
  constructor(options: MinerOptions) {
    const { engines, emit = () => {}, clock = systemClock, random = systemRandom, lane } = options;
    const { staysWithoutEngines = false } = options;
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
    this.#staysWithoutEngines = staysWithoutEngines;
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
   * Mines until `stop` is aborted or `stop()` is called. Mining also ends when all engines are parked, unless
   * `staysWithoutEngines` is set. Then waits for pending submissions.
   * @throws Error if `run` is called a second time. If the source or `emit` has thrown an error, the first such error
   *   is thrown after the engines have ended
   */
  async run(stop?: AbortSignal): Promise<void> {
    if (this.#hasRun) throw new Error('a miner runs once: make a new one to mine again');
    this.#hasRun = true;
    const release = stop && onAbort(stop, () => this.stop());
    this.#stop = this.#stopping.signal;
    onAbort(this.#stop, () => this.#assign(undefined));
    const rolling = this.#clock.setInterval(() => this.#guarded(() => this.#refresh()), ROLL_MS);
    const following = this.#follow().catch((thrown: unknown) => this.#fail(thrown));
    await Promise.all(this.#supervisors.map((supervisor) => supervisor.run(this.#stop)));
    if (this.#staysWithoutEngines) await aborted(this.#stop);
    rolling.cancel();
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
   * Runs an action that calls the source or the listener. If the action throws, mining ends. The error must not reach
   * the caller: in a timer it would end the process, and in a search it would look like a fault of the device.
   */
  #guarded(action: () => void): void {
    try {
      action();
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  /** Ends mining after an error of the source or of the listener, because mining needs both. */
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
      const current = update.works.find((work) => work === this.#current?.job.work);
      if (!current) return;
      const { chain } = current;
      if (update.reason === 'new-cut') {
        this.#cutMs = this.#clock.monotonicMs();
        this.#emit({ type: 'new-cut', chain });
      } else {
        this.#emit({ type: 'work-ended', chain, reason: update.reason });
      }
      // The engines idle until new work comes: hashes of stale work are worth nothing, and the request for new work
      // gets the processor sooner.
      this.#assign(undefined);
    }
    // An update of kind `lost` changes nothing, because the work stays valid.
  }

  /**
   * Gives every engine a new assignment, or none. The previous assignment ends only after the new one has begun, so
   * that no engine is idle in between.
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
   * Returns the space of the latest assignment if that assignment has this header and this lane. So no nonce is
   * searched twice when two works have the same header but different targets. Otherwise returns a new space.
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
   * Moves the current work's creation time forward to the latest valid time. This makes a new job with a new space.
   * Does nothing if the work's creation time may not be moved, or no later time is valid yet.
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
   * Called when an assignment's space is used up. If a later creation time is valid, it gives a new space. Otherwise
   * another random lane gives a new space, unless the source fixes the whole lane, or the options set a lane.
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
   * Reports once that the devices wait for the next job. A nonce1 of three or four bytes leaves a job too few nonces
   * for a fast device. If the work's creation time may be moved, the wait is short and not reported.
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
      // Only one block can follow a parent block on its chain, so further solutions of this work are worth nothing.
      if (this.#current?.job.work === work) {
        this.#assign(undefined);
        this.#emit({ type: 'work-ended', chain: work.chain, reason: 'solved' });
      }
    }
    void this.#submitter.submit(solution, { name: device, isRelay: false }, this.#stop);
  }

  #limitBacklog(pending: number): void {
    if (pending >= MOST_PENDING) {
      const { name } = this.#source;
      this.pause('backlog', `${name} does not answer: ${MOST_PENDING} solutions wait for their verdicts`);
    } else if (pending <= MOST_PENDING / 2) this.resume('backlog');
  }
}
