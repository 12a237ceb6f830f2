/** The totals of a run. */

import type { AcceptedBlocks } from './block-counts.ts';
import type { DeviceSummary } from './device-stats.ts';
import type { Earnings } from './earnings.ts';
import type { Latency } from './latencies.ts';
import type { RelaySummary } from './relay-stats.ts';
import type { OutcomeCounts, ShareCounts } from './verdict-counts.ts';

/** What the rig did since the start. Its outcomes are those of blocks, also of those that relays brought. */
export interface Summary extends OutcomeCounts {
  readonly shares: ShareCounts;
  /** What became of the accepted blocks; absent before the first one, and without a block log. */
  readonly acceptedBlocks?: AcceptedBlocks;
  readonly hardwareErrors: number;
  /** How many nonces were searched. */
  readonly hashes: number;
  readonly uptimeSeconds: number;
  /** Over the whole run. */
  readonly averageHashesPerSecond: number;
  /** How many blocks the devices' hashes give on average. Luck (report/figures.ts) is what they found divided by it. */
  readonly expectedBlocks: number;
  /** Difficulty of the best hash found; 0 before the first candidate. */
  readonly bestDifficulty: number;
  /** What the rate of the whole run earns, at the last difficulty. */
  readonly earnings: Earnings;
  readonly newCuts: number;
  /** Blocks that an open update stream did not announce; a fetch found them. */
  readonly missedCuts: number;
  /** The time of job switches, from hearing of a New Cut to searching the new work. Absent before the first New Cut. */
  readonly switchSeconds?: Latency;
  /** The same counts for each device, by its name. */
  readonly devices: Readonly<Record<string, DeviceSummary>>;
  /** What relays brought, by the relay's name. */
  readonly relays: Readonly<Record<string, RelaySummary>>;
}
