/** A session's jobs and difficulty, and when each changes. */

import type { LogBucket } from '../../../base/system/bounded.ts';
import type { Clock } from '../../../base/system/clock.ts';
import { targetForDifficulty } from '../../../protocol/chain/target.ts';
import type { Work } from '../../../protocol/chain/work.ts';
import type { Accounts, SessionNow } from '../accounts.ts';
import type { RelayedWorks, RelayLog } from '../relay.ts';
import { type FormerTerms, JobTable, rollMs, type SharedJob, type SharedJobs, type ShareTerms } from './jobs.ts';
import type { Nonce1Pool } from './nonce1-pool.ts';
import type { ShareLogQuota } from './share-log.ts';
import type { StratumLimits } from './stratum-limits.ts';
import type { StratumClient } from './stratum-messages.ts';
import { type Known, type RememberedRates, Vardiff } from './vardiff.ts';

/** The first difficulty of an unknown session. Its target is 2^214 − 1, like the reference server's. */
const FIRST_DIFFICULTY = 2 ** 42;
/** Time between two checks of the difficulty besides those at shares: a miner that slows down sends none. */
const RETARGET_MS = 1_000;
/**
 * How long a new target may wait for a job with a later creation time. Right after a New Cut no later time is possible,
 * because the work's own time is later than the time that is surely valid on the node's clock.
 */
const RETARGET_PATIENCE_MS = 3_000;
/** A target that is too easy by this factor is replaced at once: otherwise shares would come in a flood. */
const FLOOD_RATIO = 16;
/** Time for which shares of the former target count with new jobs: miners may take the new target late. */
const GRACE_MS = 10_000;

/** Shared by all sessions of a server. */
export interface SessionContext {
  readonly works: Pick<RelayedWorks, 'current' | 'judge' | 'isStale'>;
  readonly jobs: SharedJobs;
  readonly nonce1s: Nonce1Pool;
  readonly accounts: Accounts;
  readonly rates: RememberedRates;
  readonly clock: Clock;
  readonly limits: StratumLimits;
  /** Seconds between two shares of a session whose rate is known. */
  readonly aimSeconds: number;
  /** Seconds between two shares while the rate is not known. */
  readonly learningSeconds: () => number;
  readonly quota: ShareLogQuota;
  readonly log: RelayLog;
  readonly firstShares: LogBucket;
}

interface ClientHints {
  readonly address: string;
  readonly worker: string;
  /** The difficulties that the client has chosen by its password and suggested, in hashes per share. */
  readonly chosen: number | undefined;
  readonly suggested: number | undefined;
}

export class SessionJobs implements SessionNow {
  readonly table = new JobTable();
  readonly #context: SessionContext;
  readonly #client: Pick<StratumClient, 'give'>;
  readonly #vardiff: Vardiff;
  #last: SharedJob | undefined;
  #terms: ShareTerms | undefined;
  #former: FormerTerms | undefined;
  /** Whether the newest job's header was first given with an easier target, for which its shares count. */
  #isUnderpaid = false;
  #givenMs = 0;
  #rolledMs = 0;
  #lookedMs = 0;
  /** When the vardiff has changed the target; undefined if no new target waits for a job. */
  #retargetSinceMs: number | undefined;

