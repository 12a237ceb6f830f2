/** All time limits, pauses and bounds of a rig that mines for a fleet. Tests use shorter times and smaller bounds. */

import type { BackoffLimits } from '../../base/net/backoff.ts';

/** Maximum number of coordinators of a rig. Further ones are ignored, and reported once in a log line. */
export const MOST_COORDINATORS = 16;
/** Maximum number of works, and of names of ended works, that a rig keeps for each coordinator: 20 in ten minutes. */
export const MOST_WORKS = 64;
/** Token bucket for the states of each coordinator, which sends about 50 a second on a test network. */
export const STATES_AT_ONCE = 400;
export const STATES_PER_SECOND = 100;

export interface FleetLimits {
  /** Time without a state after which a coordinator is lost. Coordinators publish a state every second. */
  readonly lostAfterMs: number;
  /** Time without a state after which another instance may replace a coordinator. */
  readonly replacedAfterMs: number;
  /** Time from the first state to the choice of a coordinator, in which the preferred one can send a state, too. */
  readonly gatherMs: number;
  /** Maximum time until the first coordinator is found, after which a lack of coordinators is reported. */
  readonly noneFoundMs: number;
  /** Time between two checks of how long ago the coordinators sent their last states. */
  readonly lookMs: number;
  /** Maximum random delay before a coordinator is asked for its work, so that thousands of rigs do not ask at once. */
  readonly helloDelayMs: number;
  readonly helloTimeoutMs: number;
  readonly helloPauses: BackoffLimits;
  /**
   * Maximum number of solutions that wait for a coordinator's verdicts. The miner pauses at twice this number, so a
   * coordinator that answers nothing cannot keep the rig from the works of another one. While a pool's difficulty is
   * too low, twelve GPUs find 1,728 shares a second: about 512 wait if each answer takes 0.3 s.
   */
  readonly mostWaiting: number;
  /** Maximum time until the answer to a solution. Coordinators answer within 3 s. */
  readonly solutionTimeoutMs: number;
  /** Time in which the issuer, when asked once more, must send a state: a coordinator sends one each second. */
  readonly askAgainMs: number;
  readonly solvedAfterMs: number;
  readonly submitAfterStopMs: number;
  readonly submitPauses: BackoffLimits;
  /** Pause after a coordinator's answer that this rig has sent too many solutions. */
  readonly tooManyPauseMs: number;
  /** Maximum time since the last state that named a work as current. Nodes drop work after this time, too. */
  readonly expiryMs: number;
  /** Time without any state on a connection after which another server is tried. */
  readonly idleServerMs: number;
  /** Pauses between two changes of an idle server. The first is at least 10 s. */
  readonly renewPauses: BackoffLimits;
  /** Minimum duration of refusals before a coordinator counts as unhealthy. */
  readonly refusedMs: number;
  /** Pauses before an unhealthy coordinator is tried again. */
  readonly unhealthyPauses: BackoffLimits;
  /** Time without a state after which a coordinator is dropped, if there are others. */
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
