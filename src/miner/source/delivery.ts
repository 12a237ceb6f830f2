/**
 * Delivers one solution: repeats the attempt until a verdict comes, the work is outdated, or a time limit has passed.
 */

import { onAbort, within } from '../../base/system/abort.ts';
import type { Clock, Timer } from '../../base/system/clock.ts';
import type { Outcome } from '../events/vocabulary.ts';
import type { Verdict } from './source.ts';

/** Why an attempt gave no verdict. */
export interface NoVerdict {
  readonly message: string;
  /** Whether the solution may have been accepted although no verdict came. */
  readonly mayHaveBeenTaken: boolean;
  /** The pause that the receiver of the solution asked for; absent if it asked for none. */
  readonly retryAfterMs?: number | undefined;
}

interface DeliveryOptions {
  /** Makes one attempt. Must not throw. */
  readonly attempt: (stop: AbortSignal) => Promise<Verdict | NoVerdict>;
  /**
   * Called after an attempt without a verdict, if certainly no attempt so far was accepted.
   * @returns why no further attempt is worth making; undefined if another attempt is to be made
   */
  readonly whyOutdated: () => string | undefined;
  /** Called once, when the first attempt has ended (with or without a verdict) or has taken `solvedAfterMs`. */
  readonly onSent: () => void;
  /** @returns the pause before the next attempt @param retryAfterMs the pause that the receiver asked for, or 0 */
  readonly nextPauseMs: (retryAfterMs: number) => number;
  /** Waits before the next attempt. May settle early when the receiver can be reached again. */
  readonly pause: (ms: number, stop: AbortSignal) => Promise<void>;
  /** Maximum duration of the delivery. An attempt that still runs then is aborted. */
  readonly lifeMs: number;
  /** Outcome of a delivery that ends without a verdict, if certainly no attempt was accepted. */
  readonly untaken: Extract<Outcome, 'stale' | 'unknown'>;
  readonly limits: DeliveryLimits;
  readonly clock: Clock;
}

interface DeliveryLimits {
  /** Duration of the first attempt after which the solution counts as sent. */
  readonly solvedAfterMs: number;
  /** Maximum duration of a delivery after the miner was stopped. */
  readonly submitAfterStopMs: number;
}

/**
 * Maximum pause that the receiver can ask for. A longer one is shortened, because a solution soon becomes worthless.
 */
const MAX_PATIENCE_MS = 5_000;

/**
 * Settles soon after `lifeMs` at the latest. Once `stop` has fired, it settles soon after `submitAfterStopMs` at the
 * latest. Never throws.
 */
export async function deliver(options: DeliveryOptions, stop: AbortSignal): Promise<Verdict> {
  const ending = new AbortController();
  let timer: Timer | undefined;
  const release = onAbort(stop, () => {
    timer = options.clock.setTimeout(() => ending.abort(), options.limits.submitAfterStopMs);
  });
  try {
    return await within(options.clock, options.lifeMs, ending.signal, (signal) => keepTrying(options, signal));
  } finally {
    timer?.cancel();
    release();
  }
}

async function keepTrying(options: DeliveryOptions, stop: AbortSignal): Promise<Verdict> {
  const onSent = once(options.onSent);
  const takesLong = options.clock.setTimeout(onSent, options.limits.solvedAfterMs);
  /** Whether an attempt whose answer was lost may have been accepted. */
  let answerLost = false;
  for (let attempt = 1; ; attempt++) {
    const answer = await options.attempt(stop);
    takesLong.cancel();
    onSent();
    if ('outcome' in answer) return afterLostAnswer(answer, answerLost);
    answerLost ||= answer.mayHaveBeenTaken;
    const why = answerLost ? undefined : options.whyOutdated();
    if (why !== undefined) return { outcome: 'stale', reason: `${why}: ${answer.message}` };
    if (!stop.aborted) {
      const ms = options.nextPauseMs(Math.min(answer.retryAfterMs ?? 0, MAX_PATIENCE_MS));
      await options.pause(ms, stop);
    }
    if (stop.aborted) {
      const attempts = attempt === 1 ? 'one attempt' : `${attempt} attempts`;
      const outcome = answerLost ? 'unknown' : options.untaken;
      return { outcome, reason: `gave up after ${attempts}: ${answer.message}` };
    }
  }
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) action();
    isDone = true;
  };
}

/**
 * A refusal after a lost answer proves nothing: an earlier attempt may have been accepted, which made the work stale.
 */
function afterLostAnswer(verdict: Verdict, answerLost: boolean): Verdict {
  if (verdict.outcome === 'accepted' || !answerLost) return verdict;
  const reason = `the answer was lost, and the next attempt was answered with: ${verdict.reason}`;
  return { ...verdict, outcome: 'unknown', reason };
}
