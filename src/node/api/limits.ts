/** The time limits and pauses of the client of a node's API. Tests use shorter ones. */

import type { BackoffLimits } from '../../net/connecting.ts';

export interface ApiLimits {
  /** How long one attempt may take, from the request to the end of the answer. */
  readonly answerTimeoutMs: number;
  /** Real nodes give up a /listen after 180 s. */
  readonly listenTimeoutMs: number;
  /** How often a request is sent at most. */
  readonly attempts: number;
  /** The pauses between attempts. */
  readonly pauses: BackoffLimits;
  /** How often a payload is asked for whose header has just appeared, and the pause in between: it may come a moment later. */
  readonly freshPayloadAttempts: number;
  readonly freshPayloadPauseMs: number;
  /** How long answers with blocks, payloads or results may be, in bytes: as long as JSON may be. */
  readonly mostAnswerBytes: number;
  /** How long all other answers may be. The longest of them, 360 headers as objects, has 230 kB. */
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
