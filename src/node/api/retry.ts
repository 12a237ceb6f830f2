/** Repeats a request whose failure may pass. */

import { Backoff, type BackoffLimits } from '../../net/backoff.ts';
import { pause } from '../../system/abort.ts';
import { ApiError } from './api-error.ts';

export interface RetryPolicy {
  /** How often the request is sent at most. */
  readonly attempts: number;
  readonly pauses: BackoffLimits;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
  /** Whether the error may pass. */
  readonly mayPass: (error: ApiError) => boolean;
}

/** @throws what the last attempt has thrown, or the reason of `stop` */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { attempts, pauses, random, mayPass }: RetryPolicy,
  stop: AbortSignal,
): Promise<T> {
  const backoff = new Backoff(pauses, random);
  let mayHaveBeenTaken = false;
  for (let left = attempts - 1; ; left--) {
    stop.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      mayHaveBeenTaken ||= error.mayHaveBeenTaken;
      error.mayHaveBeenTaken = mayHaveBeenTaken;
      if (left <= 0 || !mayPass(error)) throw error;
      await pause(backoff.nextMs(error.retryAfterMs), stop);
    }
  }
}
