/**
 * Decides from the verdicts on solutions whether a source is healthy, and tries an unhealthy source again later. A
 * source that gives work but refuses every solution pays nothing.
 */

import { Backoff, type BackoffLimits } from '../../base/net/backoff.ts';
import type { Clock, Timer } from '../../base/system/clock.ts';
import type { Judge } from './source.ts';

interface HealthLimits {
  /**
   * Minimum time from the first refusal to the refusal that proves that a source refuses everything. A shorter series
   * of refusals may only mean that the source has changed while solutions were on their way to it. During a trial there
   * is no such minimum.
   */
  readonly refusedMs: number;
  /** Pauses before another trial of an unhealthy source. After a long trial a pause may exceed their maximum. */
  readonly unhealthyPauses: BackoffLimits;
}

/**
 * Minimum pause before an unhealthy source is tried again, as a multiple of the last trial's length. If solutions are
 * rare, a trial takes long, and all trials together must cost little.
 */
const PAUSE_PER_TRIAL = 10;
/**
 * Maximum of the pause that `PAUSE_PER_TRIAL` requires: one day. The source may have been on standby during most of a
 * long trial, so the trial's length proves little.
 */
const MOST_PAUSE_MS = 86_400_000;

/**
 * Sum of the weights of refused solutions at which a source is treated as one that refuses everything. Each accepted
 * solution halves the sum. So a source that accepts some solutions can reach this sum, too. For each accepted solution,
 * seven refusals of weight 1 or two refusals of weight 4 are enough.
 */
const MOST_REFUSED = 12;
/** Used instead of `MOST_REFUSED` during a trial. */
const MOST_REFUSED_ON_TRIAL = 3;

interface Words {
  /** The noun for what the source receives, in the plural, such as `shares`. */
  readonly what: string;
  /** Text that follows the source's quoted message in a fault, to ask about a likely cause; may be empty. */
  readonly question: string;
}

interface HealthOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: HealthLimits;
  readonly words: Words;
  /** Called with the source's health while `judge` is not set, because there is no other source to change to. */
  readonly alone: Judge;
  /**
   * Opens a new session with the source, because a restarted server may have lost the old session. Called when a source
   * refuses everything, so that it becomes unhealthy only if the new session does not help. Also called at the
   * beginning of a trial of a source that refused everything, and at intervals while the only source refuses
   * everything. Absent if the source has no session.
   */
  readonly renew?: (why: string) => void;
}

export class SourceHealth {
  protected readonly clock: Clock;
  readonly #options: HealthOptions;
  readonly #pauses: Backoff;
  #judge: Judge | undefined;
  /** `weight`: the sum that `MOST_REFUSED` limits. `sinceMs`: when the sum last rose from 0 (monotonic). */
  #refused = { weight: 0, sinceMs: 0 };
  /** Whether `renew` was called because the source refused everything, and it has accepted nothing since. */
  #isRenewed = false;
  /** Whether the source is unhealthy because of refusals. */
  #isRefusing = false;
  /** When an unhealthy source is tried again (monotonic); undefined while the source is healthy. */
  #retryAtMs: number | undefined;
  #retry: Timer | undefined;
  /** Whether the source was stopped. Then no trial begins, not even after verdicts that still come. */
  #isStopped = false;
  /** When the trial of the source began (monotonic); undefined while it is not on trial. */
  #trialSinceMs: number | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.#pauses = new Backoff(options.limits.unhealthyPauses, options.random);
  }

  /** Receives the health instead of `alone`. It is set if another source can take over; only then there are trials. */
  set judge(judge: Judge) {
    this.#judge = judge;
    // An earlier fault was not reported to this function, so the source counts as healthy until the fault occurs again.
    this.#retryAtMs = undefined;
    this.#isRefusing = false;
  }

  /** Called when the source is started. Begins to wait for the next trial if the source is unhealthy. */
  start(): void {
    this.#isStopped = false;
    this.#waitForTrial();
  }

  stop(): void {
    this.#isStopped = true;
    this.#retry?.cancel();
  }

  accepted(): void {
    const { weight, sinceMs } = this.#refused;
    this.#refused = { weight: weight < 1 ? 0 : weight / 2, sinceMs };
    this.#isRenewed = false;
    this.passTrial();
    if (this.#isRefusing) this.recover(`accepts ${this.#options.words.what} again`);
  }

  /**
   * Counts a solution that the source has refused although its work was not stale.
   * @param reason the source's message
   * @param weight what the refusal adds to the sum of weights that `MOST_REFUSED` limits
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

  /** Makes an unhealthy source healthy. @param news follows the source's name in a sentence */
  protected recover(news: string): void {
    if (!this.isUnhealthy) return;
    this.#retry?.cancel();
    this.#retryAtMs = undefined;
    this.#isRefusing = false;
    this.#report(undefined, news);
  }

  /** Ends the trial, if there is one, with success. */
  protected passTrial(): void {
    this.#trialSinceMs = undefined;
    this.#pauses.reset();
  }

  #refusesAll(nowMs: number): boolean {
    const { weight, sinceMs } = this.#refused;
    if (this.isOnTrial) return weight >= MOST_REFUSED_ON_TRIAL;
    return weight >= MOST_REFUSED && nowMs - sinceMs >= this.#options.limits.refusedMs;
  }

  /**
   * Opens a new session with the only source, at growing intervals, while it refuses everything. The only source is
   * mined on even while it is unhealthy, so it has no trials.
   */
  #renewAlone(nowMs: number): void {
    if (this.#judge || !this.#isRefusing || nowMs < (this.#retryAtMs as number)) return;
    this.#retryAtMs = nowMs + this.#pauses.nextMs();
    this.#options.renew?.('still refuses everything');
  }

  #waitForTrial(): void {
    if (this.#isStopped || this.#retryAtMs === undefined || !this.#judge) return;
    this.#retry = this.clock.setTimeout(() => this.#try(), Math.max(0, this.#retryAtMs - this.clock.monotonicMs()));
  }

  #try(): void {
    const { words, renew } = this.#options;
    const may = this.#isRefusing ? `accept ${words.what}` : `answer ${words.what}`;
    // The new session is opened before the report: otherwise work of the old session would be mined on, and refused.
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
