/**
 * Judges by the answers to shares whether a pool is worth mining on. Stratum has no question that every pool answers, and jobs show
 * only that jobs come: a pool whose accounting is down sends them as before, and pays nothing. Some pools never answer shares, so
 * only one that has answered some is judged. It outlives connections.
 */

import { Backoff } from '../../net/backoff.ts';
import type { Clock } from '../../system/clock.ts';
import type { Judge } from '../source.ts';
import type { PoolLimits } from './limits.ts';

/** So many connections in a row that have ended with shares unanswered, and with none answered, show that the pool answers none. */
const MOST_UNANSWERED_CONNECTIONS = 3;
/**
 * An unhealthy pool is tried again after at least so many times as long as the last trial took: where shares are rare a trial takes
 * long, and all trials together must cost little.
 */
const PAUSE_PER_TRIAL = 10;
/** A trial may have begun while the pool was not needed, so its length says little. */
const MOST_PAUSE_MS = 86_400_000;

export class PoolHealth {
  readonly #clock: Clock;
  readonly #limits: PoolLimits;
  readonly #alone: Judge;
  readonly #pauses: Backoff;
  #judge: Judge | undefined;
  #everAnswered = false;
  /** How many shares were answered so far. */
  #answers = 0;
  #unansweredConnections = 0;
  /** When the pool is tried again (monotonic), while it is unhealthy. */
  #retryAtMs: number | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Whether its source is closed, so that no trial may begin. Shares may still be on their way. */
  #isStopped = false;
  /** Since when the pool, which was unhealthy, has been tried again. */
  #trialSinceMs: number | undefined;

  /** @param alone is told while there is no other judge, which means that there is no other pool */
  constructor(clock: Clock, random: () => number, limits: PoolLimits, alone: Judge) {
    this.#clock = clock;
    this.#limits = limits;
    this.#alone = alone;
    this.#pauses = new Backoff(limits.unhealthyPauses, random);
  }

  /** Who is told instead: another pool can take over, so this one is tried again after a while. */
  set judge(judge: Judge) {
    this.#judge = judge;
  }

  /** Whether the pool has ever answered a share. */
  get everAnswered(): boolean {
    return this.#everAnswered;
  }

  /** Goes on waiting for the next trial, if there is to be one. */
  start(): void {
    this.#isStopped = false;
    this.#waitForTrial();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
  }

  /**
   * A share was sent.
   * @returns a function to be called when it was answered, or when nobody waits for its answer any more
   */
  sent(): (isAnswered: boolean) => void {
    const { submitMs, silenceMs } = this.#limits;
    const answers = this.#answers;
    // An answer to a later share shows that only one answer was lost.
    const late = () => answers === this.#answers && this.#unanswered();
    const timer = setTimeout(late, this.#trialSinceMs === undefined ? submitMs : Math.min(silenceMs, submitMs));
    return (isAnswered) => {
      clearTimeout(timer);
      if (isAnswered) this.#answered();
    };
  }

  /** The pool or the network has ended a connection with shares unanswered, and with none answered. */
  disconnected(): void {
    this.#unansweredConnections++;
    if (this.#unansweredConnections >= MOST_UNANSWERED_CONNECTIONS) this.#unanswered();
  }

  #answered(): void {
    this.#everAnswered = true;
    this.#answers++;
    this.#unansweredConnections = 0;
    this.#trialSinceMs = undefined;
    this.#pauses.reset();
    if (this.#retryAtMs === undefined) return;
    clearTimeout(this.#retry);
    this.#retryAtMs = undefined;
    this.#tell(undefined, 'answers shares again');
  }

  #unanswered(): void {
    if (!this.#everAnswered || this.#retryAtMs !== undefined) return;
    const nowMs = this.#clock.monotonicMs();
    const trialMs = nowMs - (this.#trialSinceMs ?? nowMs);
    const pauseMs = Math.max(this.#pauses.nextMs(), Math.min(PAUSE_PER_TRIAL * trialMs, MOST_PAUSE_MS));
    this.#trialSinceMs = undefined;
    this.#unansweredConnections = 0;
    this.#retryAtMs = nowMs + pauseMs;
    this.#waitForTrial();
    this.#tell('answers shares no more');
  }

  #waitForTrial(): void {
    if (this.#isStopped || this.#retryAtMs === undefined || !this.#judge) return;
    this.#retry = setTimeout(() => this.#try(), Math.max(0, this.#retryAtMs - this.#clock.monotonicMs()));
  }

  #try(): void {
    this.#retryAtMs = undefined;
    this.#trialSinceMs = this.#clock.monotonicMs();
    this.#tell(undefined, 'is tried again: it may answer shares by now');
  }

  #tell(fault: string | undefined, news?: string): void {
    (this.#judge ?? this.#alone)(fault, news);
  }
}
