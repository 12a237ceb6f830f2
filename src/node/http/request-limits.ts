/** All time limits and pauses of requests to a node. Tests use shorter ones. */

import type { BackoffLimits } from '../../base/net/backoff.ts';

export interface NodeLimits {
  /** Maximum time to connect to a host before it counts as unreachable. */
  readonly connectTimeoutMs: number;
  /** A node can hold a work request until a chain has work. After this time the request is canceled and repeated. */
  readonly workTimeoutMs: number;
  readonly solvedTimeoutMs: number;
  readonly configTimeoutMs: number;
  /** Maximum time to read an answer's body if only its status matters. */
  readonly bodyTimeoutMs: number;
  /** Duration of a work's first submission after which it counts as solved, so that other work is fetched. */
  readonly solvedAfterMs: number;
  /** Maximum duration of a submission after the miner was stopped. */
  readonly submitAfterStopMs: number;
  /** Pause between fetches after New Cuts, since several for one block are normal. */
  readonly burstMs: number;
  /** Time between work requests while the chain has no stream: a compromise between stale work and the node's load. */
  readonly pollMs: number;
  /** Age at which work is fetched again, which shows whether a stream without events is broken. */
  readonly refreshMs: number;
  /** Maximum time between a New Cut and a fetch that shows its block, in either order. */
  readonly newCutGraceMs: number;
  /** When a New Cut comes, a work request in progress is canceled after this time, and repeated. */
  readonly hurryMs: number;
  /** Time for which a failed submission is repeated: a node keeps work for about 5 minutes. */
  readonly expiryMs: number;
  /**
   * Maximum age of a stream: real nodes end a stream after 240 s ± 10 % and send no keep-alive, so an older one is
   * broken.
   */
  readonly maxStreamMs: number;
  /** Age from which the end of a stream counts as normal, so that it is opened again at once. */
  readonly steadyStreamMs: number;
  /** Time after which an unanswered request for a stream is reported. */
  readonly streamAnswerMs: number;
  /** Pause before a stream is requested again, if the node has no free stream or its answer was no event stream. */
  readonly noStreamsPauseMs: number;
  /** Pauses after failed work requests: short, so that mining resumes within a second of the node's return. */
  readonly fetchPauses: BackoffLimits;
  /** Pauses after refused work requests, which only a change of a configuration can help. */
  readonly refusedPauses: BackoffLimits;
  /** Maximum pause that a node may request (`retry-after`) while nothing is mined. */
  readonly idlePatienceMs: number;
  /** Time limit of a ping, which decides whether another node takes over. */
  readonly probeTimeoutMs: number;
  readonly submitPauses: BackoffLimits;
  /** Minimum time for which all solutions must be refused before the node counts as one that refuses everything. */
  readonly refusedMs: number;
  /** Pauses before another trial of a node that refuses everything. */
  readonly unhealthyPauses: BackoffLimits;
  /** Pauses between attempts to open a chain's stream, if they fail or the stream ends at once. */
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
  refusedMs: 0,
  unhealthyPauses: { firstMs: 300_000, mostMs: 3_600_000 },
  streamPauses: { firstMs: 250, mostMs: 2_000 },
};

/* The client of the whole API. */

export interface ApiLimits {
  /** Maximum duration of one attempt, from the request to the end of the answer. */
  readonly answerTimeoutMs: number;
  /** Real nodes end a /listen after 180 s. */
  readonly listenTimeoutMs: number;
  readonly attempts: number;
  readonly pauses: BackoffLimits;
  /** Attempts and pause for a payload whose header has just appeared, since the payload may come a moment later. */
  readonly freshPayloadAttempts: number;
  readonly freshPayloadPauseMs: number;
  /** Maximum length of answers with blocks, payloads or results, in bytes: the maximum length of JSON. */
  readonly mostAnswerBytes: number;
  /** Maximum length of all other answers, in bytes. The longest, 360 headers as objects, has 230 kB. */
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
