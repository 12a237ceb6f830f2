/**
 * Decides from the answers to shares whether a pool is healthy. Jobs prove nothing: a pool whose accounting is down may
 * send jobs as before, but pays nothing. Some pools never answer shares, so missing answers are a fault only of a pool
 * that has answered a share before. The state is kept when a connection ends.
 */

import type { Clock } from '../../../base/system/clock.ts';
import type { Judge } from '../source.ts';
import { SourceHealth } from '../source-health.ts';
import type { PoolLimits } from './pool-limits.ts';

/**
 * The answer to a share. `other`: the answer neither accepts nor refuses the share, or the pool calls the share stale
 * and has replaced its job.
 */
export type ShareAnswer =
  | { readonly kind: 'accepted' | 'other' }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * A pool that once answered shares is unhealthy after this number of connections in a row that ended without an answer
 * to any of their shares.
 */
const MOST_UNANSWERED_CONNECTIONS = 3;

export class PoolHealth extends SourceHealth {
  readonly #limits: PoolLimits;
  #everAnswered = false;
  #answers = 0;
  #unansweredConnections = 0;

  /**
   * @param alone receives the health while `judge` is not set, which means that there is no other pool
   * @param renew connects and authorizes again, because a pool that was restarted behind a proxy has lost the session
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

  /**
   * Called when a share is sent. Begins to wait for its answer.
   * @returns a function that ends the wait, to be called with the answer, or without an argument if none has come
   */
  sent(): (answer?: ShareAnswer) => void {
    const { submitMs, silenceMs } = this.#limits;
    const answers = this.#answers;
    // If another share was answered meanwhile, the pool still answers, and only this one answer is missing.
    const late = () => answers === this.#answers && this.#unanswered();
    const timer = this.clock.setTimeout(late, this.isOnTrial ? Math.min(silenceMs, submitMs) : submitMs);
    return (answer) => {
      timer.cancel();
      if (answer) this.#answered(answer);
    };
  }

  /** Called when the pool or the network has ended a connection over which shares were sent and none was answered. */
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
    if (!this.#everAnswered) return;
    this.#unansweredConnections = 0;
    this.fail('answers shares no more');
  }
}
