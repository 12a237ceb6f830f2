/** Bounds what rigs and other coordinators cost a coordinator. Tests use smaller limits. */

import { SOLUTION_REFUSALS } from '../messages.ts';

export const coordinatorLimits = {
  /** Time between two states. Rigs leave a coordinator that sends no state for 2.5 s. */
  beatMs: 1_000,
  /**
   * Time for which states name an ended work. With 16 of them, a state has 1,000 bytes instead of 160. A rig that gets
   * no state for this time has newer work by then, and its solutions of the ended work are answered.
   */
  endedMs: 10_000,
  /**
   * Time for which the end of a work waits for the next work, so that one message has both. Hashes of an ended work
   * are worth nothing anyway, and a message to thousands of rigs would delay the next work.
   */
  endDelayMs: 50,
  /** Time between two events about the rigs. */
  reportMs: 5_000,
  /** Maximum time in which `open` waits for the connection. */
  connectMs: 5_000,
  /** Maximum time in which another coordinator answers a request for its state. */
  helloMs: 1_000,
  /** Time after its first connection in which a coordinator ends if an earlier one of the same name appears. */
  newMs: 10_000,
  /** Time after which the answer to a solution is `pending`. A rig waits 5 s for an answer. */
  answerMs: 3_000,
  /** Maximum number of own works whose solutions are taken: five minutes of them, with a new work every 300 ms. */
  works: 1_024,
  /** Maximum number of remembered verdicts, so that no solution is submitted twice. */
  verdicts: 16_384,
  /** Maximum number of rigs with limits of their own, 2 kB each: all of a fleet report to each coordinator. */
  rigs: 20_000,
  /** Time without a message after which a rig's account can be dropped. */
  rigIdleMs: 60_000,
  /** Time without a report after which a rig no longer counts as mining here: it reports every ten seconds. */
  sessionMs: 35_000,
  /**
   * Token bucket for a rig's requests with solutions. While a pool's difficulty is too low, each device sends up to 144
   * shares a second: twelve GPUs 1,728. A share costs the coordinator 0.15 ms. Requests beyond the
   * limit are dropped without an answer, and only their subject is read.
   */
  solutionBurst: 4_000,
  solutionsPerSecond: 2_000,
  /** Token bucket for a rig's requests for the state, or to another coordinator, and for a rig's reports. */
  helloBurst: 5,
  hellosPerSecond: 0.5,
  reportBurst: 3,
  reportsPerSecond: 0.2,
  /** Token bucket for a rig's wrong solutions. Beyond it, all solutions of the rig are refused for `refusedMs`. */
  wrongBurst: 20,
  wrongPerMinute: 20,
  refusedMs: 60_000,
  /**
   * Token bucket for answers that refuse a rig's solutions. Up to 512 solutions of a rig wait for an answer, and after
   * a restart of this coordinator the works of all of them are unknown.
   */
  refusalBurst: 600,
  refusalsPerSecond: 1,
  /** Maximum number of other coordinators that are remembered, and of works of each of them (2 kB a work). */
  coordinators: 64,
  worksOfEach: 64,
  /**
   * A coordinator's source stands still if the heights of its works have not grown for `standstillMs`, and another
   * coordinator has works that are at least `blocksBehind` higher. Each chain of a real network has a block about
   * every 30 s.
   */
  standstillMs: 90_000,
  blocksBehind: 3,
  /** Time between two requests for a block that proves a lag, and maximum time until the answer. */
  askParentMs: 10_000,
  parentMs: 5_000,
  /** Time for which a proof of a lag counts, and the maximum age of its block, by the own node's clock. */
  provenMs: 120_000,
  provenAgeMs: 600_000,
  /** Time without a state after which another coordinator makes room for a new one. */
  coordinatorIdleMs: 10_000,
  /** Token bucket for the states of another coordinator, which publishes one a second, and some at each new work. */
  stateBurst: 200,
  statesPerSecond: 50,
  /** Token bucket for solutions of another coordinator's works: each solution is sent to all nodes. */
  elsewhereBurst: 50,
  elsewherePerSecond: 5,
  /**
   * Token buckets for solutions of unknown works, one for each rig and one for all rigs. These solutions are sent to
   * all nodes, too, and a rig can choose headers as easy as it likes. Beyond `unknownRigs` rigs, the bucket that was
   * not used for the longest time is dropped.
   */
  unknownBurst: 50,
  unknownPerSecond: 5,
  allUnknownBurst: 500,
  allUnknownPerSecond: 50,
  unknownRigs: 1_024,
  /** Time between two log lines about refused messages. */
  logMs: 60_000,
};
export type CoordinatorLimits = Readonly<typeof coordinatorLimits>;

/** Reasons for which messages are refused. For the last three, there is no answer. */
export const MESSAGE_REFUSALS = {
  ...SOLUTION_REFUSALS,
  flood: 'dropped: too many messages',
  'wrong-inbox': 'dropped: the answer would reach others than the sender',
  'wrong-name': 'dropped: no member has the name in its subject',
} as const;
export type MessageRefusal = keyof typeof MESSAGE_REFUSALS;
