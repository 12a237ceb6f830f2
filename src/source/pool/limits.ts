/** All limits of the dialogue with a pool. Tests use shorter times. */

import type { BackoffLimits } from '../../net/connecting.ts';

export const poolLimits = {
  /** Time in which a host must accept the connection, and end the handshake of TLS where that is used. */
  connectTimeoutMs: 5_000,
  /** Time for the answer to `mining.subscribe`, and for which jobs wait for the answer to `mining.authorize`. */
  handshakeMs: 10_000,
  /**
   * Time for the answer to a share. Some pools never answer; those that do need far less than a second. A pool that has
   * answered some shares before, and none for this time after it got one, is left for another pool.
   */
  submitMs: 30_000,
  /** Time for which a share still waits for its answer after the miner was stopped. */
  submitAfterStopMs: 3_000,
  /** Time without a job after which a pool counts as dead (as in ethminer): chains get blocks every few seconds. */
  noWorkMs: 180_000,
  /** Time after which a pool that has answered shares before is silent: it leaves one unanswered and sends nothing. */
  silenceMs: 5_000,
  /** A connection that has given work for this time was not a failed attempt: the pauses begin with the first again. */
  steadyMs: 10_000,
  /** The same of a connection that ended by a refusal or became unusable: it lasts for as long as the pool wants. */
  refusedSteadyMs: 600_000,
  /** Pauses after connections that fail or break: short, so that a preferred pool is soon mined on again. */
  pauses: { firstMs: 500, mostMs: 10_000 } satisfies BackoffLimits,
  /**
   * Pauses after a ban, a wrong user, a certificate that is not trusted, or an answer that is not stratum. Somebody has
   * to change something, or a ban has to run out, and asking often can make a ban longer.
   */
  refusedPauses: { firstMs: 5_000, mostMs: 300_000 } satisfies BackoffLimits,
  /**
   * Pauses before a pool that no longer answers shares is tried again, if there is another one. The second limit holds
   * where trials are short.
   */
  unhealthyPauses: { firstMs: 300_000, mostMs: 3_600_000 } satisfies BackoffLimits,
  /** The longest wait that `client.reconnect` may ask for. */
  mostReconnectWaitMs: 60_000,
};
export type PoolLimits = Readonly<typeof poolLimits>;

/**
 * Token buckets for what a pool sends besides answers to requests. They allow ten times as much as a job each 100 ms
 * needs; twenty chains together have a block each 1.5 s.
 */
export const MOST_SENT = { bytes: 1_048_576, bytesPerSecond: 80_000, lines: 2_000, linesPerSecond: 100 } as const;

/** The longest line: a job has 700 bytes, and no message of a pool comes near this. */
export const MOST_LINE_BYTES = 16_384;

/** Maximum bytes that wait for a pool that does not read. */
export const MOST_UNSENT_BYTES = 262_144;

/** Maximum number of works of a pool that are valid at once. When there are more, the oldest one is forgotten. */
export const MOST_WORKS = 256;

/** Maximum number of late requests that are remembered: their answers, which may come after an outage, are no flood. */
export const MOST_LATE = 4_096;

/** Maximum number of a pool's messages that are shown for each connection. */
export const MOST_MESSAGES = 10;

/** Maximum number of characters of a pool's message that are shown. */
export const MOST_SHOWN = 200;
