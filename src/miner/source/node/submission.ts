/** Submits one solution to the node. Attempts without a verdict are repeated while the node may accept the solution. */

import { Backoff } from '../../../base/net/backoff.ts';
import { pause } from '../../../base/system/abort.ts';
import type { Clock } from '../../../base/system/clock.ts';
import type { StatusAnswer } from '../../../node/http/exchange.ts';
import { NodeError } from '../../../node/http/node-error.ts';
import type { NodeLimits } from '../../../node/http/request-limits.ts';
import { deliver } from '../delivery.ts';
import type { Verdict } from '../source.ts';

/**
 * Longest wait for a node's clock to reach a solution's creation time. Where a clock was set back by more than this,
 * the chain has a newer block by then.
 */
const MOST_EARLY_MS = 15_000;
/** A node's clock is known to within a second (`NodeClock`). A solution that may be early by less is sent at once. */
const LEAST_EARLY_MS = 1_100;

const TOO_EARLY: Verdict = {
  outcome: 'stale',
  reason: 'a New Cut came before the clock of the node had reached its creation time; not sent',
};

export interface SubmissionOptions {
  /** Makes one attempt. @throws NodeError */
  readonly post: (stop: AbortSignal) => Promise<StatusAnswer>;
  /** Whether the chain of the solution's work has a newer block by now. */
  readonly isOutdated: () => boolean;
  /** Time until the node's clock has surely reached the solution's creation time, in ms; 0 if it has. */
  readonly earlyMs: () => number;
  /** Called once, when the first attempt has ended (with or without a verdict) or has taken `solvedAfterMs`. */
  readonly onSent: () => void;
  /** Waits before the next attempt. Settles early when the node can be reached again. */
  readonly pause: (ms: number, stop: AbortSignal) => Promise<void>;
  /** Maximum duration of the submission: usually the time for which the node still accepts solutions of the work. */
  readonly lifeMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: Pick<NodeLimits, 'solvedAfterMs' | 'submitAfterStopMs' | 'submitPauses'>;
}

/**
 * Settles soon after `lifeMs` at the latest. Once `stop` has fired, it settles soon after `submitAfterStopMs` at the
 * latest. Never throws.
 */
export function submitSolution(options: SubmissionOptions, stop: AbortSignal): Promise<Verdict> {
  const { post, isOutdated, earlyMs, random, limits, ...rest } = options;
  const pauses = new Backoff(limits.submitPauses, random);
  const attempt = async (signal: AbortSignal) => {
    try {
      // A node whose clock was set back gives work from its own future. It would refuse the solution now, and forgets
      // the work with its first solution. So the solution is sent when the clock has reached the creation time.
      const waitMs = earlyMs();
      if (waitMs >= LEAST_EARLY_MS && waitMs <= MOST_EARLY_MS) {
        await pause(rest.clock, waitMs, signal);
        if (isOutdated()) return TOO_EARLY;
      }
      return verdictOf(await post(signal));
    } catch (error) {
      return error instanceof NodeError ? error : new NodeError('timed out', String(error), { cause: error });
    }
  };
  const whyOutdated = () => (isOutdated() ? 'a New Cut came before the node could be reached' : undefined);
  const nextPauseMs = (retryAfterMs: number) => pauses.nextMs(retryAfterMs);
  return deliver({ ...rest, limits, attempt, whyOutdated, nextPauseMs, untaken: 'unknown' }, stop);
}

function verdictOf({ status, text }: StatusAnswer): Verdict {
  if (status >= 200 && status < 300) return { outcome: 'accepted', reason: '' };
  return {
    outcome: status === 404 ? 'stale' : 'rejected',
    reason: text === '' ? `the node answered ${status}` : text,
  };
}
