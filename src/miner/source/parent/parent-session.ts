/** One parent's session: its jobs, its shares and the verdicts on them. */

import { setMaxListeners } from 'node:events';
import { pause } from '../../../base/system/abort.ts';
import type { Clock } from '../../../base/system/clock.ts';
import { difficultyOf, targetForDifficulty } from '../../../protocol/chain/target.ts';
import type { Solution } from '../../../protocol/chain/verify.ts';
import type { Work } from '../../../protocol/chain/work.ts';
import {
  type Answer,
  type ByeReason,
  type JobRequest,
  LIMITS,
  type Request,
  shareOf,
  targetOf,
  workOf,
} from '../../../protocol/wire/worker.ts';
import type { Verdict } from '../source.ts';
import { ParentConnection, type ParentStreams } from './connection.ts';

/** Time limit for a parent's verdict on a share. It is longer than a node takes to answer the parent. */
const VERDICT_MS = 60_000;
/** Time limit for a parent's verdict after mining has ended. */
const LAST_VERDICT_MS = 2_000;
/**
 * Time for devices to report solutions after the search has ended, because a GPU's current batch cannot be stopped.
 */
const LAST_SHARES_MS = 1_000;
/** Time limit for a parent to read the last shares and `bye` after mining has ended. */
const LAST_READ_MS = 10_000;
/**
 * If a parent has this number of unread shares, the jobs of other parents are mined first. The number is a sixteenth of
 * the pending submissions at which the miner pauses, because several parents may be slow to read.
 */
const REST_SHARES = 64;

export interface RigView {
  /** The first lines to a parent: `hello`, and the state of the devices. */
  greeting(): readonly Answer[];
  stats(): Omit<Extract<Answer, { type: 'stats' }>, 'jobs' | 'shares' | 'unreadShares'>;
}

interface SessionHooks {
  /** @returns the number of the next job. The jobs of all sessions are numbered in one series, from 1 */
  readonly nextNumber: () => number;
  /** Called after a change that may concern the work to mine, such as a new job, target or share rate. */
  readonly changed: () => void;
  readonly flooded: () => void;
  /** Called when `isResting` has changed. */
  readonly rests: (session: ParentSession) => void;
  /** Called with jobs that have ended, so that their works are stale. */
  readonly ended: (jobs: readonly ParentJob[], reason: 'cancelled' | 'solved') => void;
  /** Called when the parent has asked to drain, or has ended its side of the connection. */
  readonly drain: (session: ParentSession, reason: ByeReason) => void;
  readonly closed: (session: ParentSession) => void;
}

export class ParentSession {
  readonly #connection: ParentConnection;
  readonly #clock: Clock;
  readonly #rig: RigView;
  readonly #hooks: SessionHooks;
  /** The jobs that have not ended, in order of arrival. */
  #jobs: readonly ParentJob[] = [];
  /** Maximum average number of shares a second that the parent has asked for. */
  #sharesPerSecond = Number.POSITIVE_INFINITY;
  #shares = 0;
  #unread = 0;
  #isResting = false;
  #isDraining = false;
  #leaving: Promise<void> | undefined;
  readonly #closing = new AbortController();
  readonly #verdicts = new Map<number, (verdict: Verdict) => void>();

  constructor(streams: ParentStreams, rig: RigView, hooks: SessionHooks, clock: Clock) {
    this.#clock = clock;
    this.#rig = rig;
    this.#hooks = hooks;
    const received = {
      request: (request: Request, line: number) => this.#apply(request, line),
      inputEnded: () => hooks.drain(this, 'input-ended'),
      flooded: hooks.flooded,
      closed: () => this.#closed(),
    };
    this.#connection = new ParentConnection(streams, received, clock);
  }

