/**
 * Limits of requests to a node: times, pauses, numbers of attempts, and lengths of answers. Tests use shorter times.
 */

import type { BackoffLimits } from '../../base/net/backoff.ts';

export interface NodeLimits {
  /** Maximum time to connect to a host. Afterwards, the host counts as unreachable. */
  readonly connectTimeoutMs: number;
  /**
   * Maximum duration of a work request. A longer request is canceled and repeated. A node can delay its answer until a
   * chain has work.
   */
  readonly workTimeoutMs: number;
  readonly solvedTimeoutMs: number;
  readonly configTimeoutMs: number;
  /** Maximum time to read the body of an answer, if the body is ignored or only quoted. */
  readonly bodyTimeoutMs: number;
  /**
   * If the first attempt to submit a solution takes this long, the attempt goes on, but the work already counts as
   * solved, and other work is fetched.
   */
  readonly solvedAfterMs: number;
  /** Maximum time for which a submission goes on after the miner was stopped. */
  readonly submitAfterStopMs: number;
  /**
   * Minimum time between two fetches that New Cuts of the same chain cause. A node often sends several New Cuts for one
   * block.
   */
  readonly burstMs: number;
  /**
   * Time between two work requests while the chain has no trusted update stream: a compromise between stale work and
   * the load of the node.
   */
  readonly pollMs: number;
  /**
   * Maximum age of work on a chain with a trusted stream. At this age the work is fetched again, which shows whether
   * the stream has missed a block.
   */
  readonly refreshMs: number;
  /**
   * Maximum time between a New Cut and the fetch of work on top of the new block. Either of the two may come first. If
   * more time lies between them, the stream counts as having missed the block.
   */
  readonly newCutGraceMs: number;
  /**
   * Time that a work request in progress still has when a New Cut comes. After this time, the request is canceled and
   * repeated. The time doubles with each canceled request in a row.
   */
  readonly hurryMs: number;
  /**
   * Maximum age of work. Older work is not mined, and its solutions are not submitted. Nodes keep work for about 5
   * minutes.
   */
  readonly expiryMs: number;
  /**
   * Maximum age of a stream. Real nodes end a stream after 240 s ± 10 % and send no keep-alive, so an older stream is
   * broken.
   */
  readonly maxStreamMs: number;
  /**
   * A stream that ends at this age or later is opened again at once, because its end is normal. A stream that missed a
   * block is trusted again once it has stayed open for this time after its next New Cut.
   */
  readonly steadyStreamMs: number;
  /** Time after which an unanswered request for a stream is reported. */
  readonly streamAnswerMs: number;
  /**
   * Pause before a stream is requested again from a node that has no free stream, refuses streams, or does not answer
   * with an event stream. Further pauses are up to twice as long.
   */
  readonly noStreamsPauseMs: number;
  /** Pauses after failed work requests. They are short, so that mining resumes within a second of the node's return. */
  readonly fetchPauses: BackoffLimits;
  /** Pauses after refused work requests. They are longer, because only a change of a configuration can help. */
  readonly refusedPauses: BackoffLimits;
  /**
   * Maximum pause at the request of the node (`retry-after`) while nothing is mined. A longer pause is shortened to
   * this length.
   */
  readonly idlePatienceMs: number;
  /** Time limit of a ping, whose result decides whether another node takes over. */
  readonly probeTimeoutMs: number;
  readonly submitPauses: BackoffLimits;
  /**
   * Minimum time from the first refused solution until a node counts as one that refuses everything. The time does not
   * apply during a trial of an unhealthy node.
   */
  readonly refusedMs: number;
  /** Pauses before a node that refuses everything is tried again. */
  readonly unhealthyPauses: BackoffLimits;
  /** Pauses before a chain's stream is opened again, if it could not be opened or ended before `steadyStreamMs`. */
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

/* Limits of the client of the whole API (`NodeApi`). */

export interface ApiLimits {
  /** Maximum duration of one attempt, from the request to the end of the answer. */
  readonly answerTimeoutMs: number;
  /** Maximum duration of a `/listen`. Real nodes end it after 180 s. */
  readonly listenTimeoutMs: number;
  readonly attempts: number;
  readonly pauses: BackoffLimits;
  /** Maximum number of requests for a payload whose header has just appeared. The payload may come a moment later. */
  readonly freshPayloadAttempts: number;
  /** Maximum pause between two requests for such a payload, unless the node asks for a longer one (`retry-after`). */
  readonly freshPayloadPauseMs: number;
  /** Maximum length of an answer with blocks, payloads or results, in bytes. */
  readonly mostAnswerBytes: number;
  /** Maximum length of any other answer, in bytes. The longest is a page of 360 headers as objects, with 230 kB. */
  readonly mostShortAnswerBytes: number;
}

export const apiLimits: ApiLimits = {
  answerTimeoutMs: 30_000,
  listenTimeoutMs: 200_000,
  attempts: 3,
  pauses: { firstMs: 500, mostMs: 5_000 },
  freshPayloadAttempts: 4,
  freshPayloadPauseMs: 500,
  // As many bytes as `parseExactJson` accepts characters. Longer answers of ASCII characters could not be parsed.
  mostAnswerBytes: 2 ** 25,
  mostShortAnswerBytes: 2 ** 20,
};
