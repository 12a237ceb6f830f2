/** All limits of the connection to a pool. Tests use shorter times. */

import type { BackoffLimits } from '../../../base/net/backoff.ts';

export const poolLimits = {
  /** Time limit for connecting, including the TLS handshake. */
  connectTimeoutMs: 5_000,
  /**
   * Time limit for the answers to `mining.subscribe` and `mining.authorize`. Without the first answer the connection
   * ends. Jobs are mined when the second answer has come, or without it when this time has passed.
   */
  handshakeMs: 10_000,
  /**
   * Time limit for the answer to a share. Some pools never answer; others need far less than a second. A pool that has
   * answered shares before becomes unhealthy if it answers no share at all within this time after a share was sent.
   */
  submitMs: 30_000,
  /** Time limit for the answers to shares after the miner was stopped. */
  submitAfterStopMs: 3_000,
  /**
   * Time without a job after which the connection is closed (180 s, as in ethminer). It is long enough: the chains
   * together get a block every few seconds.
   */
  noWorkMs: 180_000,
  /**
   * A pool counts as unresponsive if a share has waited this long for its answer, and no line has come in this time.
   * This applies only to a pool that has answered shares before. During a trial of an unhealthy pool, this is also the
   * time limit for the answer to a share.
   */
  silenceMs: 5_000,
  /** If a connection lasts at least this long after its first work, the next pause is the shortest one again. */
  steadyMs: 10_000,
  /** Used instead of `steadyMs` if the connection ended with a refusal, because the pool chooses when to refuse. */
  refusedSteadyMs: 600_000,
  /** Pauses after connections that fail or break. They are short, so that a preferred pool is soon used again. */
  pauses: { firstMs: 500, mostMs: 10_000 } satisfies BackoffLimits,
  /**
   * Pauses after a ban, a wrong user, an untrusted certificate or an answer that is not stratum. Somebody must change
   * something, or a ban must run out, and frequent connections can make a ban longer.
   */
  refusedPauses: { firstMs: 5_000, mostMs: 300_000 } satisfies BackoffLimits,
  /** Minimum time from a pool's first refusal to the one that proves that the pool refuses everything. */
  refusedMs: 5_000,
  /** Pauses before another trial of a pool that does not answer or accept shares. They are longer after long trials. */
  unhealthyPauses: { firstMs: 300_000, mostMs: 3_600_000 } satisfies BackoffLimits,
  /**
   * Maximum wait before pickaxe connects again. If `client.reconnect` asks for a longer wait, the wait is shortened.
   */
  mostReconnectWaitMs: 60_000,
};
export type PoolLimits = Readonly<typeof poolLimits>;

/**
 * Token buckets for what a pool sends besides answers to requests. The rates are about ten times as high as a job every
 * 100 ms requires. Twenty chains together have a block every 1.5 s.
 */
export const MOST_SENT = { bytes: 1_048_576, bytesPerSecond: 80_000, lines: 2_000, linesPerSecond: 100 } as const;

/**
 * Token bucket for unreadable lines, which are skipped. Some working pools send such a line every half minute, all day.
 * A server that sends far more of them uses another protocol.
 */
export const MOST_UNREADABLE = { lines: 10, linesPerSecond: 0.5 } as const;

/** Token bucket for log lines about skipped lines, for each connection: three at once, then one a minute. */
export const MOST_UNREADABLE_NOTES = { lines: 3, linesPerSecond: 1 / 60 } as const;

/** Maximum length of a line. A job has 700 bytes, and every other message of a pool is far shorter than this limit. */
export const MOST_LINE_BYTES = 16_384;

/** Maximum number of bytes that wait to be sent. With more, the connection ends, because the pool does not read. */
export const MOST_UNSENT_BYTES = 262_144;

/** Maximum number of valid works of a connection. If there are more, the oldest work becomes stale. */
export const MOST_WORKS = 256;

/**
 * Maximum number of remembered requests whose time limit has passed. Their answers, which may all come together after
 * an outage, do not count against `MOST_SENT`.
 */
export const MOST_LATE = 4_096;

/** Maximum number of a pool's messages to people that are shown for each connection. */
export const MOST_MESSAGES = 10;

/** Maximum length of a shown message, in characters. */
export const MOST_SHOWN = 200;
