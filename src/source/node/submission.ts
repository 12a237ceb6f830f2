/** Submits one solution to the node: repeats the attempt while the node remembers the work, and returns the verdict. */

import { Backoff } from '../../net/connecting.ts';
import { NodeError } from '../../node/errors.ts';
import type { StatusAnswer } from '../../node/http.ts';
import type { NodeLimits } from '../../node/limits.ts';
import { onAbort, within } from '../../system/abort.ts';
import type { Verdict } from '../source.ts';

export interface SubmissionOptions {
  /** Makes one attempt. @throws NodeError */
  readonly post: (stop: AbortSignal) => Promise<StatusAnswer>;
  /** Whether the solution's chain has had a New Cut since the work was fetched. */
  readonly isOutdated: () => boolean;
  /** Called once: when the first attempt has ended, with or without success, or when it takes long. */
  readonly onSent: () => void;
  /** Waits before the next attempt. It returns early when the node shows signs of life. */
  readonly pause: (ms: number, stop: AbortSignal) => Promise<void>;
  /** How much longer the node remembers the work. */
  readonly lifeMs: number;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
  readonly limits: Pick<NodeLimits, 'solvedAfterMs' | 'submitAfterStopMs' | 'submitPauses'>;
}

/** The longest pause that a node may ask for (`retry-after`): a solution soon becomes worthless. */
const MAX_PATIENCE_MS = 5_000;

/** Settles within `lifeMs`, or soon after `stop`. Never throws. */
export async function submitSolution(options: SubmissionOptions, stop: AbortSignal): Promise<Verdict> {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const release = onAbort(stop, () => {
    timer = setTimeout(() => ending.abort(), options.limits.submitAfterStopMs);
  });
  try {
    return await within(options.lifeMs, ending.signal, (signal) => keepTrying(options, signal));
  } finally {
    clearTimeout(timer);
    release();
  }
}

async function keepTrying(options: SubmissionOptions, stop: AbortSignal): Promise<Verdict> {
  const { post, isOutdated, random, limits } = options;
  const pauses = new Backoff(limits.submitPauses, random);
  const onSent = once(options.onSent);
  const takesLong = setTimeout(onSent, limits.solvedAfterMs);
  /** Whether the node may have accepted an attempt whose answer was lost. */
  let answerLost = false;
  for (let attempt = 1; ; attempt++) {
    let problem: NodeError;
    try {
      return verdictOf(await post(stop), answerLost);
    } catch (error) {
      problem = error instanceof NodeError ? error : new NodeError('no answer', String(error), { cause: error });
    } finally {
      clearTimeout(takesLong);
      onSent();
    }
    answerLost ||= problem.mayHaveBeenTaken;
    if (isOutdated() && !answerLost) {
      return { outcome: 'stale', reason: `a New Cut came before the node could be reached: ${problem.message}` };
    }
    if (!stop.aborted) await options.pause(pauses.nextMs(Math.min(problem.retryAfterMs ?? 0, MAX_PATIENCE_MS)), stop);
    if (stop.aborted) {
      const attempts = attempt === 1 ? 'one attempt' : `${attempt} attempts`;
      return { outcome: 'unknown', reason: `gave up after ${attempts}: ${problem.message}` };
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

function verdictOf({ status, text }: StatusAnswer, answerLost: boolean): Verdict {
  if (status >= 200 && status < 300) return { outcome: 'accepted', reason: '' };
  const reason = text === '' ? `the node answered ${status}` : text;
  // A refusal says nothing of the attempt whose answer was lost: perhaps it was accepted, and the work is solved by it.
  if (answerLost)
    return { outcome: 'unknown', reason: `the answer was lost, and the next attempt was answered with: ${reason}` };
  return { outcome: status === 404 ? 'stale' : 'rejected', reason };
}
