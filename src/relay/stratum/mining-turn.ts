/** What a session mines: its jobs, its difficulty, and when each changes. */

import { targetForDifficulty } from '../../chain/target.ts';
import type { Work } from '../../chain/work.ts';
import { formatTarget } from '../../wire/stratum.ts';
import { formatSetTarget } from '../../wire/stratum-requests.ts';
import type { SessionNow } from '../accounts.ts';
import { JobTable, type ShareTerms } from './job-table.ts';
import { rollMs } from './roll.ts';
import type { SharedJob } from './shared-jobs.ts';
import { type Known, Vardiff } from './vardiff.ts';
import type { SessionWorld } from './world.ts';

/** Of a session of which nothing is known: its target is 2^214 − 1, as all servers of this network have it. */
const FIRST_DIFFICULTY = 2 ** 42;
/** How often the difficulty is looked at, beside at each share. A miner that slows down sends none. */
const RETARGET_MS = 1_000;
/** How long shares of the former target count with new jobs, too. Miners may take the new target late. */
const GRACE_MS = 10_000;

export interface Wishes {
  readonly worker: string;
  /** The difficulties that the worker has chosen and suggested, in hashes per share. */
  readonly chosen: number | undefined;
  readonly suggested: number | undefined;
}

export class MiningTurn implements SessionNow {
  readonly jobs = new JobTable();
  readonly #world: SessionWorld;
  readonly #send: (lines: string | Buffer) => void;
  readonly #vardiff: Vardiff;
  #last: SharedJob | undefined;
  #terms: ShareTerms | undefined;
  #former: ShareTerms | undefined;
  #changedMs = 0;
  #givenMs = 0;
  #rolledMs = 0;
  #retargetMs = 0;

  constructor(world: SessionWorld, { worker, chosen, suggested }: Wishes, send: (lines: string | Buffer) => void) {
    this.#world = world;
    this.#send = send;
    const { aimSeconds, learningSeconds, rates } = world;
    this.#vardiff = new Vardiff({
      aimSeconds,
      learningSeconds,
      difficulty: chosen ?? suggested ?? FIRST_DIFFICULTY,
      isChosen: chosen !== undefined,
      known: rates.get(worker),
    });
  }

  get hashesPerSecond(): number {
    return this.#vardiff.hashesPerSecond;
  }

  get difficulty(): number {
    return this.#terms?.difficulty ?? this.#vardiff.difficulty;
  }

  get isLearning(): boolean {
    return this.#vardiff.isLearning;
  }

  get isKnown(): boolean {
    return this.#vardiff.isKnown;
  }

  get known(): Known {
    return this.#vardiff.known;
  }

  /** What the shares of the newest job must meet. */
  get newest(): ShareTerms | undefined {
    return this.#terms;
  }

  works(): Work[] {
    return this.jobs.works();
  }

  /**
   * Gives the client a job, if there is work.
   * @param clean whether it shall drop its earlier jobs
   */
  give(clean: boolean, nowMs: number): void {
    const work = this.#world.works.current;
    if (work) this.#give(this.#world.jobs.next(work, this.#last, nowMs), clean, nowMs);
  }

  #give(shared: SharedJob, clean: boolean, nowMs: number): void {
    const line = this.#setTerms(shared, nowMs);
    const isRecent = nowMs - this.#changedMs < GRACE_MS;
    this.jobs.add(shared, this.#terms as ShareTerms, isRecent ? this.#former : undefined);
    this.#last = shared;
    this.#givenMs = nowMs;
    this.#rolledMs = nowMs;
    const notify = shared.notify(clean);
    this.#send(line === '' ? notify : line + notify.toString('latin1'));
  }

  /** Notes a share of this difficulty. */
  share(difficulty: number, nowMs: number): void {
    this.#vardiff.share(difficulty, nowMs);
    this.#retarget(nowMs);
  }

  suggest(difficulty: number, nowMs: number): void {
    this.#vardiff.suggest(difficulty);
    this.#retarget(nowMs);
  }

  /** Rolls the creation time and adjusts the difficulty when it is time for that. */
  tick(nowMs: number): void {
    if (nowMs - this.#retargetMs >= RETARGET_MS) this.#retarget(nowMs);
    const rate = this.#vardiff.isKnown ? this.#vardiff.hashesPerSecond : undefined;
    if (nowMs - this.#rolledMs >= rollMs(rate)) this.#roll(nowMs);
  }

  #roll(nowMs: number): void {
    const work = this.#world.works.current;
    this.#rolledMs = nowMs;
    if (!work || !this.#last) return;
    const shared = this.#world.jobs.next(work, this.#last, nowMs);
    // Where the creation time may not be moved, the same job is sent again, and only to show that the server is alive.
    if (shared.job !== this.#last.job) this.#give(shared, false, nowMs);
    else if (nowMs - this.#givenMs >= rollMs(0)) this.#give(this.#last, false, nowMs);
  }

  #retarget(nowMs: number): void {
    this.#retargetMs = nowMs;
    // A target is fixed for a job, so a new one needs a new job.
    if (this.#vardiff.retarget(nowMs) && this.#last) this.give(true, nowMs);
  }

  /** @returns the line that tells a new target; empty where it is the same as before */
  #setTerms(shared: SharedJob, nowMs: number): string {
    const own = this.#vardiff.difficulty;
    const isBlock = shared.difficulty <= own;
    const difficulty = isBlock ? shared.difficulty : own;
    if (this.#terms?.difficulty === difficulty) return '';
    const target = isBlock ? shared.job.work.target : targetForDifficulty(difficulty);
    this.#former = this.#terms;
    this.#terms = { target, difficulty };
    this.#changedMs = nowMs;
    this.#vardiff.offer(difficulty, nowMs);
    return formatSetTarget(formatTarget(target));
  }
}
