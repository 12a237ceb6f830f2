/** The time limits of a node source, all in one place. Tests bring shorter ones. */

import type { BackoffLimits } from './backoff.ts';

export interface NodeLimits {
  /** Without a connection in this time the host counts as out of reach. */
  readonly connectTimeoutMs: number;
  /** A node can hold a work request until some chain has work: let go after this, and ask again. */
  readonly workTimeoutMs: number;
  readonly solvedTimeoutMs: number;
  readonly configTimeoutMs: number;
  /** For the body of an answer whose status says all that matters. */
  readonly bodyTimeoutMs: number;
  /** A work counts as solved, and other work is asked for, when its first submission takes longer than this. */
  readonly solvedAfterMs: number;
  /** What is left of a work's life for its solution when the miner is told to stop. */
  readonly submitAfterStopMs: number;
  /** Several New Cuts for one block are normal: after the fetch that one has caused, the next waits this long. */
  readonly burstMs: number;
  /** How often to ask for work while its chain has no stream: a compromise of stale hashes and the node's load. */
  readonly pollMs: number;
  /** Work is fetched anew at this age: a stream that tells nothing is found out by what a fetch brings. */
  readonly refreshMs: number;
  /** A New Cut may come this much later, or earlier, than a fetch that shows its block. */
  readonly newCutGraceMs: number;
  /** A work request that a New Cut finds under way is let go after this, and sent again. */
  readonly hurryMs: number;
  /** A node forgets work that is older than about 5 minutes. A solution is tried again for as long. */
  readonly expiryMs: number;
  /**
   * Real nodes end a stream after 240 s ± 10 % and send no keep-alive, so one that is older has been cut off somewhere
   * on the way. Opening one again costs next to nothing.
   */
  readonly maxStreamMs: number;
  /** A stream that lasted this long ended in the normal way, and is reopened at once. */
  readonly steadyStreamMs: number;
  /** A request for a stream that has no answer by then is told of. */
  readonly streamAnswerMs: number;
  /** The node has no more streams to give, or sends what is no event stream: nothing that changes in seconds. */
  readonly noStreamsPauseMs: number;
  /** Between work requests while they fail. A node that is back is to be mined on within a second. */
  readonly fetchPauses: BackoffLimits;
  /** Between work requests that the node refuses: nothing changes before somebody changes a configuration. */
  readonly refusedPauses: BackoffLimits;
  /** What a node may ask for (`retry-after`) while nothing is mined. */
  readonly idlePatienceMs: number;
  /** Whether the node answers at all, asked where another node could take over. */
  readonly probeTimeoutMs: number;
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
  bodyTimeoutMs: 1_000,
  solvedAfterMs: 1_000,
  submitAfterStopMs: 5_000,
  burstMs: 100,
  pollMs: 2_000,
  refreshMs: 20_000,
  newCutGraceMs: 2_000,
  hurryMs: 750,
  expiryMs: 300_000,
  maxStreamMs: 300_000,
  steadyStreamMs: 5_000,
  streamAnswerMs: 10_000,
  noStreamsPauseMs: 30_000,
  fetchPauses: { firstMs: 250, mostMs: 800 },
  refusedPauses: { firstMs: 1_000, mostMs: 10_000 },
  idlePatienceMs: 5_000,
  probeTimeoutMs: 1_000,
  submitPauses: { firstMs: 100, mostMs: 800 },
  streamPauses: { firstMs: 250, mostMs: 2_000 },
};
