/** Submits the shares of one connection, and reports the pool's answers to `PoolHealth`. */

import type { Clock } from '../../../base/system/clock.ts';
import type { Solution } from '../../../protocol/chain/verify.ts';
import type { Work } from '../../../protocol/chain/work.ts';
import { formatNonce2 } from '../../../protocol/wire/stratum.ts';
import type { Verdict } from '../source.ts';
import type { Dialogue } from './dialogue.ts';
import type { PoolHealth, ShareAnswer } from './pool-health.ts';
import type { PoolLimits } from './pool-limits.ts';
import { type Answer, type Complaint, complaintOf, quote } from './pool-messages.ts';
import type { PoolWorks } from './pool-works.ts';

interface SharesOptions {
  readonly user: string;
  readonly dialogue: Dialogue;
  readonly works: PoolWorks;
  readonly clock: Clock;
  readonly limits: PoolLimits;
  readonly health: PoolHealth;
  /** Called with the text of an answer that refuses a share. */
  readonly onComplaint: (text: string) => void;
}

export class PoolShares {
  readonly #options: SharesOptions;
  /** The shares that wait for an answer, oldest first, with the time of sending (monotonic). */
  readonly #waiting = new Map<Promise<Verdict>, number>();
  /**
   * `answered`: the pool has answered a share. `lost`: the connection ended with unanswered shares, and the pool had
   * answered none.
   */
  #state: 'open' | 'answered' | 'lost' = 'open';

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** Settles within `submitMs`, or within `submitAfterStopMs` after `stop`. Never throws. */
  async submit({ work, nonce }: Solution, stop: AbortSignal): Promise<Verdict> {
    const { user, dialogue, works, clock } = this.#options;
    if (!dialogue.isOpen) {
      return { outcome: 'stale', reason: 'the connection that its job came over has ended; not sent' };
    }
    const job = works.jobOf(work);
    if (job === undefined) return { outcome: 'stale', reason: 'the pool no longer wants its job; not sent' };
    const verdict = this.#send(work, [user, job, formatNonce2(nonce, work.nonce1)], stop);
    this.#waiting.set(verdict, clock.monotonicMs());
    await verdict;
    this.#waiting.delete(verdict);
    return verdict;
  }

  /** Settles when every share has its verdict. Each share has a time limit, so this wait ends. */
  async settled(): Promise<void> {
    await Promise.all(this.#waiting.keys());
  }

  /**
   * Whether the pool answers. Stratum has no request that every pool answers, so only shares can show this. A pool that
   * has answered shares before does not answer now if a share has waited for `silenceMs`, and no line has come in the
   * last `silenceMs`.
   */
  areAnswered(): boolean {
    const { dialogue, clock, limits, health } = this.#options;
    const [oldestMs] = this.#waiting.values();
    if (oldestMs === undefined || !health.everAnswered) return true;
    return clock.monotonicMs() - Math.max(oldestMs, dialogue.lastLineMs) < limits.silenceMs;
  }

  async #send(work: Work, params: readonly unknown[], stop: AbortSignal): Promise<Verdict> {
    const { dialogue, works, limits, health, onComplaint } = this.#options;
    const request = { method: 'mining.submit', params, limitMs: limits.submitMs };
    // Called before the request is sent, so that the timer of `health` fires before the timer of the request.
    const settled = health.sent();
    const reply = await dialogue.askUntil(stop, limits.submitAfterStopMs, request);
    const verdict = reply === 'late' || reply === 'lost' ? undefined : verdictOf(reply);
    settled(verdict && answerOf(verdict, works.isCurrent(work)));
    if (verdict) this.#state = 'answered';
    if (reply === 'lost' && this.#state === 'open') {
      this.#state = 'lost';
      // A connection that pickaxe closed on purpose proves nothing: the pool had no time to answer.
      if (dialogue.whyEnded?.fault !== 'intended') health.disconnected();
    }
    if (reply === 'late') return { outcome: 'unknown', reason: 'the pool did not answer in time' };
    if (reply === 'lost') return { outcome: 'unknown', reason: 'the connection ended before the pool answered' };
    if (reply.error !== undefined) onComplaint(complaintOf(reply.error).text);
    return verdict as Verdict;
  }
}

/** @param isCurrent whether the share belongs to the pool's latest job, so that it cannot be stale */
function answerOf({ outcome, reason }: Verdict, isCurrent: boolean): ShareAnswer {
  if (outcome === 'rejected' || (outcome === 'stale' && isCurrent)) return { kind: 'refused', reason };
  return { kind: outcome === 'accepted' ? 'accepted' : 'other' };
}

/* The meaning of a pool's answer to a share. Pools do not agree on error codes, so texts count before codes. */

/** Matches the text of an error if it means that the share's job is outdated. */
const STALE =
  /\bstale\b|not found|unknown (job|work)|no such (job|work)|\bjob\b.*\b(old|outdated|expired)|expired|outdated|too late|old job/i;

/** Meanings of error codes, used for errors without a text. Code 21 has two meanings (`AMBIGUOUS`). */
const CODES: Record<number, string> = {
  20: 'other error',
  22: 'duplicate share',
  23: 'low difficulty',
  24: 'unauthorized worker',
  25: 'not subscribed',
  31: 'invalid nonce',
};
const AMBIGUOUS = 'which is “job not found” at some pools and “low difficulty” at others';

export function verdictOf({ result, error }: Answer): Verdict {
  if (error !== undefined) return refusalOf(complaintOf(error));
  // The reference server answers `false` if the job is outdated, and answers a bad share with an error.
  if (result === false) return { outcome: 'stale', reason: 'the pool answered false, which means an outdated job' };
  if (result === null || result === undefined) {
    return { outcome: 'unknown', reason: 'the pool answered neither yes nor no' };
  }
  return { outcome: 'accepted', reason: '' };
}

function refusalOf({ code, text }: Complaint): Verdict {
  const words = quote(text);
  if (STALE.test(words)) return { outcome: 'stale', reason: words };
  if (words !== '') return { outcome: 'rejected', reason: words };
  if (code === undefined) return { outcome: 'rejected', reason: 'the pool gave no reason' };
  const meaning = code === 21 ? AMBIGUOUS : CODES[code];
  return { outcome: 'rejected', reason: `error ${code}${meaning === undefined ? '' : `, ${meaning}`}` };
}
