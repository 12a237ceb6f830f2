/** Submits the shares of one connection, and judges by their answers whether the pool answers at all. */

import type { Solution } from '../../chain/verify.ts';
import type { Clock } from '../../system/clock.ts';
import { formatNonce2 } from '../../wire/stratum.ts';
import type { Verdict } from '../source.ts';
import type { Dialogue } from './dialogue.ts';
import type { PoolHealth } from './health.ts';
import type { PoolLimits } from './limits.ts';
import { complaintOf } from './messages.ts';
import { verdictOf } from './verdicts.ts';
import type { PoolWorks } from './works.ts';

export interface SharesOptions {
  /** Who mines, as the pool knows it. */
  readonly user: string;
  readonly dialogue: Dialogue;
  readonly works: PoolWorks;
  readonly clock: Clock;
  readonly limits: PoolLimits;
  readonly health: PoolHealth;
  /** Called with what the pool says when it refuses a share. */
  readonly onComplaint: (text: string) => void;
}

export class PoolShares {
  readonly #options: SharesOptions;
  /** The shares that wait for their answers, oldest first, and when they were sent (monotonic). */
  readonly #waiting = new Map<Promise<Verdict>, number>();
  /** What has become of the shares of this connection: `lost` when it ended before any was answered. */
  #state: 'open' | 'answered' | 'lost' = 'open';

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** Settles within `limits.submitMs`, or soon after `stop`. Never throws. */
  async submit({ work, nonce }: Solution, stop: AbortSignal): Promise<Verdict> {
    const { user, dialogue, works, clock } = this.#options;
    if (!dialogue.isOpen) {
      return { outcome: 'stale', reason: 'the connection that its job came over has ended; not sent' };
    }
    const job = works.jobOf(work);
    if (job === undefined) return { outcome: 'stale', reason: 'the pool no longer wants its job; not sent' };
    const verdict = this.#send([user, job, formatNonce2(nonce, work.nonce1)], stop);
    this.#waiting.set(verdict, clock.monotonicMs());
    await verdict;
    this.#waiting.delete(verdict);
    return verdict;
  }

  /** Settles when every share has its verdict. The time limits of shares bound this. */
  async settled(): Promise<void> {
    await Promise.all(this.#waiting.keys());
  }

  /**
   * Whether the pool answers. Stratum has no question that every pool answers, so this is judged by shares: a pool that has
   * answered some before and lets one wait in silence does not answer now.
   */
  areAnswered(): boolean {
    const { dialogue, clock, limits, health } = this.#options;
    const [oldestMs] = this.#waiting.values();
    if (oldestMs === undefined || !health.everAnswered) return true;
    return clock.monotonicMs() - Math.max(oldestMs, dialogue.lastLineMs) < limits.silenceMs;
  }

  async #send(params: readonly unknown[], stop: AbortSignal): Promise<Verdict> {
    const { dialogue, limits, health, onComplaint } = this.#options;
    const request = { method: 'mining.submit', params, limitMs: limits.submitMs };
    // Before the question, so that of both time limits health's ends first.
    const settled = health.sent();
    const reply = await dialogue.askUntil(stop, limits.submitAfterStopMs, request);
    const isAnswered = reply !== 'late' && reply !== 'lost';
    settled(isAnswered);
    if (isAnswered) this.#state = 'answered';
    if (reply === 'lost' && this.#state === 'open') {
      this.#state = 'lost';
      // What was closed in good order says nothing about the pool: it had no time to answer.
      if (dialogue.whyEnded?.fault !== 'intended') health.disconnected();
    }
    if (reply === 'late') return { outcome: 'unknown', reason: 'the pool did not answer in time' };
    if (reply === 'lost') return { outcome: 'unknown', reason: 'the connection ended before the pool answered' };
    if (reply.error !== undefined) onComplaint(complaintOf(reply.error).text);
    return verdictOf(reply);
  }
}
