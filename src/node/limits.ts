/** All time limits of requests to a node. Tests use shorter ones. */

import type { BackoffLimits } from '../net/connecting.ts';

export interface NodeLimits {
  /** A host that accepts no connection within this time counts as out of reach. */
  readonly connectTimeoutMs: number;
  /** A node can hold a work request until a chain has work. After this time the request is canceled and sent again. */
  readonly workTimeoutMs: number;
  readonly solvedTimeoutMs: number;
  readonly configTimeoutMs: number;
  /** Time for which the body of an answer is read if only the status matters. */
  readonly bodyTimeoutMs: number;
  /** When its first submission takes longer than this, a work counts as solved, and other work is fetched. */
  readonly solvedAfterMs: number;
  /** Time that a submission may still take after the miner was stopped. */
  readonly submitAfterStopMs: number;
  /**
   * Several New Cuts for one block are normal. After the first one has caused a fetch, the next fetch waits this long.
   */
  readonly burstMs: number;
  /**
   * The time between work requests while the chain has no stream: a compromise between stale hashes and the node's
   * load.
   */
  readonly pollMs: number;
  /** Work is fetched again at this age: the new work shows whether a stream that sends nothing is broken. */
  readonly refreshMs: number;
  /** A New Cut may come this much later or earlier than a fetch that shows its block. */
  readonly newCutGraceMs: number;
  /** A work request that is under way when a New Cut comes is canceled after this time, and sent again. */
  readonly hurryMs: number;
  /** A node forgets work after about 5 minutes. Until then the submission of a solution is repeated when it fails. */
  readonly expiryMs: number;
  /**
   * Real nodes end a stream after 240 s ± 10 % and send no keep-alive, so an older stream must have broken on the way.
   * Opening it again costs almost nothing.
   */
  readonly maxStreamMs: number;
  /** A stream that lasted this long has ended in the normal way, and is opened again at once. */
  readonly steadyStreamMs: number;
  /** Time after which a request for a stream without an answer is reported. */
  readonly streamAnswerMs: number;
  /**
   * The pause before a stream is tried again when the node has none left or sends no event stream: that takes time to
   * change.
   */
  readonly noStreamsPauseMs: number;
  /**
   * The pauses between work requests that fail. They are short, so that mining resumes within a second of the node's
   * return.
   */
  readonly fetchPauses: BackoffLimits;
  /** The pauses between work requests that the node refuses. Only a change of a configuration can end that. */
  readonly refusedPauses: BackoffLimits;
  /** The longest pause that a node may ask for (`retry-after`) while nothing is mined. */
  readonly idlePatienceMs: number;
  /** The time limit of the question whether the node answers at all. It is asked when another node could take over. */
  readonly probeTimeoutMs: number;
  /** The pauses between attempts to submit one solution. */
  readonly submitPauses: BackoffLimits;
  /** The pauses between attempts to open a chain's stream, when they fail or the stream ends at once. */
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

/* The time limits and pauses of the client of a node's API. Tests use shorter ones. */

export interface ApiLimits {
  /** Maximum duration of one attempt, from the request to the end of the answer. */
  readonly answerTimeoutMs: number;
  /** Real nodes give up a /listen after 180 s. */
  readonly listenTimeoutMs: number;
  /** Maximum number of attempts to send one request. */
  readonly attempts: number;
  /** The pauses between attempts. */
  readonly pauses: BackoffLimits;
  /**
   * Maximum number of requests for a payload whose header has just appeared, and the pause between them: the payload
   * may come a moment later.
   */
  readonly freshPayloadAttempts: number;
  readonly freshPayloadPauseMs: number;
  /** Maximum length of answers with blocks, payloads or results, in bytes: as long as JSON may be. */
  readonly mostAnswerBytes: number;
  /** Maximum length of all other answers. The longest of them, 360 headers as objects, has 230 kB. */
  readonly mostShortAnswerBytes: number;
}

export const apiLimits: ApiLimits = {
  answerTimeoutMs: 30_000,
  listenTimeoutMs: 200_000,
  attempts: 3,
  pauses: { firstMs: 500, mostMs: 5_000 },
  freshPayloadAttempts: 4,
  freshPayloadPauseMs: 500,
  mostAnswerBytes: 2 ** 25,
  mostShortAnswerBytes: 2 ** 20,
};
