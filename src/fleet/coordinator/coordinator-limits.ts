/**
 * Time limits of a coordinator, and bounds on the memory and time that rigs and other coordinators can use up. Tests
 * use smaller limits.
 */

import { SOLUTION_REFUSALS } from '../messages.ts';

export const coordinatorLimits = {
  /** Time between two regular states. Rigs leave a coordinator that has sent no state for 2.5 s. */
  beatMs: 1_000,
  /**
   * Time for which states list an ended work. The time is short because the list makes states longer: with 16 ended
   * works, a state has about 1,000 bytes instead of 160. A rig that has missed all states in this time gets newer work
   * with the next state. If it sends a solution of the ended work, the solution is still answered.
   */
  endedMs: 10_000,
  /**
   * Maximum time for which the state about the end of a work is held back, so that it can also contain the next work. A
   * separate state about the end, sent to thousands of rigs, would delay the next work.
   */
  endDelayMs: 50,
  /** Time between two `relay` events, which contain the rigs' statistics. */
  reportMs: 5_000,
  /** Maximum time for which `FleetRelay.open` waits for a connection to a NATS server. */
  connectMs: 5_000,
  /** Maximum time until another coordinator's answer to a request for its state. */
  helloMs: 1_000,
  /**
   * Time for which a coordinator counts as new, from its first connection on. A new coordinator ends if an earlier
   * coordinator of the same name appears. A coordinator that is no longer new only logs a warning.
   */
  newMs: 10_000,
  /** Time after which a solution without a verdict is answered with `pending`. A rig waits 5 s for an answer. */
  answerMs: 3_000,
  /**
   * Maximum number of this coordinator's works that are kept to judge solutions: enough for five minutes with a work
   * every 300 ms.
   */
  works: 1_024,
  /** Maximum number of solutions that are kept with their verdicts, so that none is submitted twice. */
  verdicts: 16_384,
  /**
   * Maximum number of rigs with a `FleetRigAccount` of their own. Such an account takes 2 kB. A coordinator needs one
   * for every rig of the fleet, because the coordinator receives the reports of all rigs.
   */
  rigs: 20_000,
  /** Time without a message after which a rig's account may be dropped to make room for another rig's. */
  rigIdleMs: 60_000,
  /**
   * Time without a report and without a solution after which a rig no longer counts as mining this coordinator's work.
   * A rig reports every ten seconds.
   */
  sessionMs: 35_000,
  /**
   * Capacity and rate of the token bucket for a rig's requests with solutions. While a pool's difficulty is too low, a
   * rig of twelve GPUs sends up to 1,728 shares a second (144 for each device). A share costs the coordinator 0.15 ms.
   * Beyond the limit, only the subject of a request is read, and the request gets no answer.
   */
  solutionBurst: 4_000,
  solutionsPerSecond: 2_000,
  /**
   * Capacity and rate of two kinds of token buckets. One kind is for the requests of a rig or coordinator for this
   * coordinator's state. The other kind is for this coordinator's own requests for another coordinator's current work.
   */
  helloBurst: 5,
  hellosPerSecond: 0.5,
  /** Capacity and rate of the token bucket for a rig's reports. */
  reportBurst: 3,
  reportsPerSecond: 0.2,
  /** Capacity and rate of the token bucket for a rig's wrong solutions. */
  wrongBurst: 20,
  wrongPerMinute: 20,
  /** Time for which all solutions of a rig are refused after too many wrong ones. */
  refusedMs: 60_000,
  /**
   * Capacity and rate of the token bucket for answers that refuse a rig's solutions. Up to 512 solutions of a rig wait
   * for an answer. After a restart, this coordinator may refuse all of them, because it no longer has their works.
   */
  refusalBurst: 600,
  refusalsPerSecond: 1,
  /** Maximum number of other coordinators whose works are kept. */
  coordinators: 64,
  /** Maximum number of kept works of each other coordinator. A work takes 2 kB. */
  worksOfEach: 64,
  /**
   * Time without growth of the greatest height of this coordinator's works. After this time, the source of this
   * coordinator counts as standing still if another coordinator has work that is at least `blocksBehind` blocks higher.
   * On a real network, each chain has a block about every 30 s.
   */
  standstillMs: 90_000,
  /**
   * Minimum lag that counts, in blocks. If this coordinator's works are fewer blocks behind those of another
   * coordinator, rigs are not told to leave because of the lag.
   */
  blocksBehind: 3,
  /**
   * Minimum time between two rounds of requests to other coordinators for a block that proves a lag. Also the minimum
   * time between two requests to nodes for the parent of a work. After a success, there is no further request.
   */
  askParentMs: 10_000,
  /** Maximum time until another coordinator's answer to a request for a block that proves a lag. */
  parentMs: 5_000,
  /** Time for which a block counts as the proof of a lag. */
  provenMs: 120_000,
  /** Maximum age of a block that proves a lag, by the clock of this coordinator's node. */
  provenAgeMs: 600_000,
  /**
   * If another coordinator has published no state for this time, it counts as gone: it cannot take over rigs, and a new
   * coordinator may be remembered in its place.
   */
  coordinatorIdleMs: 10_000,
  /**
   * Capacity and rate of the token bucket for the states of one other coordinator. A coordinator sends a state every
   * second, and further states with each new or ended work.
   */
  stateBurst: 200,
  statesPerSecond: 50,
  /**
   * Capacity and rate of the token bucket for solutions of one other coordinator's works. The rate is low because each
   * of these solutions is sent to all nodes.
   */
  elsewhereBurst: 50,
  elsewherePerSecond: 5,
  /**
   * Capacity and rate of each rig's token bucket for solutions of unknown works. The rate is low because each of these
   * solutions is sent to all nodes, and a rig can make headers with a target of any difficulty.
   */
  unknownBurst: 50,
  unknownPerSecond: 5,
  /** Capacity and rate of the token bucket that all rigs share for solutions of unknown works. */
  allUnknownBurst: 500,
  allUnknownPerSecond: 50,
  /** Maximum number of rigs' buckets for solutions of unknown works. The least recently used bucket is dropped. */
  unknownRigs: 1_024,
  /** Minimum time between two log lines about refused messages. */
  logMs: 60_000,
};
export type CoordinatorLimits = Readonly<typeof coordinatorLimits>;

/**
 * Codes of the reasons for which messages are refused. A message that is refused with `flood`, `wrong-inbox` or
 * `wrong-name` gets no answer.
 */
export const MESSAGE_REFUSALS = {
  ...SOLUTION_REFUSALS,
  flood: 'dropped: too many messages',
  'wrong-inbox': 'dropped: the answer would reach others than the sender',
  'wrong-name': 'dropped: no member has the name in its subject',
} as const;
export type MessageRefusal = keyof typeof MESSAGE_REFUSALS;