  begin(): void {
    for (const answer of this.#rig.greeting()) void this.#connection.send(answer);
    this.#connection.listen();
  }

  /** The job to search; undefined if there is none, or while the session drains. */
  get newest(): ParentJob | undefined {
    return this.#isDraining ? undefined : this.#jobs.at(-1);
  }

  /** Whether the parent has so many unread shares that jobs of other sessions are mined first. */
  get isResting(): boolean {
    return this.#isResting;
  }

  get unreadShares(): number {
    return this.#unread;
  }

  /**
   * @returns the average number of hashes that a share must take, so that this hashrate finds no more shares a second
   *   than the parent has asked for
   */
  leastDifficulty(hashesPerSecond: number): number {
    return hashesPerSecond / this.#sharesPerSecond;
  }

  /** Sends an answer that the parent can miss. It is left out while too many bytes wait for the parent. */
  inform(answer: Answer): void {
    if (!this.#connection.isBehind) void this.#connection.send(answer);
  }

  /**
   * Sends a share. Settles when the parent has read the share; if the job has verdicts, only when the verdict has come,
   * too. The wait for a verdict always has a time limit. The wait for the parent to read has a time limit only after
   * `stop`.
   */
  async submit(job: ParentJob, solution: Solution, stop: AbortSignal): Promise<Verdict> {
    setMaxListeners(0, stop); // Each share that waits for the parent adds listeners to this signal.
    const share = ++this.#shares;
    const judged = job.verdicts ? this.#verdictOn(share, stop) : undefined;
    this.#unread++;
    this.#judgeReading();
    const sent = this.#connection.send(shareOf(solution, share, job.id));
    const wasRead = await untilLate(this.#clock, sent, stop, LAST_READ_MS);
    this.#unread--;
    this.#judgeReading();
    if (wasRead) return judged ?? { outcome: 'delivered', reason: 'the parent judges no shares' };
    return { outcome: 'unknown', reason: 'the parent ended its connection, or did not read, before it got this' };
  }

  cancelAll(): void {
    this.#end(this.#jobs, 'cancelled');
  }

  solved(job: ParentJob): void {
    this.#end([job], 'solved');
  }

  /** Stops the search, sends the shares that devices still report within `LAST_SHARES_MS`, and ends the connection. */
  async drain(reason: ByeReason): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#hooks.changed();
    if (this.#jobs.length > 0) await pause(this.#clock, LAST_SHARES_MS, this.#closing.signal);
    this.cancelAll();
    await this.leave(reason);
  }

  /** Sends `bye` and ends the connection. Settles when the parent has read `bye`, or after `LAST_READ_MS`. */
  leave(reason: ByeReason): Promise<void> {
    this.#leaving ??= this.#leave(reason);
    return this.#leaving;
  }

  async #leave(reason: ByeReason): Promise<void> {
    const sent = this.#connection.send({ type: 'bye', reason, shares: this.#shares });
    await untilLate(this.#clock, sent, AbortSignal.abort(), LAST_READ_MS);
    this.#connection.end();
  }

  #apply(request: Request, line: number): void {
    if (this.#isDraining && request.type === 'job') return; // The search for this parent has ended.
    switch (request.type) {
      case 'job':
        this.#take(request, line);
        break;
      case 'cancel':
        if (request.id === undefined) this.cancelAll();
        else this.#withJob(request.id, line, (job) => this.#end([job], 'cancelled'));
        break;
      case 'target':
        this.#withJob(request.id, line, (job) => {
          job.wants(request.target);
          this.#hooks.changed();
        });
        break;
      case 'verdict':
        this.#judge(request, line);
        break;
      case 'rate':
        this.#sharesPerSecond = request.sharesPerSecond ?? Number.POSITIVE_INFINITY;
        this.#hooks.changed();
        break;
      case 'stats': {
        const own = { jobs: this.#jobs.length, shares: this.#shares, unreadShares: this.#unread };
        void this.#connection.send({ ...this.#rig.stats(), ...own });
        break;
      }
      case 'ping':
        void this.#connection.send({ type: 'pong', ...(request.echo !== undefined && { echo: request.echo }) });
        break;
      case 'drain':
        this.#hooks.drain(this, 'drained');
    }
  }

  #take(request: Request & { type: 'job' }, line: number): void {
    if (this.#jobs.some(({ id }) => id === request.id) && !request.clean) {
      const message = `the job ${request.id} is held already: cancel it first, or choose another id`;
      this.#connection.refuse({ code: 'id-in-use', message }, line, request.id);
      return;
    }
    const old = request.clean ? this.#jobs : this.#jobs.slice(0, Math.max(0, this.#jobs.length + 1 - LIMITS.jobs));
    this.#jobs = [
      ...this.#jobs.filter((each) => !old.includes(each)),
      new ParentJob(request, this.#hooks.nextNumber()),
    ];
    this.#cancel(old, 'cancelled');
    this.#hooks.changed();
  }

  #withJob(id: string, line: number, action: (job: ParentJob) => void): void {
    const job = this.#jobs.find((each) => each.id === id);
    if (job) action(job);
    else {
      const message = `no job ${id} is held: it was cancelled, was solved or never came`;
      this.#connection.refuse({ code: 'unknown-job', message }, line, id);
    }
  }

