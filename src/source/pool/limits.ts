/** All limits of the dialogue with a pool. Tests use shorter times. */

import type { BackoffLimits } from '../../net/connecting.ts';

export interface PoolLimits {
  /**
   * A host that does not accept the connection within this time, with TLS where it is asked for, counts as out of
   * reach.
   */
  readonly connectTimeoutMs: number;
  /**
   * How long a pool may take to answer `mining.subscribe`, and how long jobs wait for the answer to `mining.authorize`.
   */
  readonly handshakeMs: number;
  /**
   * How long a share waits for its answer. Some pools never answer; those that do need far less than a second. A pool
   * that has answered some before, and none since it got a share that waited for so long, is left for another one.
   */
  readonly submitMs: number;
  /** How long a share may still wait for its answer after the miner was told to stop. */
  readonly submitAfterStopMs: number;
  /** A pool that sends no job for so long is dead (as ethminer counts): chains get blocks every few seconds. */
  readonly noWorkMs: number;
  /**
   * A pool that has answered shares before and leaves one unanswered for so long, without sending anything, is silent.
   */
  readonly silenceMs: number;
  /** A connection that has given work for so long was no failed attempt, and the next pause is the first one again. */
  readonly steadyMs: number;
  /**
   * The same of a connection that the pool has ended by a refusal, or made unusable: it lasts for as long as the pool
   * wants.
   */
  readonly refusedSteadyMs: number;
  /**
   * The pauses between connections that fail or break. They are short, so that a preferred pool is mined on soon again.
   */
  readonly pauses: BackoffLimits;
  /**
   * The pauses after a pool has refused us: a ban, a wrong user, a certificate that is not trusted, something that is
   * no pool. Somebody has to change something, or a ban has to run out, and asking often can make a ban longer.
   */
  readonly refusedPauses: BackoffLimits;
  /**
   * How long a pool that has ceased to answer shares is left alone before it is tried again, if there is another one.
   * The second limit holds where trials are short.
   */
  readonly unhealthyPauses: BackoffLimits;
  /** The longest wait that `client.reconnect` may ask for. */
  readonly mostReconnectWaitMs: number;
}

export const poolLimits: PoolLimits = {
  connectTimeoutMs: 5_000,
  handshakeMs: 10_000,
  submitMs: 30_000,
  submitAfterStopMs: 3_000,
  noWorkMs: 180_000,
  silenceMs: 5_000,
  steadyMs: 10_000,
  refusedSteadyMs: 600_000,
  pauses: { firstMs: 500, mostMs: 10_000 },
  refusedPauses: { firstMs: 5_000, mostMs: 300_000 },
  unhealthyPauses: { firstMs: 300_000, mostMs: 3_600_000 },
  mostReconnectWaitMs: 60_000,
};

/**
 * What a pool may send besides the answers to requests: bytes and lines, at once and on average. It is ten times as
 * much as a pool needs that sends a job each 100 ms; twenty chains together have a block each 1.5 s.
 */
export const MOST_SENT = { bytes: 1_048_576, bytesPerSecond: 80_000, lines: 2_000, linesPerSecond: 100 } as const;

/** The longest line: a job has 700 bytes, and no message of a pool comes near this. */
export const MOST_LINE_BYTES = 16_384;

/**
 * How many bytes may wait because the pool does not read: a pool that asks all the time and reads nothing must not fill
 * memory.
 */
export const MOST_UNSENT_BYTES = 262_144;

/** How many works a pool can have valid at once. When there are more, the oldest one counts as forgotten. */
export const MOST_WORKS = 256;

/**
 * How many requests are remembered whose time has run out: their answers, which may come after an outage, are no flood.
 */
export const MOST_LATE = 4_096;

/** How many messages of a pool are shown for each connection: people have read them by then. */
export const MOST_MESSAGES = 10;

/** The most characters of a message of a pool that are shown. */
export const MOST_SHOWN = 200;
