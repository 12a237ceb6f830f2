/** The state of a rig at one moment. */

import type { SourceKind, StaleReason } from '../source/vocabulary.ts';
import type { DeviceNow } from './device-stats.ts';
import type { Earnings } from './earnings.ts';
import type { Held } from './held.ts';
import type { RatesByWindow } from './meter.ts';
import type { RelayNow } from './relay-stats.ts';
import type { SourceNow } from './source-stats.ts';
import type { WorkNow } from './work-now.ts';

/** The work that the engines were given last. */
export interface CurrentWork extends WorkNow {
  /** Since when it is worthless, and why; absent while it is mined. */
  readonly stale?: { readonly sinceMs: number; readonly reason: StaleReason };
}

/** How the rig is doing. Times are the clock's `monotonicMs`. */
export interface RigNow {
  /** The time of this state. */
  readonly nowMs: number;
  /** Whether any device is in service and is not paused. */
  readonly deviceReady: Held;
  /** What the rig's work comes from. */
  readonly sourceKind: SourceKind;
  /** Whether any source is connected. */
  readonly sourceConnected: Held;
  readonly hashesPerSecondByWindow: RatesByWindow;
  /** The highest of the rates over 10 s. */
  readonly highestHashesPerSecond: number | null;
  /** Over half a minute, the sum of the devices'. */
  readonly hashesPerSecond: number;
  /** What the devices' verified candidates prove, over a quarter of an hour. */
  readonly provenHashesPerSecond: number;
  readonly work?: CurrentWork;
  /** The devices' work since their last accepted block ÷ what a block takes on average. */
  readonly effort: number;
  /** When the last block was accepted; absent before the first. */
  readonly lastBlockMs?: number;
  /** When the last share was accepted; absent before the first. */
  readonly lastShareMs?: number;
  /**
   * How long a block takes on average at this rate, which here includes the estimated one of relays' workers, and the mean
   * difficulty of the chains that are mined. Absent while difficulty or rate is not known, and while the rig does not mine.
   */
  readonly timeToBlockSeconds?: number;
  /** The same for a share; absent for a node's work, too. */
  readonly timeToShareSeconds?: number;
  /** At the same rate and difficulty. Empty while the rig does not mine. */
  readonly earnings: Earnings;
  readonly sources: ReadonlyMap<string, SourceNow>;
  readonly devices: ReadonlyMap<string, DeviceNow>;
  readonly relays: ReadonlyMap<string, RelayNow>;
}
