/**
 * The limits with which the members of a fleet start. Members of several versions work together, so each reckons with
 * the limits of the others: a changed one must be changed here, too, once the other side has been thought of.
 */

import { describe, expect, it } from 'vitest';
import { coordinatorLimits } from '#pickaxe/fleet/coordinator/coordinator-limits.js';
import {
  fleetLimits,
  MOST_COORDINATORS,
  MOST_WORKS,
  STATES_AT_ONCE,
  STATES_PER_SECOND,
} from '#pickaxe/fleet/rig/rig-limits.js';

describe('a coordinator', () => {
  it('has the limits that rigs and other coordinators know', () => {
    expect(coordinatorLimits).toEqual({
      beatMs: 1_000,
      endedMs: 10_000,
      endDelayMs: 50,
      reportMs: 5_000,
      connectMs: 5_000,
      helloMs: 1_000,
      newMs: 10_000,
      answerMs: 3_000,
      works: 1_024,
      verdicts: 16_384,
      rigs: 20_000,
      rigIdleMs: 60_000,
      sessionMs: 35_000,
      solutionBurst: 4_000,
      solutionsPerSecond: 2_000,
      helloBurst: 5,
      hellosPerSecond: 0.5,
      reportBurst: 3,
      reportsPerSecond: 0.2,
      wrongBurst: 20,
      wrongPerMinute: 20,
      refusedMs: 60_000,
      refusalBurst: 600,
      refusalsPerSecond: 1,
      coordinators: 64,
      worksOfEach: 64,
      standstillMs: 90_000,
      blocksBehind: 3,
      askParentMs: 10_000,
      parentMs: 5_000,
      provenMs: 120_000,
      provenAgeMs: 600_000,
      coordinatorIdleMs: 10_000,
      stateBurst: 200,
      statesPerSecond: 50,
      elsewhereBurst: 50,
      elsewherePerSecond: 5,
      unknownBurst: 50,
      unknownPerSecond: 5,
      allUnknownBurst: 500,
      allUnknownPerSecond: 50,
      unknownRigs: 1_024,
      logMs: 60_000,
    });
  });
});

describe('a rig', () => {
  it('has the limits that coordinators know', () => {
    expect(fleetLimits).toEqual({
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
    });
    expect([MOST_COORDINATORS, MOST_WORKS, STATES_AT_ONCE, STATES_PER_SECOND]).toEqual([16, 64, 400, 100]);
  });

  it('waits longer than a coordinator takes', () => {
    expect(fleetLimits.lostAfterMs).toBeGreaterThan(2 * coordinatorLimits.beatMs);
    expect(fleetLimits.solutionTimeoutMs).toBeGreaterThan(coordinatorLimits.answerMs);
    expect(coordinatorLimits.refusalBurst).toBeGreaterThan(fleetLimits.mostWaiting);
    expect(STATES_PER_SECOND).toBeGreaterThan(coordinatorLimits.statesPerSecond);
  });
});
