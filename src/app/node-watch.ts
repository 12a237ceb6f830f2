/** Compares the nodes that a rig mines on, and tells which of them are healthy. Mining waits for none of this. */

import type { Logger } from 'pino';
import { type Candidate, survey } from '../nodes/survey.ts';
import { type Pace, watchNodes } from '../nodes/watch.ts';
import { type Clock, systemClock } from '../system/clock.ts';
import { oneLine } from '../text/one-line.ts';
import { NodeCandidates, type NodeSettings } from './node-candidates.ts';

/** What hears of it when a node has become unhealthy, or healthy again: failover, or the only node. */
export interface JudgedSource {
  /**
   * @param rank the node's place in the order of preference; 0 is the first
   * @param fault what follows the node's name in a sentence; undefined when it is healthy
   */
  judge(rank: number, fault: string | undefined): void;
}

export interface NodeWatchOptions {
  /** The URLs of `node` are those of the nodes that are judged, in the same order. */
  readonly settings: NodeSettings;
  /** How many of the first nodes are configured; the others were discovered. */
  readonly configured: number;
  readonly source: JudgedSource;
  readonly pace?: Pace;
  readonly clock?: Clock;
}

const TAG = { tag: 'node' } as const;
/** A node's fault can name what the node calls itself. */
const MAX_SHOWN = 300;

/** Watches until `stop`. */
export async function runNodeWatch(options: NodeWatchOptions, log: Logger, stop: AbortSignal): Promise<void> {
  const { settings, configured, source, pace, clock = systemClock } = options;
  let opened: NodeCandidates | undefined;
  const surveyAll = async (signal: AbortSignal) => {
    opened ??= await NodeCandidates.open(settings);
    // The sources of work notice by themselves when a node gives none.
    const candidates = opened.configured.map(({ name, api }, i): Candidate => {
      return { name, api, isConfigured: i < configured };
    });
    return await survey(candidates, opened.network, clock.nowUs(), signal);
  };
  const changed = (rank: number, fault: string | undefined) =>
    source.judge(rank, fault === undefined ? undefined : oneLine(fault, MAX_SHOWN));
  const failing = (reason: string | undefined) => {
    if (reason === undefined) log.info(TAG, 'it is known again whether the nodes are healthy');
    else log.warn(TAG, `whether the nodes are healthy cannot be found out, which is tried again: ${oneLine(reason)}`);
  };
  try {
    await watchNodes({ survey: surveyAll, changed, failing, ...(pace && { pace }) }, stop);
  } finally {
    await opened?.close();
  }
}
