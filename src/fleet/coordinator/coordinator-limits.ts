/** Times of a coordinator, and bounds on what rigs and other coordinators cost it. Tests use smaller limits. */

import { SOLUTION_REFUSALS } from '../messages.ts';

export const coordinatorLimits = {
  /** Time between two states. Rigs leave a coordinator that sends no state for 2.5 s. */
  beatMs: 1_000,
  /**
   * Time for which states name an ended work. With 16 ended works, a state has 1,000 bytes instead of 160. A rig that
   * has got no state for this time has newer work by the next one. Its solutions of the ended work are still answered.
   */
  endedMs: 10_000,
  /**
   * Time for which the message about the end of a work waits for the next work, so that one message has both. A message
   * of its own to thousands of rigs would delay the next work.
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
  /** Maximum number of own works whose solutions are taken: those of five minutes, with a new work every 300 ms. */
  works: 1_024,
  /** Maximum number of remembered verdicts, so that no solution is submitted twice. */
  verdicts: 16_384,
  /** Maximum number of rigs with accounts of their own, 2 kB each: all rigs of a fleet report to each coordinator. */
  rigs: 20_000,
  /** Time without a message after which a rig's account can be dropped. */
  rigIdleMs: 60_000,
  /** Time without a report after which a rig no longer counts as mining here: it reports every ten seconds. */
  sessionMs: 35_000,
  /**
   * Token bucket for a rig's requests with solutions. While a pool's difficulty is too low, each device sends up to 144
   * shares a second, and twelve GPUs 1,728. A share costs the coordinator 0.15 ms. Of a request beyond the limit only
   * the subject is read, and there is no answer.
   */
  solutionBurst: 4_000,
  solutionsPerSecond: 2_000,
  /** Token buckets for requests for a state, also for those to other coordinators, and for a rig's reports. */
  helloBurst: 5,
  hellosPerSecond: 0.5,
  reportBurst: 3,
  reportsPerSecond: 0.2,
  /** Token bucket for a rig's wrong solutions. Beyond it, all solutions of the rig are refused for `refusedMs`. */
  wrongBurst: 20,
  wrongPerMinute: 20,
  refusedMs: 60_000,
  /**
   * Token bucket for answers that refuse a rig's solutions. Up to 512 solutions of a rig wait for an answer, and all of
   * them may be refused after a restart of this coordinator, which then no longer knows their works.
   */
  refusalBurst: 600,
  refusalsPerSecond: 1,
  /** Maximum number of other coordinators, and of kept works of each of them (2 kB a work). */
  coordinators: 64,
  worksOfEach: 64,
  /**
   * The own source stands still if the greatest height of the own works has not grown for `standstillMs`, and another
   * coordinator has work that is at least `blocksBehind` higher. Each chain of a real network has a block about every
   * 30 s.
   */
  standstillMs: 90_000,
  blocksBehind: 3,
  /** Time between two requests for a block that proves a lag, and maximum time until the answer. */
  askParentMs: 10_000,
  parentMs: 5_000,
  /** Time for which a proof of a lag counts, and maximum age of the block that proves it, by the own node's clock. */
  provenMs: 120_000,
  provenAgeMs: 600_000,
  /** Time without a state after which another coordinator makes room for a new one. */
  coordinatorIdleMs: 10_000,
  /** Token bucket for the states of another coordinator, which sends one a second, and more at each new work. */
  stateBurst: 200,
  statesPerSecond: 50,
  /** Token bucket for solutions of another coordinator's works: each solution is sent to all nodes. */
  elsewhereBurst: 50,
  elsewherePerSecond: 5,
  /**
   * Token buckets for solutions of unknown works, one for each rig and one for all rigs together. Each of these
   * solutions is sent to all nodes, too, and a rig can make headers with as easy a target as it likes. Beyond
   * `unknownRigs` rigs, the bucket that was not used for the longest time is dropped.
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

/** Reasons for which messages are refused. A message refused for one of the last three gets no answer. */
export const MESSAGE_REFUSALS = {
  ...SOLUTION_REFUSALS,
  flood: 'dropped: too many messages',
  'wrong-inbox': 'dropped: the answer would reach others than the sender',
  'wrong-name': 'dropped: no member has the name in its subject',
} as const;
export type MessageRefusal = keyof typeof MESSAGE_REFUSALS;
