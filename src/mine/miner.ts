/**
 * The loop: works come from the source, every engine searches the current one, candidates are verified, solutions are
 * submitted. It knows the two interfaces and no implementation of either.
 */

import { setMaxListeners } from 'node:events';
import { rolledCreationTime } from '../chain/creation-time.ts';
import { type Job, prepareJob } from '../chain/job.ts';
import { LANES, PAGES } from '../chain/nonce.ts';
import { difficultyOf } from '../chain/target.ts';
import { judge } from '../chain/verify.ts';
import { creationTimeOf, type Work } from '../chain/work.ts';
import type { Engine, SearchReport } from '../engine/engine.ts';
import type { Controls, PauseReason } from '../events/controls.ts';
import type { Listener } from '../events/events.ts';
import type { SourceUpdate, WorkSource } from '../source/source.ts';
import { Assignment } from './assignment.ts';
import { Space } from './space.ts';
import { Station, type StationOptions } from './station.ts';
import { Submitter } from './submitter.ts';

/** How often the creation time follows the clock. A new job costs well under a millisecond of search. */
const ROLL_MS = 3_000;
/**
 * Kept between a rolled time and the node's clock. The bound on that clock is a lower one already; this is for nodes
 * that compare against another node's.
 */
const TIME_MARGIN_US = 500_000n;

export interface MinerOptions extends StationOptions {
  readonly source: WorkSource;
  readonly engines: readonly Engine[];
  readonly emit: Listener;
  /** A uniform integer in [0, below). */
  readonly random: (below: number) => number;
}

export class Miner implements Controls {
  readonly #options: MinerOptions;
  readonly #stations: readonly Station[];
  readonly #submitter: Submitter;
  /** A rig keeps to one lane unless its source assigns others: two rigs of one miner then never meet. */
  readonly #ownLane: number;
  readonly #stale = new WeakSet<Work>();
  readonly #solved = new WeakSet<Work>();
  #current: Assignment | undefined;
  /** When the New Cut was heard of whose work has not come yet. */
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
      report: (station: Station, assignment: Assignment, job: Job, { candidates }: SearchReport) => {
        for (const nonce of candidates) this.#take(station, assignment, job, nonce);
      },
      exhausted: (assignment: Assignment) => this.#renew(assignment),
    };
    this.#stations = engines.map((engine) => new Station(engine, hooks, options));
  }

  /** Mines until it is stopped, or until no engine is left. Pending submissions are seen through. May be called once. */
  async run(stop?: AbortSignal): Promise<void> {
    const done = new AbortController();
    this.#stop = AbortSignal.any([...(stop ? [stop] : []), this.#stopping.signal, done.signal]);
    setMaxListeners(0, this.#stop); // some for each device
    this.#stop.addEventListener('abort', () => this.#assign(undefined), { once: true });
    const rolling = setInterval(() => this.#roll(), ROLL_MS);
    const following = this.#follow();
    await Promise.all(this.#stations.map((station) => station.run(this.#stop)));
    clearInterval(rolling);
    await this.#submitter.settled();
    done.abort();
    await following;
  }

  pause(reason: PauseReason, why: string, device?: string): boolean {
    const stations = this.#named(device);
    for (const station of stations) station.pause(reason, why);
    return stations.length > 0;
  }

  resume(reason: PauseReason, device?: string): boolean {
    const stations = this.#named(device);
    for (const station of stations) station.resume(reason);
    return stations.length > 0;
  }

  stop(): void {
    this.#stopping.abort();
  }

  #named(device: string | undefined): readonly Station[] {
    return this.#stations.filter(({ engine }) => device === undefined || engine.name === device);
  }

  async #follow(): Promise<void> {
    for await (const update of this.#options.source.works(this.#stop)) this.#heed(update);
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
      this.#options.emit({ event: 'work', chain, height, difficulty: assignment.difficulty });
    } else if (update.kind === 'stale') {
      if (this.#current) {
        const { work } = this.#current.job;
        this.#stale.add(work);
        if (update.reason === 'new cut') {
          this.#cutMs = this.#options.clock.monotonicMs();
          this.#options.emit({ event: 'new_cut', chain: work.chain });
        }
      }
      // Stopping frees the processor for the request that is under way: stale hashes are worth nothing.
      this.#assign(undefined);
    }
    // Lost: what is being mined stays valid, so go on.
  }

  /** Puts every engine to an assignment at once. The old one ends after the new one began, so that none runs idle. */
  #assign(assignment: Assignment | undefined): void {
    const previous = this.#current;
    this.#current = assignment;
    for (const station of this.#stations) station.assign(assignment);
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

  /** Moves the current work's creation time up to the clock, as a new job with a fresh space. */
  #roll(): void {
    if (!this.#current) return;
    const { work, header } = this.#current.job;
    const creationTimeUs = this.#timeFor(work);
    if (creationTimeUs <= creationTimeOf(header)) return;
    this.#assign(this.#prepare(work));
    this.#options.emit({ event: 'job', chain: work.chain, height: work.height, creationTimeUs });
  }

  /** The space is used up: a later time gives a fresh one, else another lane does where lanes are ours to choose. */
  #renew(exhausted: Assignment): void {
    if (this.#current !== exhausted) return;
    this.#roll();
    const { work } = exhausted.job;
    if (this.#current === exhausted && work.lane === undefined) {
      this.#assign(this.#prepare(work, this.#options.random(LANES)));
    }
  }

  /** A claim of an engine: nothing that it says is believed before the referee has seen it. */
  #take(station: Station, assignment: Assignment, job: Job, nonce: bigint): void {
    const { proves, powHash, solution } = judge(job, nonce);
    if (!proves) station.hardwareError(nonce);
    if (!proves || !assignment.claim(nonce)) return;
    const { name: device } = station.engine;
    const difficulty = difficultyOf(powHash);
    this.#options.emit({ event: 'proof', device, hashes: difficultyOf(job.searchTarget), difficulty });
    if (!solution) return;
    const { work } = job;
    if (work.until === 'solved') {
      if (this.#solved.has(work)) return;
      this.#solved.add(work);
      // Its parent can carry one block of ours only: more hashes are worth nothing.
      if (this.#current?.job.work === work) this.#assign(undefined);
    }
    this.#submitter.submit(solution, device, this.#stop);
  }
}
