/** Takes one solution to the node: tries again while that can help, and says what became of it. */

import type { Verdict } from '../source.ts';
import { Backoff } from './backoff.ts';
import type { NodeAnswer } from './client.ts';
import { pause, within } from './deadline.ts';
import { NodeError } from './errors.ts';
import type { NodeLimits } from './limits.ts';

export interface SolvingOptions {
  /** One attempt. @throws NodeError */
  readonly post: (stop: AbortSignal) => Promise<NodeAnswer>;
  /** Whether its chain has had a New Cut since the work was fetched. */
  readonly isOutdated: () => boolean;
  /** Called once, when the first attempt has ended in whichever way. */
  readonly onFirstAttempt: () => void;
  readonly random: () => number;
  readonly limits: Pick<NodeLimits, 'submitBudgetMs' | 'submitAfterStopMs' | 'submitPauses'>;
}

/** A node may ask for patience, but a solution does not keep. */
const MAX_PATIENCE_MS = 5_000;

/** Settles within the budget, or soon after `stop`; never throws. */
export async function solve(options: SolvingOptions, stop: AbortSignal): Promise<Verdict> {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onStop = () => {
    timer = setTimeout(() => ending.abort(), options.limits.submitAfterStopMs);
  };
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    return await within(options.limits.submitBudgetMs, ending.signal, (signal) => attempts(options, signal));
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', onStop);
  }
}

async function attempts(options: SolvingOptions, stop: AbortSignal): Promise<Verdict> {
  const pauses = new Backoff(options.limits.submitPauses, options.random);
  /** Whether an attempt may have been taken without our knowing. */
  let answerLost = false;
  for (let attempt = 1; ; attempt++) {
    let problem: NodeError;
    try {
      return judge(await options.post(stop), answerLost);
    } catch (error) {
      problem = error instanceof NodeError ? error : new NodeError('no answer', String(error), { cause: error });
    } finally {
      if (attempt === 1) options.onFirstAttempt();
    }
    answerLost ||= problem.fault !== 'unreachable' && problem.fault !== 'busy';
    if (options.isOutdated() && !answerLost) {
      return { verdict: 'stale', reason: `a New Cut came before the node could be reached: ${problem.message}` };
    }
    if (!stop.aborted) await pause(pauses.nextMs(Math.min(problem.retryAfterMs ?? 0, MAX_PATIENCE_MS)), stop);
    if (stop.aborted) return { verdict: 'unknown', reason: `given up after ${attempt} attempts: ${problem.message}` };
  }
}

function judge({ status, text }: NodeAnswer, answerLost: boolean): Verdict {
  if (status >= 200 && status < 300) return { verdict: 'accepted', reason: '' };
  const reason = text === '' ? `the node answered ${status}` : text;
  if (status !== 404) return { verdict: 'rejected', reason };
  // The node has no such work: it was solved already, perhaps by our own attempt whose answer was lost.
  if (answerLost) return { verdict: 'unknown', reason: `the answer was lost, and asking again gave: ${reason}` };
  return { verdict: 'stale', reason };
}
