/** What the terminal shows is made of this, taken at one moment. */

import type { RigNow, Summary, Tally } from '../report/tally.ts';
import type { Clock } from '../system/clock.ts';

export interface View {
  readonly now: RigNow;
  readonly summary: Summary;
  /** The clock's `monotonicMs`. */
  readonly nowMs: number;
}

export function viewOf(tally: Tally, clock: Clock): View {
  return { now: tally.now(), summary: tally.summary(), nowMs: clock.monotonicMs() };
}

/** Accepted blocks as a part of those to be expected; undefined while less than one was to be expected. */
export function luckOf({ accepted, expected_blocks }: Summary): number | undefined {
  return expected_blocks >= 1 ? accepted / expected_blocks : undefined;
}
