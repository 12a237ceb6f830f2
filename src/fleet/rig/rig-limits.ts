/** Time limits, pauses and bounds of a rig that mines for a fleet. Tests use other values for `FleetLimits`. */

import type { BackoffLimits } from '../../base/net/backoff.ts';

/** Maximum number of coordinators that a rig uses. Further coordinators are ignored, and reported in one log line. */
export const MOST_COORDINATORS = 16;
/**
 * Maximum number of works, and of names of ended works, that a rig keeps for each coordinator. On a real network, a
 * coordinator has about 20 works in ten minutes.
 */
export const MOST_WORKS = 64;
/**
 * Capacity and rate of the token bucket for the states of each coordinator. On a test network, a coordinator sends
 * about 50 states a second.
 */
export const STATES_AT_ONCE = 400;
export const STATES_PER_SECOND = 100;

export interface FleetLimits {
  /** Time without a state after which a coordinator is lost. Coordinators publish a state every second. */
  readonly lostAfterMs: number;
  /**
   * Time without a state after which a coordinator's state counts even if it is of another run, or has a lower number.
   */
  readonly replacedAfterMs: number;
  /**
   * Time from the first state to the choice of a coordinator, so that the preferred coordinator can also send a state.
   */
  readonly gatherMs: number;
  /** Time from the start after which it is reported that no coordinator has been found. */
  readonly noneFoundMs: number;
  /** Time between two checks of how long ago the coordinators sent their last states. */
  readonly lookMs: number;
  /** Maximum random delay before a coordinator is asked for its work, so that thousands of rigs do not ask at once. */
  readonly helloDelayMs: number;
  readonly helloTimeoutMs: number;
  readonly helloPauses: BackoffLimits;
  /**
   * Maximum number of solutions that wait for one coordinator's verdicts. The miner pauses at twice this number, so one
   * coordinator that does not answer cannot stop the rig from mining another coordinator's works. While a pool's
   * difficulty is too low, a rig of twelve GPUs finds 1,728 shares a second. If each answer takes 0.3 s, about 512
   * shares wait.
   */
  readonly mostWaiting: number;
  /** Maximum time until the answer to a solution. Coordinators answer within 3 s. */
  readonly solutionTimeoutMs: number;
  /**
   * Time after which a repeated request to the issuer of a work ends if the issuer has sent no state. A coordinator
   * sends a state every second.
   */
  readonly askAgainMs: number;
  readonly solvedAfterMs: number;
  readonly submitAfterStopMs: number;
  readonly submitPauses: BackoffLimits;
  /** Pause after a coordinator's answer that this rig has sent too many solutions. */
  readonly tooManyPauseMs: number;
  /**
   * Maximum time for which a work is mined after the last state that named it as current. Nodes drop works after this
   * time, too.
   */
  readonly expiryMs: number;
  /** Time without any coordinator's state on a connection after which another NATS server is tried. */
  readonly idleServerMs: number;
  /**
   * Minimum times from one change of the NATS server to the next. After a coordinator's state has come, the minimum is
   * half of `firstMs`.
   */
  readonly renewPauses: BackoffLimits;
  /**
   * Minimum time from the first refused solution to the refusal that makes a coordinator unhealthy. It does not apply
   * during a trial of the coordinator.
   */
  readonly refusedMs: number;
  /** Pauses before an unhealthy coordinator is tried again. */
  readonly unhealthyPauses: BackoffLimits;
  /** Time without a state after which a coordinator is dropped, if another one has sent a state within this time. */
  readonly forgetMs: number;
}

export const fleetLimits: FleetLimits = {
  lostAfterMs: 2_500,
  replacedAfterMs: 1_500,
  gatherMs: 300,
  noneFoundMs: 3_000,
  lookMs: 250,
  helloDelayMs: 200,
  helloTimeoutMs: 2_000,
  helloPauses: { firstMs: 500, mostMs: 10_000 },
  mostWaiting: 512,
  solutionTimeoutMs: 5_000,
  askAgainMs: 1_500,
  solvedAfterMs: 1_000,
  submitAfterStopMs: 5_000,
  submitPauses: { firstMs: 100, mostMs: 2_000 },
  tooManyPauseMs: 3_000,
  expiryMs: 300_000,
  idleServerMs: 5_000,
  renewPauses: { firstMs: 20_000, mostMs: 600_000 },
  refusedMs: 5_000,
  unhealthyPauses: { firstMs: 300_000, mostMs: 3_600_000 },
  forgetMs: 600_000,
};