  constructor(context: SessionContext, hints: ClientHints, client: Pick<StratumClient, 'give'>) {
    this.#context = context;
    this.#client = client;
    const { address, worker, chosen, suggested } = hints;
    const { aimSeconds, learningSeconds, rates } = context;
    const options = {
      aimSeconds,
      learningSeconds,
      difficulty: chosen ?? suggested ?? FIRST_DIFFICULTY,
      isChosen: chosen !== undefined,
    };
    const remembered = new Vardiff({ ...options, known: rates.get(address, worker) });
    // Anyone can use a name, so its remembered rate must not let a fast miner begin with a flood of shares. A slow
    // miner loses little: while it brings no share, its difficulty falls to a tenth every two seconds.
    const isEasy = chosen === undefined && remembered.difficulty < FIRST_DIFFICULTY;
    this.#vardiff = isEasy ? new Vardiff(options) : remembered;
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

  get newest(): ShareTerms | undefined {
    return this.#terms;
  }

  works(): Work[] {
    return this.table.works();
  }

  /** Gives the client a job if there is work. @param clean whether the client must drop its earlier jobs */
  give(clean: boolean, nowMs: number): void {
    const { works, jobs } = this.#context;
    const work = works.current;
    if (!work) return;
    const shared = jobs.later(work, this.#last, nowMs) ?? (this.#last && jobs.again(this.#last));
    if (shared) this.#give(shared, clean, nowMs);
  }

  #give(shared: SharedJob, isWanted: boolean, nowMs: number): void {
    // A new target always comes with a clean job.
    const clean = isWanted || this.#retargetSinceMs !== undefined;
    this.#retargetSinceMs = undefined;
    const isAgain = shared.job === this.#last?.job;
    const before = this.difficulty;
    const target = this.#setTerms(shared, nowMs);
    this.#isUnderpaid = isAgain && (this.#isUnderpaid || this.difficulty > before);
    this.table.add(shared, this.#terms as ShareTerms, this.#former);
    this.#last = shared;
    this.#givenMs = nowMs;
    this.#rolledMs = nowMs;
    this.#client.give(shared.lines, clean, target);
  }

  /** Notes a share that meets its job's target. @param difficulty of that target, in hashes */
  share(difficulty: number, nowMs: number): void {
    this.#vardiff.share(difficulty, nowMs);
    this.#retarget(nowMs);
  }

  suggest(difficulty: number, nowMs: number): void {
    this.#vardiff.suggest(difficulty);
    this.#retarget(nowMs);
  }

  slowDown(nowMs: number): void {
    this.#vardiff.slowDown(nowMs);
  }

  /** Adjusts the difficulty and rolls the creation time, each if it is due. */
  tick(nowMs: number): void {
    const isTime = nowMs - this.#lookedMs >= RETARGET_MS;
    if (isTime || this.#retargetSinceMs !== undefined) this.#retarget(nowMs);
    const rate = this.#vardiff.isKnown ? this.#vardiff.hashesPerSecond : undefined;
    if (this.#isUnderpaid || nowMs - this.#rolledMs >= rollMs(rate)) this.#roll(nowMs);
  }

  #roll(nowMs: number): void {
    const { works, jobs } = this.#context;
    const work = works.current;
    this.#rolledMs = nowMs;
    if (!work || !this.#last) return;
    const shared = jobs.later(work, this.#last, nowMs);
    if (shared) this.#give(shared, false, nowMs);
    // If the creation time may not be moved, the same job is sent again, only to show that the server is alive.
    else if (nowMs - this.#givenMs >= rollMs(0)) this.#give(this.#last, false, nowMs);
  }

  /** A job's target is fixed, so a new target needs a new job. */
  #retarget(nowMs: number): void {
    this.#lookedMs = nowMs;
    if (this.#vardiff.retarget(nowMs)) this.#retargetSinceMs ??= nowMs;
    const work = this.#context.works.current;
    if (this.#retargetSinceMs === undefined || !work || !this.#last) return;
    const shared = this.#context.jobs.later(work, this.#last, nowMs);
    const isFlood = this.#vardiff.difficulty > FLOOD_RATIO * this.difficulty;
    const mayWait = work.rollTime && !isFlood && nowMs - this.#retargetSinceMs < RETARGET_PATIENCE_MS;
    // A job with the same header comes last: the miner searches the same nonces again.
    if (shared) this.#give(shared, true, nowMs);
    else if (!mayWait) this.give(true, nowMs);
  }

  /** @returns the session's new target; undefined if it is unchanged */
  #setTerms(shared: SharedJob, nowMs: number): Uint8Array | undefined {
    const own = this.#vardiff.difficulty;
    const isBlock = shared.difficulty <= own;
    const difficulty = isBlock ? shared.difficulty : own;
    if (this.#terms?.difficulty === difficulty) return undefined;
    const target = isBlock ? shared.job.work.target : targetForDifficulty(difficulty);
    this.#former = this.#terms && { ...this.#terms, untilMs: nowMs + GRACE_MS };
    this.#terms = { target, difficulty };
    this.#vardiff.offer(difficulty, nowMs);
    return target;
  }
}
