/** The time limits of a node source, all in one place. Tests bring shorter ones. */

import type { BackoffLimits } from './backoff.ts';

export interface NodeLimits {
  /** Without a connection in this time the host counts as out of reach. */
  readonly connectTimeoutMs: number;
  /** A node can hold a work request until some chain has work: let go after this, and ask again. */
  readonly workTimeoutMs: number;
  readonly solvedTimeoutMs: number;
  readonly configTimeoutMs: number;
  /** For one solution with all its attempts. Blocks of one chain are about 30 s apart: later there is hardly any hope. */
  readonly submitBudgetMs: number;
  /** What is left of that budget when the miner is told to stop. */
  readonly submitAfterStopMs: number;
  /** Several New Cuts for one block are normal: after the fetch that one has caused, the next waits this long. */
  readonly burstMs: number;
  /** How often to ask for work while its chain has no stream: a compromise of stale hashes and the node's load. */
  readonly pollMs: number;
  /** Work is fetched anew at this age: a New Cut lost with a dying stream costs no more than this. */
  readonly refreshMs: number;
  /** A node forgets work that is older than about 5 minutes. */
  readonly expiryMs: number;
  /**
   * Real nodes end a stream after 240 s ± 10 % and send no keep-alive, so one that is older has been cut off somewhere
   * on the way. Opening one again costs next to nothing.
   */
  readonly maxStreamMs: number;
  /** A stream that lasted this long ended in the normal way, and is reopened at once. */
  readonly steadyStreamMs: number;
  /** The node has no more streams to give: they come free when others end, minutes later. */
  readonly noStreamsPauseMs: number;
  /** Between work requests while they fail: quick at first, for a node that is restarting. */
  readonly fetchPauses: BackoffLimits;
  /** Between attempts to deliver one solution. */
  readonly submitPauses: BackoffLimits;
  /** Between attempts to open a chain's stream that fail, or that bring one which ends at once. */
  readonly streamPauses: BackoffLimits;
}

export const nodeLimits: NodeLimits = {
  connectTimeoutMs: 5_000,
  workTimeoutMs: 10_000,
  solvedTimeoutMs: 10_000,
  configTimeoutMs: 5_000,
  submitBudgetMs: 30_000,
  submitAfterStopMs: 5_000,
  burstMs: 100,
  pollMs: 2_000,
  refreshMs: 120_000,
  expiryMs: 300_000,
  maxStreamMs: 300_000,
  steadyStreamMs: 5_000,
  noStreamsPauseMs: 30_000,
  fetchPauses: { firstMs: 250, mostMs: 10_000 },
  submitPauses: { firstMs: 100, mostMs: 2_000 },
  streamPauses: { firstMs: 250, mostMs: 30_000 },
};
