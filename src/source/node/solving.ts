/** Takes one solution to the node: tries again for as long as its work lives, and says what became of it. */

import { Backoff } from '../../node/backoff.ts';
import type { NodeAnswer } from '../../node/client.ts';
import { within } from '../../node/deadline.ts';
import { NodeError } from '../../node/errors.ts';
import type { NodeLimits } from '../../node/limits.ts';
import type { Verdict } from '../source.ts';

export interface SolvingOptions {
  /** One attempt. @throws NodeError */
  readonly post: (stop: AbortSignal) => Promise<NodeAnswer>;
  /** Whether its chain has had a New Cut since the work was fetched. */
  readonly isOutdated: () => boolean;
  /** Called once, when the first attempt has ended in whichever way, or when it takes long. */
  readonly onSent: () => void;
  /** Waits before the next attempt; comes back early when the node shows signs of life. */
  readonly pause: (ms: number, stop: AbortSignal) => Promise<void>;
  /** How much longer the node remembers the work. */
  readonly lifeMs: number;
  readonly random: () => number;
  readonly limits: Pick<NodeLimits, 'solvedAfterMs' | 'submitAfterStopMs' | 'submitPauses'>;
}

/** A node may ask for patience, but a solution does not keep. */
const MAX_PATIENCE_MS = 5_000;

/** Settles within the life of the work, or soon after `stop`; never throws. */
export async function solve(options: SolvingOptions, stop: AbortSignal): Promise<Verdict> {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onStop = () => {
    timer = setTimeout(() => ending.abort(), options.limits.submitAfterStopMs);
  };
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    return await within(options.lifeMs, ending.signal, (signal) => attempts(options, signal));
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', onStop);
  }
}

async function attempts(options: SolvingOptions, stop: AbortSignal): Promise<Verdict> {
  const { post, isOutdated, random, limits } = options;
  const pauses = new Backoff(limits.submitPauses, random);
  const onSent = once(options.onSent);
  const takesLong = setTimeout(onSent, limits.solvedAfterMs);
  /** Whether an attempt may have been taken without our knowing. */
  let answerLost = false;
  for (let attempt = 1; ; attempt++) {
    let problem: NodeError;
    try {
      return judge(await post(stop), answerLost);
    } catch (error) {
      problem = error instanceof NodeError ? error : new NodeError('no answer', String(error), { cause: error });
    } finally {
      clearTimeout(takesLong);
      onSent();
    }
    answerLost ||= problem.mayHaveBeenTaken;
    if (isOutdated() && !answerLost) {
      return { verdict: 'stale', reason: `a New Cut came before the node could be reached: ${problem.message}` };
    }
    if (!stop.aborted) await options.pause(pauses.nextMs(Math.min(problem.retryAfterMs ?? 0, MAX_PATIENCE_MS)), stop);
    if (stop.aborted) {
      const attempts = attempt === 1 ? 'one attempt' : `${attempt} attempts`;
      return { verdict: 'unknown', reason: `given up after ${attempts}: ${problem.message}` };
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

function judge({ status, text }: NodeAnswer, answerLost: boolean): Verdict {
  if (status >= 200 && status < 300) return { verdict: 'accepted', reason: '' };
  const reason = text === '' ? `the node answered ${status}` : text;
  if (status !== 404) return { verdict: 'rejected', reason };
  // The node has no such work: it was solved already, perhaps by our own attempt whose answer was lost.
  if (answerLost) return { verdict: 'unknown', reason: `the answer was lost, and asking again gave: ${reason}` };
  return { verdict: 'stale', reason };
}
