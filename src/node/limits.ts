/** The time limits of everything that is asked of a node, all in one place. Tests use shorter ones. */

import type { BackoffLimits } from './backoff.ts';

export interface NodeLimits {
  /** A host that takes no connection within this time counts as out of reach. */
  readonly connectTimeoutMs: number;
  /** A node can hold a work request until some chain has work. After this time the request is given up and sent again. */
  readonly workTimeoutMs: number;
  readonly solvedTimeoutMs: number;
  readonly configTimeoutMs: number;
  /** How long the body of an answer is read when its status says all that matters. */
  readonly bodyTimeoutMs: number;
  /** A work counts as solved, and other work is asked for, when its first submission takes longer than this. */
  readonly solvedAfterMs: number;
  /** How long a solution may still take when the miner is told to stop. */
  readonly submitAfterStopMs: number;
  /** Several New Cuts for one block are normal: after the first has caused a fetch, the next fetch waits this long. */
  readonly burstMs: number;
  /** How often work is asked for while its chain has no stream: a compromise between stale hashes and the node's load. */
  readonly pollMs: number;
  /** Work is fetched anew at this age, because what a fetch brings shows whether a stream that tells nothing is broken. */
  readonly refreshMs: number;
  /** A New Cut may come this much later or earlier than a fetch that shows its block. */
  readonly newCutGraceMs: number;
  /** A work request that is under way when a New Cut comes is given up after this time, and sent again. */
  readonly hurryMs: number;
  /** A node forgets work after about 5 minutes. A solution is submitted again and again for as long. */
  readonly expiryMs: number;
  /**
   * Real nodes end a stream after 240 s ± 10 % and send no keep-alive, so an older stream has been cut off somewhere on
   * the way. Opening it again costs next to nothing.
   */
  readonly maxStreamMs: number;
  /** A stream that lasted this long ended in the normal way, and is opened again at once. */
  readonly steadyStreamMs: number;
  /** After this time people are told that the request for a stream has no answer. */
  readonly streamAnswerMs: number;
  /** Before a stream is tried again when the node has none left, or sends something else: that takes a while to change. */
  readonly noStreamsPauseMs: number;
  /** Between work requests while they fail. When the node is back, it is mined on within a second. */
  readonly fetchPauses: BackoffLimits;
  /** Between work requests that the node refuses, which nothing but a change of a configuration can end. */
  readonly refusedPauses: BackoffLimits;
  /** The longest wait that a node may ask for (`retry-after`) while nothing is mined. */
  readonly idlePatienceMs: number;
  /** For the question whether the node answers at all, which is asked where another node could take over. */
  readonly probeTimeoutMs: number;
  /** Between attempts to submit one solution. */
  readonly submitPauses: BackoffLimits;
  /** Between attempts to open a chain's stream, when they fail or when the stream ends at once. */
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
