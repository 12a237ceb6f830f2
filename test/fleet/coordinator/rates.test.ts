/** How much a coordinator takes of its rigs and of other coordinators, with the limits that it really has. */

import { describe, expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { coordinatorLimits as limits } from '#pickaxe/fleet/coordinator/coordinator-limits.js';
import { OtherCoordinators } from '#pickaxe/fleet/coordinator/other-coordinators.js';
import { OwnWorks } from '#pickaxe/fleet/coordinator/own-works.js';
import { type FleetRigAccount, Rigs } from '#pickaxe/fleet/coordinator/rigs.js';
import { Solutions } from '#pickaxe/fleet/coordinator/solutions.js';
import { type CoordinatorState, givenWorkOf } from '#pickaxe/fleet/messages.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { drained } from '../../drained.ts';
import { makeWork } from '../../fakes.ts';
import { mine } from '../../miner/source/follow.ts';
import { stateOf, subjects } from './coordinator.ts';

const never = new AbortController().signal;
const UNKNOWN = `${'e'.repeat(16)}-7`;

/** @returns how many are taken at the start, and how many more after this time */
function taken(take: (nowMs: number) => boolean, afterMs: number): [number, number] {
  return [drained(() => take(0)), drained(() => take(afterMs))];
}

const rigOf = (name = 'rig', rigs = new Rigs(limits, () => 1, 0), nowMs = 0): FleetRigAccount =>
  rigs.of(subjects.solution('c1', name), nowMs)!.rig;

describe('a rig may send', () => {
  const rigs = new Rigs(limits, () => 1, 0);
  const other = rigOf('other', rigs);

  it.each([
    { bucket: 'solutions', what: 'solutions', burst: 4_000, more: 2_000, afterMs: 1_000 },
    { bucket: 'hellos', what: 'requests for the state', burst: 5, more: 1, afterMs: 2_000 },
    { bucket: 'reports', what: 'reports', burst: 3, more: 1, afterMs: 5_000 },
    { bucket: 'refusals', what: 'solutions that are refused with an answer', burst: 600, more: 1, afterMs: 1_000 },
  ] as const)('$burst $what at once, and $more more after $afterMs ms', ({ bucket, burst, more, afterMs }) => {
    expect(taken((nowMs) => rigOf('rig', rigs, nowMs)[bucket].take(1, nowMs), afterMs)).toEqual([burst, more]);
    expect(drained(() => other[bucket].take(1, 0))).toBe(burst);
  });

  it('20 wrong solutions at once and 20 a minute; then all of its solutions are refused for a minute', () => {
    const slow = rigOf();
    expect([drained(() => !slow.wasWrong(0)), drained(() => !slow.wasWrong(3_000))]).toEqual([20, 1]);
    const rig = rigOf();
    expect(drained(() => !rig.wasWrong(0))).toBe(20);
    expect([0, 59_999, 60_000].map((nowMs) => rig.isRefused(nowMs))).toEqual([true, true, false]);
    expect(drained(() => !rig.wasWrong(60_000))).toBe(20);
    expect([60_000, 119_999, 120_000].map((nowMs) => rig.isRefused(nowMs))).toEqual([true, true, false]);
  });
});

describe('a rig counts as one that mines', () => {
  it('for 35 s after each report and each solution', () => {
    const rigs = new Rigs(limits, () => 1, 0);
    const rig = rigOf('rig', rigs);
    const sessions = (nowMs: number) => {
      rigs.tick(nowMs);
      return rigs.list(nowMs).find(({ name }) => name === 'rig')?.sessions;
    };
    expect(sessions(0)).toBe(0);
    rig.mines(0, 5);
    expect(sessions(34_999)).toBe(1);
    rig.mines(34_999);
    expect([sessions(69_998), sessions(69_999)]).toEqual([1, 0]);
    rig.mines(80_000);
    expect([sessions(114_999), sessions(115_000)]).toEqual([1, 0]);
  });
});

it('20,000 rigs have limits of their own, and one that is silent for a minute makes room', () => {
  const rigs = new Rigs({ ...limits, wrongBurst: 0 }, () => 1, 0);
  for (let number = 0; number < 20_000; number++) rigOf(`rig${number}`, rigs);
  const [last, further] = [rigOf('rig19999', rigs), rigOf('late', rigs)];
  expect([last.name, further.name === 'late']).toEqual(['rig19999', false]);
  expect(rigOf('late', rigs, 59_999)).toBe(further);
  expect(rigOf('late', rigs, 60_000).name).toBe('late');
  // The one that made room has to share.
  expect(rigOf('rig0', rigs, 59_999)).toBe(further);
});

it('a coordinator knows its last 1,024 works, and no creation time before the first', () => {
  const clock = { monotonicMs: () => 0 } as ConstructorParameters<typeof OwnWorks>[0]['clock'];
  const { works: most, endedMs } = limits;
  const own = new OwnWorks({ instance: '0'.repeat(16), source: { latestTimeUs: () => 5n }, clock, most, endedMs });
  expect(own.state(true)).toMatchObject({ number: 0, work: null, latestTimeMicros: 0 });
  const work = makeWork(4);
  for (let number = 0; number < 1_025; number++) own.change({ ...work });
  expect(own.state(true)).toMatchObject({ number: 1, work: `${'0'.repeat(16)}-1024`, latestTimeMicros: 5 });
  expect([0, 1, 1_024].map((number) => own.find(`${'0'.repeat(16)}-${number}`) !== undefined)).toEqual([
    false,
    true,
    true,
  ]);
});

describe('another coordinator may send', () => {
  const RUN = '0'.repeat(16);
  const work = (number: number) => `${RUN}-${number}`;
  const state = (number: number, more: Partial<CoordinatorState> = {}) => stateOf(RUN, number, more);
  const given = (number: number) => ({ work: work(number), given: givenWorkOf(makeWork(4), work(number)) });

  it('200 states at once and 50 a second', () => {
    const others = new OtherCoordinators(limits);
    expect(taken((nowMs) => others.admits('a', nowMs), 1_000)).toEqual([200, 50]);
    expect(drained(() => others.admits('b', 1_000))).toBe(200);
  });

  it('the names of five unknown works for which it is asked, and one more in two seconds', () => {
    const others = new OtherCoordinators(limits);
    others.admits('a', 0);
    let number = 0;
    const take = (nowMs: number) => others.take('a', state(number++, { work: work(7) }), nowMs);
    expect(taken(take, 2_000)).toEqual([5, 1]);
  });

  it('works of which 50 solutions are submitted at once, in all, and five a second', () => {
    const others = new OtherCoordinators(limits);
    others.admits('a', 0);
    for (const number of [1, 2]) others.take('a', state(number, given(number)), 0);
    const [one, other] = [1, 2].map((number) => others.find('a', work(number))!.elsewhere);
    expect(taken((nowMs) => one.take(1, nowMs), 1_000)).toEqual([50, 5]);
    expect(drained(() => other.take(1, 1_000))).toBe(0);
  });

  it('64 works that are known; and 64 coordinators are, until one of them is silent for ten seconds', () => {
    const others = new OtherCoordinators(limits);
    for (let number = 0; number < 64; number++) expect(others.admits(`c${number}`, number)).toBe(true);
    for (let number = 0; number < 65; number++) others.take('c0', state(number, given(number)), 0);
    expect([0, 1, 64].map((number) => others.find('c0', work(number)) !== undefined)).toEqual([false, true, true]);
    expect(['late', 'c0', 'c63'].map((name) => others.admits(name, 10_000))).toEqual([false, true, true]);
    expect(others.admits('late', 10_001)).toBe(true);
    // The one that made room is the one whose last state is the oldest.
    expect([others.admits('c1', 10_001), others.find('c0', work(64)) !== undefined]).toEqual([false, true]);
  });
});

describe('solutions of works that nobody knows', () => {
  /** @param more limits that are not the real ones @returns how a coordinator with nodes takes solutions of rigs */
  function taking(more: Partial<typeof limits> = {}) {
    let nowMs = 0;
    let lane = 0;
    const easy = makeWork(1);
    const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => nowMs };
    const source = { latestTimeUs: () => BigInt(Date.now()) * 1000n };
    const own = new OwnWorks({ instance: 'f'.repeat(16), source, clock, most: 1, endedMs: 1 });
    own.change(makeWork(4));
    const solutions = new Solutions({
      name: 'c1',
      relay: 'fleet',
      source: 'node1',
      works: { judge: () => expect.fail('the work is not known') },
      own,
      others: new OtherCoordinators(limits),
      submitElsewhere: async () => ({ outcome: 'accepted', reason: '' }),
      emit: () => {},
      clock,
      limits: { ...limits, ...more },
    });
    /** @returns whether a solution of the rig is submitted, by default a new one */
    const takes = (rig: string, { header } = mine(easy, lane++)) => {
      const judged = solutions.judge({ coordinator: 'c9', work: UNKNOWN, header: toHex(header) }, rig, never);
      if (judged.kind === 'refused') expect(judged.code).toBe('too-many');
      return judged.kind === 'solution';
    };
    return {
      takes,
      pass: (ms: number) => {
        nowMs += ms;
      },
    };
  }

  it('are taken 50 at once of a rig, and five a second', () => {
    const { takes, pass } = taking();
    expect(drained(() => takes('rig'))).toBe(50);
    pass(1_000);
    expect([drained(() => takes('rig')), drained(() => takes('other'))]).toEqual([5, 50]);
  });

  it('are taken 500 at once of all rigs, and 50 a second', () => {
    const { takes, pass } = taking({ unknownBurst: 1e9 });
    expect([drained(() => takes('rig')), drained(() => takes('other'))]).toEqual([500, 0]);
    pass(1_000);
    expect([drained(() => takes('rig')), drained(() => takes('other'))]).toEqual([50, 0]);
  });

  it.each([
    { others: 1_023, isTaken: false },
    { others: 1_024, isTaken: true },
  ])('are counted for each of the last 1,024 rigs: $others after the first', ({ others, isTaken }) => {
    const once = { unknownBurst: 1, unknownPerSecond: 0, allUnknownBurst: 1, allUnknownPerSecond: 1 };
    const { takes, pass } = taking(once);
    expect(takes('first')).toBe(true);
    const solution = mine(makeWork(1));
    for (let number = 0; number < others; number++) takes(`rig${number}`, solution);
    pass(1_000);
    expect(takes('first', solution)).toBe(isTaken);
  });
});
