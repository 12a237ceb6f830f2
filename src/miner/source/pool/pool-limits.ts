/** All limits of the dialogue with a pool. Tests use shorter times. */

import type { BackoffLimits } from '../../../base/net/backoff.ts';

export const poolLimits = {
  /** Time limit for connecting, including the TLS handshake. */
  connectTimeoutMs: 5_000,
  /** Time limit for the answer to `mining.subscribe`. Jobs wait as long for the answer to `mining.authorize`. */
  handshakeMs: 10_000,
  /**
   * Time limit for the answer to a share. Some pools never answer; others need far less than a second. A pool that has
   * answered shares before, but none for this time after it got one, is left for another pool.
   */
  submitMs: 30_000,
  /** Time limit for the answers to shares after the miner was stopped. */
  submitAfterStopMs: 3_000,
  /** Time without a job after which a pool counts as dead (as in ethminer): chains get blocks every few seconds. */
  noWorkMs: 180_000,
  /** Time without a line, and with a share unanswered, after which a pool that used to answer is unresponsive. */
  silenceMs: 5_000,
  /** A connection that has given work for this time was no failed attempt: pauses begin with the shortest again. */
  steadyMs: 10_000,
  /** The same for a connection that ended with a refusal: the pool chooses how long such a connection lasts. */
  refusedSteadyMs: 600_000,
  /** Pauses after connections that fail or break: short, so that a preferred pool is soon mined on again. */
  pauses: { firstMs: 500, mostMs: 10_000 } satisfies BackoffLimits,
  /**
   * Pauses after a ban, a wrong user, an untrusted certificate or an answer that is not stratum. A person has to change
   * something or a ban has to run out, and asking often can make a ban longer.
   */
  refusedPauses: { firstMs: 5_000, mostMs: 300_000 } satisfies BackoffLimits,
  /** A pool counts as one that refuses everything only when its refusals in a row have lasted for this time. */
  refusedMs: 5_000,
  /** Pauses before another trial of a pool that answers or accepts no shares. The maximum is for short trials. */
  unhealthyPauses: { firstMs: 300_000, mostMs: 3_600_000 } satisfies BackoffLimits,
  /** Maximum wait that `client.reconnect` may ask for. */
  mostReconnectWaitMs: 60_000,
};
export type PoolLimits = Readonly<typeof poolLimits>;

/**
 * Token buckets for what a pool sends besides answers to requests: ten times what a job each 100 ms needs. Twenty
 * chains together have a block each 1.5 s.
 */
export const MOST_SENT = { bytes: 1_048_576, bytesPerSecond: 80_000, lines: 2_000, linesPerSecond: 100 } as const;

/**
 * Token bucket for lines of a working pool that cannot be read, which are skipped. Some pools send such a line every
 * half minute, all day. A server that sends more of them speaks another protocol.
 */
export const MOST_UNREADABLE = { lines: 10, linesPerSecond: 0.5 } as const;

/** Log lines about skipped lines, for each connection: some at once, then one a minute. */
export const MOST_UNREADABLE_NOTES = { lines: 3, linesPerSecond: 1 / 60 } as const;

/** Maximum length of a line. A job has 700 bytes, and no message of a pool comes near this. */
export const MOST_LINE_BYTES = 16_384;

/** Maximum number of bytes that wait for a pool that does not read. */
export const MOST_UNSENT_BYTES = 262_144;

/** Maximum number of valid works of a pool. The oldest is dropped when there are more. */
export const MOST_WORKS = 256;

/** Maximum number of remembered late requests: their answers, which may come after an outage, are no flood. */
export const MOST_LATE = 4_096;

/** Maximum number of a pool's messages shown for each connection. */
export const MOST_MESSAGES = 10;

/** Maximum length of a shown message, in characters. */
export const MOST_SHOWN = 200;