  #end(jobs: readonly ParentJob[], reason: 'cancelled' | 'solved'): void {
    this.#jobs = this.#jobs.filter((each) => !jobs.includes(each));
    this.#cancel(jobs, reason);
    this.#hooks.changed();
  }

  #cancel(jobs: readonly ParentJob[], reason: 'cancelled' | 'solved'): void {
    if (jobs.length === 0) return;
    for (const job of jobs) job.hasEnded = true;
    this.#hooks.ended(jobs, reason);
  }

  #judge({ share, outcome, reason = '' }: Request & { type: 'verdict' }, line: number): void {
    const settle = this.#verdicts.get(share);
    if (settle) settle({ outcome, reason });
    else {
      const message = `no share ${share} waits for a verdict: it has one, is too old, or its job lacks "verdicts": true`;
      this.#connection.refuse({ code: 'unknown-share', message }, line);
    }
  }

  #verdictOn(share: number, stop: AbortSignal): Promise<Verdict> {
    return new Promise((resolve) => {
      const ended = new AbortController();
      const settle = (verdict: Verdict) => {
        ended.abort();
        this.#verdicts.delete(share);
        resolve(verdict);
      };
      this.#verdicts.set(share, settle);
      const late = async () => {
        await pause(this.#clock, VERDICT_MS, ended.signal, stop);
        if (stop.aborted) await pause(this.#clock, LAST_VERDICT_MS, ended.signal);
        settle({ outcome: 'unknown', reason: 'the parent gave no verdict in time' });
      };
      void late();
    });
  }

  #judgeReading(): void {
    const rests = this.#isResting ? this.#unread > REST_SHARES / 2 : this.#unread >= REST_SHARES;
    if (rests === this.#isResting) return;
    this.#isResting = rests;
    this.#hooks.rests(this);
  }

  #closed(): void {
    this.#closing.abort();
    for (const settle of this.#verdicts.values()) settle({ outcome: 'unknown', reason: 'its connection ended' });
    this.cancelAll();
    this.#hooks.closed(this);
  }
}

/** @returns the result of the task; undefined if the task has not settled within `ms` after `stop` */
async function untilLate<T>(clock: Clock, task: Promise<T>, stop: AbortSignal, ms: number): Promise<T | undefined> {
  const settled = new AbortController();
  const late = async () => {
    await pause(clock, Number.POSITIVE_INFINITY, stop, settled.signal);
    await pause(clock, ms, settled.signal);
    return undefined;
  };
  try {
    return await Promise.race([task, late()]);
  } finally {
    settled.abort();
  }
}

/**
 * A target that is made from the share rate replaces the current target only if the difficulty changes by at least this
 * factor, up or down.
 */
const WORTH_MOVING = 1.25;
/**
 * A parent's job has a work for each target that it has had. The last works, up to this number, are kept, so that they
 * can be reported as stale when the job ends. No solutions of earlier works are expected any more.
 */
const REMEMBERED = 8;

export class ParentJob {
  readonly id: string;
  /** A newer job has a higher number. */
  readonly number: number;
  /** Whether the parent sends verdicts on the job's shares. */
  readonly verdicts: boolean;
  /** Whether the job was cancelled or solved. Further solutions of it are worthless. */
  hasEnded = false;
  #works: readonly Work[];
  /** The target that the parent asked for: 32 bytes, little-endian. */
  #wanted: Uint8Array;

  constructor(request: JobRequest, number: number) {
    const work = workOf(request);
    this.id = request.id;
    this.number = number;
    this.verdicts = request.verdicts === true;
    this.#works = [work];
    this.#wanted = work.target;
  }

  /** The job's work with the current target. All works of a job have the same header. */
  get work(): Work {
    return this.#works[0];
  }

  /** The works that may still be searched: those with the current target and with earlier targets, newest first. */
  get works(): readonly Work[] {
    return this.#works;
  }

  /** Sets the target that the parent asks for. @param target hex digits, which were checked before */
  wants(target: string): void {
    this.#wanted = targetOf(target);
  }

  /**
   * Changes the work's target to the target that the parent asked for, or to a harder one if the share rate requires
   * it. The share rate never requires a harder target than the block's, so that no block is missed. The share rate is
   * ignored for a job that ends with its first solution.
   * @param leastDifficulty average number of hashes that a share must take to keep within the share rate
   * @returns whether the job has a new work
   */
  aim(leastDifficulty: number): boolean {
    const { target, blockTarget, until } = this.work;
    const wanted = difficultyOf(this.#wanted);
    const ofBlock = difficultyOf(blockTarget);
    const least = Math.min(leastDifficulty, ofBlock);
    if (until === 'solved' || wanted >= least) return this.#moveTo(this.#wanted);
    // The block's own target is used, because a target that is made from a difficulty is rounded.
    if (least === ofBlock) return this.#moveTo(blockTarget);
    const factor = least / difficultyOf(target);
    const isClose = factor < WORTH_MOVING && factor > 1 / WORTH_MOVING;
    return isClose ? false : this.#moveTo(targetForDifficulty(least));
  }

  #moveTo(target: Uint8Array): boolean {
    if (target.every((byte, i) => byte === this.work.target[i])) return false;
    this.#works = [{ ...this.work, target }, ...this.#works].slice(0, REMEMBERED);
    return true;
  }
}
