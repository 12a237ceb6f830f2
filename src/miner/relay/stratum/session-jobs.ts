/**
 * The jobs and the difficulty of a session. Decides when the client gets a new job, and when its difficulty changes.
 */

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

/**
 * First difficulty of a session whose worker is not known, in hashes per share. Its target is 2^214 − 1, as on the
 * reference server.
 */
const FIRST_DIFFICULTY = 2 ** 42;
/**
 * Time between two checks of the difficulty. The difficulty is also checked at each share, but a miner that has become
 * slow may send no share.
 */
const RETARGET_MS = 1_000;
/**
 * Time for which a new target may wait for a job with a later creation time. Right after a New Cut no later creation
 * time is possible, because the work's own creation time is still ahead of the latest time that is surely valid for the
 * node.
 */
const RETARGET_PATIENCE_MS = 3_000;
/**
 * If the target is too easy by more than this factor, a new target does not wait: otherwise the client would flood the
 * server with shares.
 */
const FLOOD_RATIO = 16;
/**
 * Time for which shares of new jobs may still meet only the former target, because some miners apply a new target late.
 */
const GRACE_MS = 10_000;

/** What all sessions of a server share. */
export interface SessionContext {
  readonly works: Pick<RelayedWorks, 'current' | 'judge' | 'isStale'>;
  readonly jobs: SharedJobs;
  readonly nonce1s: Nonce1Pool;
  readonly accounts: Accounts;
  readonly rates: RememberedRates;
  readonly clock: Clock;
  readonly limits: StratumLimits;
  /** Planned seconds between two shares of a session that is not learning any more. */
  readonly aimSeconds: number;
  /** Returns the planned seconds between two shares of a session that is learning. */
  readonly learningSeconds: () => number;
  readonly quota: ShareLogQuota;
  readonly log: RelayLog;
  readonly firstShares: LogBucket;
}

interface ClientHints {
  readonly address: string;
  readonly worker: string;
  /**
   * The difficulty that the client has chosen in its password (`chosen`), and the difficulty that it has suggested in a
   * message (`suggested`), both in hashes per share; undefined if there is none.
   */
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
  /**
   * Whether shares of the newest job count for an easier target than the job's, because the job's header was first
   * given with that easier target.
   */
  #isUnderpaid = false;
  #givenMs = 0;
  #lookedMs = 0;
  /** Time at which the vardiff changed the difficulty (monotonic, ms); undefined if no new target waits for a job. */
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
    // Anyone can use a worker's name, so a remembered low rate is not used: a fast miner would begin with a flood of
    // shares. A slow miner loses little, because its difficulty falls to a tenth every two seconds while it sends no
    // share.
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

  /**
   * Gives the client a job of the current work; does nothing if there is no work.
   * @param clean whether the client must drop its earlier jobs
   */
  give(clean: boolean, nowMs: number): void {
    const { works, jobs } = this.#context;
    const work = works.current;
    if (!work) return;
    const shared = jobs.later(work, this.#last, nowMs) ?? (this.#last && jobs.again(this.#last));
    if (shared) this.#give(shared, clean, nowMs);
  }

  #give(shared: SharedJob, isWanted: boolean, nowMs: number): void {
    // When the vardiff has changed the difficulty, the client must always drop its earlier jobs.
    const clean = isWanted || this.#retargetSinceMs !== undefined;
    this.#retargetSinceMs = undefined;
    const isAgain = shared.job === this.#last?.job;
    const before = this.difficulty;
    const target = this.#setTerms(shared, nowMs);
    this.#isUnderpaid = isAgain && (this.#isUnderpaid || this.difficulty > before);
    this.table.add(shared, this.#terms as ShareTerms, this.#former);
    this.#last = shared;
    this.#givenMs = nowMs;
    this.#client.give(shared.lines, clean, target);
  }

  /** Counts a share that meets its job's target. @param difficulty of this target, in hashes per share */
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

  /** Adjusts the difficulty if this is due, and gives a job with a later creation time if that is due. */
  tick(nowMs: number): void {
    const isTime = nowMs - this.#lookedMs >= RETARGET_MS;
    if (isTime || this.#retargetSinceMs !== undefined) this.#retarget(nowMs);
    const rate = this.#vardiff.isKnown ? this.#vardiff.hashesPerSecond : undefined;
    if (this.#isUnderpaid || nowMs - this.#givenMs >= rollMs(rate)) this.#roll(nowMs);
  }

  #roll(nowMs: number): void {
    const { works, jobs } = this.#context;
    const work = works.current;
    if (!work || !this.#last) return;
    const shared = jobs.later(work, this.#last, nowMs);
    if (shared) this.#give(shared, false, nowMs);
    // If no later creation time is possible for 30 s, the same job is sent again, only to show that the server is
    // alive.
    else if (nowMs - this.#givenMs >= rollMs(0)) this.#give(this.#last, false, nowMs);
  }

  /** Gives a new job if the difficulty has changed: a job's target is fixed, so a new target needs a new job. */
  #retarget(nowMs: number): void {
    this.#lookedMs = nowMs;
    if (this.#vardiff.retarget(nowMs)) this.#retargetSinceMs ??= nowMs;
    const work = this.#context.works.current;
    if (this.#retargetSinceMs === undefined || !work || !this.#last) return;
    const shared = this.#context.jobs.later(work, this.#last, nowMs);
    const isFlood = this.#vardiff.difficulty > FLOOD_RATIO * this.difficulty;
    const mayWait = work.rollTime && !isFlood && nowMs - this.#retargetSinceMs < RETARGET_PATIENCE_MS;
    // A job with the same header is the last resort, because the miner searches the same nonces again.
    if (shared) this.#give(shared, true, nowMs);
    else if (!mayWait) this.give(true, nowMs);
  }

  /**
   * Sets the terms of the session's shares for a job.
   * @returns the new target; undefined if the difficulty is unchanged
   */
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
