/**
 * Decides from the answers to shares whether a pool is worth mining on. Jobs prove nothing: a pool whose accounting is
 * down sends them as before, and pays nothing. Some pools never answer shares, so only a pool that has answered some
 * can fall silent. The state outlives connections.
 */

import type { Clock } from '../../../base/system/clock.ts';
import type { Judge } from '../source.ts';
import { SourceHealth } from '../source-health.ts';
import type { PoolLimits } from './pool-limits.ts';

/** The answer to a share. `other`: it neither accepts nor refuses, or is about a job that the pool has replaced. */
export type ShareAnswer =
  | { readonly kind: 'accepted' | 'other' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Number of connections in a row that ended before any share was answered, after which the pool is unhealthy. */
const MOST_UNANSWERED_CONNECTIONS = 3;

export class PoolHealth extends SourceHealth {
  readonly #limits: PoolLimits;
  #everAnswered = false;
  #answers = 0;
  #unansweredConnections = 0;

  /**
   * @param alone called while `judge` is not set, which means that there is no other pool
   * @param renew connects and authorizes again: a restarted pool behind a proxy no longer has the session
   */
  constructor(
    clock: Clock,
    random: () => number,
    limits: PoolLimits,
    alone: Judge,
    renew: (why: string) => void = () => {},
  ) {
    super({ clock, random, limits, words: { what: 'shares', question: '' }, alone, renew });
    this.#limits = limits;
  }

  get everAnswered(): boolean {
    return this.#everAnswered;
  }

  /** Notes that a share was sent. @returns a function to call with its answer, or without one if that is not awaited */
  sent(): (answer?: ShareAnswer) => void {
    const { submitMs, silenceMs } = this.#limits;
    const answers = this.#answers;
    // An answer to a later share shows that only one answer was lost.
    const late = () => answers === this.#answers && this.#unanswered();
    const timer = setTimeout(late, this.isOnTrial ? Math.min(silenceMs, submitMs) : submitMs);
    return (answer) => {
      clearTimeout(timer);
      if (answer) this.#answered(answer);
    };
  }

  /** Notes that the pool or the network ended a connection with unanswered shares and no answered one. */
  disconnected(): void {
    this.#unansweredConnections++;
    if (this.#unansweredConnections >= MOST_UNANSWERED_CONNECTIONS) this.#unanswered();
  }

  #answered(answer: ShareAnswer): void {
    this.#everAnswered = true;
    this.#answers++;
    this.#unansweredConnections = 0;
    if (!this.isRefusing) this.recover('answers shares again');
    if (answer.kind === 'refused') this.refused(answer.reason);
    else if (answer.kind === 'accepted') this.accepted();
    else if (!this.isRefusing) this.passTrial();
  }

  #unanswered(): void {
    if (!this.#everAnswered || this.isUnhealthy) return;
    this.#unansweredConnections = 0;
    this.fail('answers shares no more');
  }
}
