/** The creation time of a work's next job. */

import { rolledCreationTime } from '../chain/creation-time.ts';
import { creationTimeOf, type Work } from '../chain/work.ts';
import type { WorkSource } from './source.ts';

/**
 * How far a rolled time stays behind the node's clock. What is known of that clock is a lower bound already; the margin is for
 * nodes that compare the time with another node's clock.
 */
const MARGIN_US = 500_000n;

/** @returns the latest creation time that is surely valid, in µs since the UNIX epoch; the work's own where it may not be moved */
export function creationTimeFor(work: Work, source: Pick<WorkSource, 'latestTimeUs'>): bigint {
  const received = creationTimeOf(work.header);
  return work.rollTime ? rolledCreationTime(received, source.latestTimeUs(work), MARGIN_US) : received;
}
