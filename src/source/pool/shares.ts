/** Submits the shares of one connection, and infers from the answers whether the pool answers at all. */

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
  readonly user: string;
  readonly dialogue: Dialogue;
  readonly works: PoolWorks;
  readonly clock: Clock;
  readonly limits: PoolLimits;
  readonly health: PoolHealth;
  /** Called with the pool's text when it refuses a share. */
  readonly onComplaint: (text: string) => void;
}

export class PoolShares {
  readonly #options: SharesOptions;
  /** The shares that wait for an answer, oldest first, with the monotonic time of sending. */
  readonly #waiting = new Map<Promise<Verdict>, number>();
  /** `lost`: the connection ended before any share was answered. */
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

  /** Settles when every share has its verdict, which the time limits of shares bound. */
  async settled(): Promise<void> {
    await Promise.all(this.#waiting.keys());
  }

  /**
   * Whether the pool answers. Stratum has no question that every pool answers, so shares show it: a pool that has
   * answered some before, and leaves one unanswered in silence, does not answer now.
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
    // Called before the request is sent, so that the time limit of `health` ends first.
    const settled = health.sent();
    const reply = await dialogue.askUntil(stop, limits.submitAfterStopMs, request);
    const isAnswered = reply !== 'late' && reply !== 'lost';
    settled(isAnswered);
    if (isAnswered) this.#state = 'answered';
    if (reply === 'lost' && this.#state === 'open') {
      this.#state = 'lost';
      // A connection that pickaxe closed on purpose says nothing about the pool, which had no time to answer.
      if (dialogue.whyEnded?.fault !== 'intended') health.disconnected();
    }
    if (reply === 'late') return { outcome: 'unknown', reason: 'the pool did not answer in time' };
    if (reply === 'lost') return { outcome: 'unknown', reason: 'the connection ended before the pool answered' };
    if (reply.error !== undefined) onComplaint(complaintOf(reply.error).text);
    return verdictOf(reply);
  }
}

/* The meaning of a pool's answer to a share. Pools do not agree on error codes, so their words count first. */

/** Texts about a share whose job the pool no longer wants. */
const STALE =
  /\bstale\b|not found|unknown (job|work)|no such (job|work)|\bjob\b.*\b(old|outdated|expired)|expired|outdated|too late|old job/i;

/** The meaning of codes without a text. 21 is "job not found" at some pools and "low difficulty" at others. */
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
 * Decides from the answers to shares whether a pool is worth mining on. Jobs prove nothing: a pool whose accounting is
 * down sends them as before, and pays nothing. Some pools never answer shares, so only a pool that has answered some
 * can become unhealthy. The state outlives connections.
 */

/** Number of connections in a row that ended before any share was answered, after which the pool is unhealthy. */
const MOST_UNANSWERED_CONNECTIONS = 3;
/**
 * Minimum pause before an unhealthy pool is tried again, as a multiple of the last trial's length: where shares are
 * rare a trial takes long, and all trials together must cost little.
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
  #answers = 0;
  #unansweredConnections = 0;
  /** When the pool is tried again (monotonic), while it is unhealthy. */
  #retryAtMs: number | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Whether the source is closed, so that no trial may begin. Shares may still be waiting for answers. */
  #isStopped = false;
  /** When the present trial of an unhealthy pool began. */
  #trialSinceMs: number | undefined;

  /** @param alone called while `judge` is not set, which means that there is no other pool */
  constructor(clock: Clock, random: () => number, limits: PoolLimits, alone: Judge) {
    this.#clock = clock;
    this.#limits = limits;
    this.#alone = alone;
    this.#pauses = new Backoff(limits.unhealthyPauses, random);
  }

  /** Called instead of `alone`: another pool can take over, so this one is tried again later. */
  set judge(judge: Judge) {
    this.#judge = judge;
  }

  get everAnswered(): boolean {
    return this.#everAnswered;
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

  /** Notes that a share was sent. @returns a function to call when it was answered, or is no longer awaited */
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

  /** Notes that the pool or the network ended a connection with unanswered shares and no answered one. */
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
