/** Compares the nodes that a rig mines on, and tells failover which of them are healthy. Mining waits for none of this. */

import type { Logger } from 'pino';
import { type Candidate, survey } from '../nodes/survey.ts';
import { type Pace, watchNodes } from '../nodes/watch.ts';
import type { FailoverSource } from '../source/failover.ts';
import { type Clock, systemClock } from '../system/clock.ts';
import { oneLine } from '../text/one-line.ts';
import { NodeCandidates, type NodeSettings } from './node-candidates.ts';

export interface NodeWatchOptions {
  /** The URLs of `node` are those of the sources of `failover`, in the same order. */
  readonly settings: NodeSettings;
  /** How many of the first nodes are configured; the others were discovered. */
  readonly configured: number;
  readonly failover: Pick<FailoverSource, 'judge'>;
  readonly pace?: Pace;
  readonly clock?: Clock;
}

const TAG = { tag: 'node' } as const;
/** A node's fault can name what the node calls itself. */
const MAX_SHOWN = 300;

/** Watches until `stop`. */
export async function runNodeWatch(options: NodeWatchOptions, log: Logger, stop: AbortSignal): Promise<void> {
  const { settings, configured, failover, pace, clock = systemClock } = options;
  let opened: NodeCandidates | undefined;
  const surveyAll = async (signal: AbortSignal) => {
    opened ??= await NodeCandidates.open(settings);
    // Failover notices by itself when a node gives no work.
    const candidates = opened.configured.map(({ name, api }, i): Candidate => {
      return { name, api, isConfigured: i < configured };
    });
    return await survey(candidates, opened.network, clock.nowUs(), signal);
  };
  const changed = (rank: number, fault: string | undefined) =>
    failover.judge(rank, fault === undefined ? undefined : oneLine(fault, MAX_SHOWN));
  const failing = (reason: string | undefined) => {
    if (reason === undefined) log.info(TAG, 'the nodes are compared with each other again');
    else log.warn(TAG, `the nodes cannot be compared with each other, which is tried again: ${oneLine(reason)}`);
  };
  try {
    await watchNodes({ survey: surveyAll, changed, failing, ...(pace && { pace }) }, stop);
  } finally {
    await opened?.close();
  }
}
