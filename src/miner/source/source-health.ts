/**
 * Decides from the verdicts on solutions whether a source is worth mining on, and tries an unhealthy one again later. A
 * source that gives work and refuses every solution pays nothing.
 */

import { Backoff, type BackoffLimits } from '../../base/net/backoff.ts';
import type { Clock } from '../../base/system/clock.ts';
import type { Judge } from './source.ts';

interface HealthLimits {
  /**
   * Minimum time from the first refusal to the one that makes a source unhealthy, except during a trial: shares that
   * are on their way while a pool changes prove nothing.
   */
  readonly refusedMs: number;
  /** Pauses before another trial of an unhealthy source. The maximum applies if trials are short. */
  readonly unhealthyPauses: BackoffLimits;
}

/**
 * Minimum pause before an unhealthy source is tried again, as a multiple of the last trial's length: where solutions
 * are rare a trial takes long, and all trials together must cost little.
 */
const PAUSE_PER_TRIAL = 10;
/** A trial may have begun while the source was not needed, so its length proves little. */
const MOST_PAUSE_MS = 86_400_000;

/**
 * The weight of refusals that makes a source unhealthy. Each acceptance halves it, so that a source which refuses more
 * than six of seven solutions of weight 1, or three of four of weight 4, is unhealthy, too.
 */
const MOST_REFUSED = 12;
/** The same during a trial. */
const MOST_REFUSED_ON_TRIAL = 3;

interface Words {
  /** What the source takes: `shares`. */
  readonly what: string;
  /** A question that follows the source's own words in a fault; may be empty. */
  readonly question: string;
}

interface HealthOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: HealthLimits;
  readonly words: Words;
  /** Called while `judge` is not set, which means that there is no other source. */
  readonly alone: Judge;
  /**
   * Starts afresh with the source. Called before a source that refuses everything is given up, and when it is tried
   * again: a restarted server no longer has the session. Absent if there is nothing to start.
   */
  readonly renew?: (why: string) => void;
}

export class SourceHealth {
  protected readonly clock: Clock;
  readonly #options: HealthOptions;
  readonly #pauses: Backoff;
  #judge: Judge | undefined;
  /** The weight of the refusals, and since when there have been any (monotonic). */
  #refused = { weight: 0, sinceMs: 0 };
  /** Whether the source was started afresh since it last accepted a solution. */
  #isRenewed = false;
  /** Whether the source is unhealthy because of refusals. */
  #isRefusing = false;
  /** When the source is tried again (monotonic), while it is unhealthy. */
  #retryAtMs: number | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Whether the source is closed, so that no trial may begin. Solutions may still be waiting for verdicts. */
  #isStopped = false;
  /** When the present trial of an unhealthy source began. */
  #trialSinceMs: number | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.#pauses = new Backoff(options.limits.unhealthyPauses, options.random);
  }

  /** Called instead of `alone`: another source can take over, so this one is tried again later. */
  set judge(judge: Judge) {
    this.#judge = judge;
    // The new judge has received no earlier fault: only a fault that occurs again counts.
    this.#retryAtMs = undefined;
    this.#isRefusing = false;
  }

  /** Resumes waiting for the next trial, if one is due. */
  start(): void {
    this.#isStopped = false;
    this.#waitForTrial();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
  }

  accepted(): void {
    const { weight, sinceMs } = this.#refused;
    this.#refused = { weight: weight < 1 ? 0 : weight / 2, sinceMs };
    this.#isRenewed = false;
    this.passTrial();
    if (this.#isRefusing) this.recover(`accepts ${this.#options.words.what} again`);
  }

  /**
   * Notes that the source has refused a solution of work that it still wants.
   * @param reason the source's words
   * @param weight a source that refuses 12 of weight 1, or 3 of weight 4, is left
   */
  refused(reason: string, weight = 1): void {
    const nowMs = this.clock.monotonicMs();
    if (this.isUnhealthy) {
      this.#renewAlone(nowMs);
      return;
    }
    const before = this.#refused;
    this.#refused = { weight: before.weight + weight, sinceMs: before.weight === 0 ? nowMs : before.sinceMs };
    if (!this.#refusesAll(nowMs)) return;
    this.#refused = { weight: 0, sinceMs: nowMs };
    const { renew, words } = this.#options;
    const why = `refuses all ${words.what} (“${reason}”${words.question})`;
    if (renew && !this.#isRenewed) {
      this.#isRenewed = true;
      renew(why);
    } else {
      this.#isRefusing = true;
      this.fail(why);
    }
  }

  protected get isRefusing(): boolean {
    return this.#isRefusing;
  }

  protected get isUnhealthy(): boolean {
    return this.#retryAtMs !== undefined;
  }

  protected get isOnTrial(): boolean {
    return this.#trialSinceMs !== undefined;
  }

  /** @param fault follows the source's name in a sentence */
  protected fail(fault: string): void {
    if (this.isUnhealthy) return;
    const nowMs = this.clock.monotonicMs();
    const trialMs = nowMs - (this.#trialSinceMs ?? nowMs);
    const pauseMs = Math.max(this.#pauses.nextMs(), Math.min(PAUSE_PER_TRIAL * trialMs, MOST_PAUSE_MS));
    this.#trialSinceMs = undefined;
    this.#retryAtMs = nowMs + pauseMs;
    this.#waitForTrial();
    this.#report(fault);
  }

  /** Makes an unhealthy source healthy. @param news follows its name in a sentence */
  protected recover(news: string): void {
    if (!this.isUnhealthy) return;
    clearTimeout(this.#retry);
    this.#retryAtMs = undefined;
    this.#isRefusing = false;
    this.#report(undefined, news);
  }

  /** Ends a trial with success. */
  protected passTrial(): void {
    this.#trialSinceMs = undefined;
    this.#pauses.reset();
  }

  #refusesAll(nowMs: number): boolean {
    const { weight, sinceMs } = this.#refused;
    if (this.isOnTrial) return weight >= MOST_REFUSED_ON_TRIAL;
    return weight >= MOST_REFUSED && nowMs - sinceMs >= this.#options.limits.refusedMs;
  }

  /** The only source is mined on all the same, so that there is no trial, but it may need a fresh start. */
  #renewAlone(nowMs: number): void {
    if (this.#judge || !this.#isRefusing || nowMs < (this.#retryAtMs as number)) return;
    this.#retryAtMs = nowMs + this.#pauses.nextMs();
    this.#options.renew?.('still refuses everything');
  }

  #waitForTrial(): void {
    if (this.#isStopped || this.#retryAtMs === undefined || !this.#judge) return;
    this.#retry = setTimeout(() => this.#try(), Math.max(0, this.#retryAtMs - this.clock.monotonicMs()));
  }

  #try(): void {
    const { words, renew } = this.#options;
    const may = this.#isRefusing ? `accept ${words.what}` : `answer ${words.what}`;
    // Work from before the trial would be given, and refused, until the fresh start.
    if (this.#isRefusing) renew?.('is tried again');
    this.#retryAtMs = undefined;
    this.#isRefusing = false;
    this.#refused = { weight: 0, sinceMs: 0 };
    this.#trialSinceMs = this.clock.monotonicMs();
    this.#report(undefined, `is tried again: it may ${may} by now`);
  }

  #report(fault: string | undefined, news?: string): void {
    (this.#judge ?? this.#options.alone)(fault, news);
  }
}
