/** The state of the rig at one moment, which the terminal's texts are made from. */

import type { RigNow } from '../report/rig-now.ts';
import type { Summary } from '../report/summary.ts';
import type { Tally } from '../report/tally.ts';
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
