/** Submits the shares of one connection, and finds out by their answers whether the pool answers at all. */

import type { Solution } from '../../chain/verify.ts';
import { Backoff } from '../../net/connecting.ts';
import type { Clock } from '../../system/clock.ts';
import { formatNonce2 } from '../../wire/stratum.ts';
import type { Judge, Verdict } from '../source.ts';
import type { Dialogue } from './dialogue.ts';
import type { PoolLimits } from './limits.ts';
import { type Answer, type Complaint, complaintOf, quote } from './messages.ts';
import type { PoolWorks } from './works.ts';

interface SharesOptions {
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
   * Whether the pool answers. Stratum has no question that every pool answers, so this is judged by shares: a pool that
   * has answered some before and lets one wait in silence does not answer now.
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

/* What a pool's answer to a share means. Pools do not agree on error codes, so their words count first. Pure. */

/** Words for a share whose job the pool no longer wants. */
const STALE =
  /\bstale\b|not found|unknown (job|work)|no such (job|work)|\bjob\b.*\b(old|outdated|expired)|expired|outdated|too late|old job/i;

/**
 * What codes mean where the pool gives no words. 21 is missing: it is "job not found" at some pools and "low
 * difficulty" at others.
 */
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
  // The reference server answers `false` when the job is outdated, and errors to bad shares.
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

/*
 * Judges by the answers to shares whether a pool is worth mining on. Stratum has no question that every pool answers,
 * and jobs show only that jobs come: a pool whose accounting is down sends them as before, and pays nothing. Some pools
 * never answer shares, so only one that has answered some is judged. It outlives connections.
 */

/** After this number of connections in a row that ended before any share was answered, the pool is unhealthy. */
const MOST_UNANSWERED_CONNECTIONS = 3;
/**
 * An unhealthy pool is tried again after at least this many times the length of the last trial: where shares are rare a
 * trial takes long, and all trials together must cost little.
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
  /** Number of shares that were answered so far. */
  #answers = 0;
  #unansweredConnections = 0;
  /** When the pool is tried again (monotonic), while it is unhealthy. */
  #retryAtMs: number | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Whether its source is closed, so that no trial may begin. Shares may still be on their way. */
  #isStopped = false;
  /** Since when the pool, which was unhealthy, has been tried again. */
  #trialSinceMs: number | undefined;

  /** @param alone called while there is no other judge, which means that there is no other pool */
  constructor(clock: Clock, random: () => number, limits: PoolLimits, alone: Judge) {
    this.#clock = clock;
    this.#limits = limits;
    this.#alone = alone;
    this.#pauses = new Backoff(limits.unhealthyPauses, random);
  }

  /** Called instead of `alone`: another pool can take over, so this one is tried again after a while. */
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
   * @returns a function to be called when it was answered, or when its answer is no longer awaited
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
    this.#report(undefined, 'answers shares again');
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
    this.#report('answers shares no more');
  }

  #waitForTrial(): void {
    if (this.#isStopped || this.#retryAtMs === undefined || !this.#judge) return;
    this.#retry = setTimeout(() => this.#try(), Math.max(0, this.#retryAtMs - this.#clock.monotonicMs()));
  }

  #try(): void {
    this.#retryAtMs = undefined;
    this.#trialSinceMs = this.#clock.monotonicMs();
    this.#report(undefined, 'is tried again: it may answer shares by now');
  }

  #report(fault: string | undefined, news?: string): void {
    (this.#judge ?? this.#alone)(fault, news);
  }
}
