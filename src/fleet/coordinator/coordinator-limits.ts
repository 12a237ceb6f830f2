/** Bounds what rigs and other coordinators cost a coordinator. Tests use smaller limits. */

import { SOLUTION_REFUSALS } from '../messages.ts';

export const coordinatorLimits = {
  /** Time between two states: rigs leave a coordinator whose states cease for 2.5 s. */
  beatMs: 1_000,
  /**
   * How long states name an ended work. With 16 of them, a state has 1,000 bytes in place of 160. A rig that hears no
   * state for so long gets newer work, and its solutions of the ended work are answered.
   */
  endedMs: 10_000,
  /**
   * How long the news that a work has ended waits for the next work, which then carries it. Hashes of an ended work are
   * worth nothing anyway, and a message to thousands of rigs would delay the next one.
   */
  endDelayMs: 50,
  /** Time between two events about the rigs. */
  reportMs: 5_000,
  /** How long `open` waits for the connection, and for another coordinator of the same name to answer. */
  connectMs: 5_000,
  helloMs: 1_000,
  /** How long after its first connection a coordinator ends when an earlier one of the same name shows up. */
  newMs: 10_000,
  /** A rig waits 5 s for an answer. After this time it is `pending`. */
  answerMs: 3_000,
  /** Maximum number of own works whose solutions are taken: those of five minutes with a new work each 300 ms. */
  works: 1_024,
  /** Maximum number of remembered verdicts, so that no solution is submitted twice. */
  verdicts: 16_384,
  /** Maximum number of rigs with limits of their own, 2 kB each: all of a fleet report to each coordinator. */
  rigs: 20_000,
  /** A rig without a message in this time can be forgotten. */
  rigIdleMs: 60_000,
  /** A rig mines here until its report of every ten seconds has failed to come three times. */
  sessionMs: 35_000,
  /**
   * Token bucket for a rig's requests with solutions. While a pool's difficulty is too low, each device sends up to 144
   * shares a second: twelve GPUs 1,728. A share costs the coordinator 0.15 ms. Those beyond are dropped without an
   * answer, before anything is read but their subject.
   */
  solutionBurst: 4_000,
  solutionsPerSecond: 2_000,
  /** Token bucket for a rig's requests for the state, or to another coordinator, and for a rig's reports. */
  helloBurst: 5,
  hellosPerSecond: 0.5,
  reportBurst: 3,
  reportsPerSecond: 0.2,
  /** Token bucket for a rig's wrong solutions: one beyond has all its solutions refused for `refusedMs`. */
  wrongBurst: 20,
  wrongPerMinute: 20,
  refusedMs: 60_000,
  /**
   * Token bucket for telling a rig that it is refused. Up to 512 of its solutions wait, and after a restart of this
   * coordinator all of them are of unknown works.
   */
  refusalBurst: 600,
  refusalsPerSecond: 1,
  /** Maximum number of other coordinators that are followed, and of works of each, 2 kB each. */
  coordinators: 64,
  worksOfEach: 64,
  /**
   * A coordinator's source stands still if the heights of its works have not grown for `standstillMs`, and another
   * coordinator has works that are at least `blocksBehind` higher. Each chain of a real network has a block about
   * every 30 s.
   */
  standstillMs: 90_000,
  blocksBehind: 3,
  /** Time between two requests for a block that proves a lag, and the time in which it must come. */
  askParentMs: 10_000,
  parentMs: 5_000,
  /** How long a proof of a lag counts, and the maximum age of the block in it, by the own node's clock. */
  provenMs: 120_000,
  provenAgeMs: 600_000,
  /** Another coordinator that is silent for this time makes room for a new one. */
  coordinatorIdleMs: 10_000,
  /** Token bucket for the states of another coordinator. It publishes one a second, and some at each new work. */
  stateBurst: 200,
  statesPerSecond: 50,
  /** Token bucket for solutions of another coordinator's works: each is sent to all nodes. */
  elsewhereBurst: 50,
  elsewherePerSecond: 5,
  /**
   * Token buckets for solutions of works that this coordinator does not know, of each rig and of all: they are sent to
   * all nodes, too, and their headers can be as easy as the rig likes. Of more rigs than `unknownRigs`, the one that
   * has sent none for the longest time is forgotten.
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

/** Why messages are refused. The last three are dropped without an answer. */
export const MESSAGE_REFUSALS = {
  ...SOLUTION_REFUSALS,
  flood: 'dropped: too many messages',
  'wrong-inbox': 'dropped: the answer would reach others than the sender',
  'wrong-name': 'dropped: no member has the name in its subject',
} as const;
export type MessageRefusal = keyof typeof MESSAGE_REFUSALS;
