import { describe, expect, it } from 'vitest';
import { coordinatorLimits } from '#pickaxe/fleet/coordinator/coordinator-limits.js';
import { OtherCoordinators } from '#pickaxe/fleet/coordinator/other-coordinators.js';
import { Rigs } from '#pickaxe/fleet/coordinator/rigs.js';
import { type CoordinatorState, givenWorkOf, messageBytes } from '#pickaxe/fleet/messages.js';
import { OTHER_WORKERS } from '#pickaxe/miner/events/vocabulary.js';
import type { Verdict } from '#pickaxe/miner/source/source.js';
import { makeWork } from '../../fakes.ts';
import { eventually, mine, wrongSolution } from '../../miner/source/follow.ts';
import { Coordinator, solutionRequest, stateOf, subjects, TestRig } from './coordinator.ts';

const of = (name: string) => subjects.solution('c1', name);

describe('the rigs of a coordinator', () => {
  it('have limits of their own up to a number, and share one set beyond it', () => {
    const limits = {
      ...coordinatorLimits,
      rigs: 2,
      rigIdleMs: 1_000,
      solutionBurst: 1,
      solutionsPerSecond: 0,
      wrongBurst: 0,
    };
    const rigs = new Rigs(limits, () => 1, 0);
    const rig = (name: string, nowMs: number) => rigs.of(of(name), nowMs)!.rig;
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => rig(name, 0));
    expect(new Set([a, b, c]).size).toBe(3);
    expect(d).toBe(c);
    expect(c.shown).toBe(OTHER_WORKERS);
    expect(rigs.of(of('d'), 0)!.sender).toBe('d');
    // One of those that share cannot have all of them refused.
    expect([a.wasWrong(0), c.wasWrong(0)]).toEqual([true, false]);
    expect([a.isRefused(0), c.isRefused(0)]).toEqual([true, false]);
    // A rig that sends nothing for a while makes room. One that does keeps its limits.
    expect(rig('a', 1_500)).toBe(a);
    const e = rig('e', 1_600);
    expect([b, c]).not.toContain(e);
    expect(rig('a', 1_600)).toBe(a);
    expect(rig('b', 1_600)).toBe(c);
  });

  it('are refused after too many wrong solutions, also one that has the name of those that share', () => {
    const rigs = new Rigs({ ...coordinatorLimits, wrongBurst: 0 }, () => 1, 0);
    const { rig } = rigs.of(of(OTHER_WORKERS), 0)!;
    expect(rig.wasWrong(0)).toBe(true);
    expect(rig.isRefused(0)).toBe(true);
  });

  it('are a bounded number in the memory and in events, whatever the names', async () => {
    const coordinator = await Coordinator.start({ limits: { rigs: 100, reportMs: 5 } });
    const { work, name } = await coordinator.work(makeWork(4, { until: 'replaced' }));
    const data = messageBytes(solutionRequest('c1', name, mine(work)));
    const sender = coordinator.nats.link('sender');
    for (let number = 0; number < 1_000; number++) {
      coordinator.nats.send(sender, { subject: of(`r${number}`), data, reply: `${subjects.inbox(`r${number}`)}.1` });
    }
    await eventually(() => {
      const { workers, sessions } = coordinator.events.of('relay').at(-1)!;
      expect(workers).toHaveLength(65);
      expect(workers.at(-1)).toMatchObject({ name: OTHER_WORKERS });
      expect(sessions).toBe(101);
    });
    expect(coordinator.source.submitted).toHaveLength(1);
  });

  it('are listed with what they have brought, and the hashrate that they claim', async () => {
    const coordinator = await Coordinator.start({ limits: { reportMs: 5 } });
    const { work, name } = await coordinator.work();
    const [rig, silent] = ['rig', 'silent'].map((each) => new TestRig(coordinator.nats, each));
    const report = (by: TestRig, coordinator: string | null, hashesPerSecond: unknown, more = {}) =>
      by.link.publish(subjects.report(by.name), messageBytes({ coordinator, hashesPerSecond, ...more }));
    report(rig, 'c1', 5e9, { version: '1', devices: [] });
    report(silent, 'c1', 1e9);
    report(new TestRig(coordinator.nats, 'elsewhere'), 'c2', 1e9);
    report(new TestRig(coordinator.nats, 'c1'), 'c1', 1e9);
    report(new TestRig(coordinator.nats, 'liar'), 'c1', -1);
    await rig.solve('c1', name, wrongSolution(work));
    await rig.solve('c1', name, mine(work));
    await rig.solve('c1', name, mine(work, 1));
    const last = () => coordinator.events.of('relay').at(-1)!;
    await eventually(() =>
      expect(last()).toMatchObject({
        relay: 'fleet',
        sessions: 2,
        hashesPerSecond: 6e9,
        refused: { 'not-a-solution': 1, 'wrong-message': 1, flood: 0 },
      }),
    );
    const row = (worker: string) => last().workers.find(({ name }) => name === worker);
    expect(row('rig')).toMatchObject({
      sessions: 1,
      hashesPerSecond: 5e9,
      accepted: 1,
      rejected: 1,
      stale: 0,
      blocks: 1,
    });
    coordinator.nowMs += 30_000;
    report(rig, 'c1', 4e9);
    await eventually(() => expect(row('rig')).toMatchObject({ hashesPerSecond: 4e9 }));
    coordinator.nowMs += 10_000;
    await eventually(() => expect(last()).toMatchObject({ sessions: 1, hashesPerSecond: 4e9 }));
    report(rig, 'c2', 4e9);
    await eventually(() => expect(last()).toMatchObject({ sessions: 0, hashesPerSecond: 0 }));
    expect(row('rig')).toMatchObject({ accepted: 1, blocks: 1 });
  });
});

describe('a flood', () => {
  it('of one rig is dropped unread, to whomever it is sent, and others are served', async () => {
    const submitElsewhere = async (): Promise<Verdict> => ({ outcome: 'accepted', reason: '' });
    const coordinator = await Coordinator.start({ limits: { reportMs: 5, wrongBurst: 1e9 }, submitElsewhere });
    const { work, name } = await coordinator.work();
    const flooder = coordinator.nats.link('flooder', subjects.inbox('flooder'));
    const data = messageBytes(solutionRequest('c1', name, wrongSolution(work)));
    const reply = 'pickaxe.inbox.flooder.1';
    let answers = 0;
    flooder.subscribe(reply, () => answers++);
    for (let count = 0; count < 10_000; count++) {
      coordinator.nats.send(flooder, { subject: of('flooder'), data, reply });
      coordinator.nats.send(flooder, { subject: subjects.fallback('flooder'), data, reply });
    }
    const answer = await new TestRig(coordinator.nats, 'rig').solve('c1', name, mine(work));
    expect(answer).toMatchObject({ outcome: 'accepted' });
    await eventually(() =>
      expect(coordinator.events.of('relay').at(-1)!.refused).toMatchObject({
        flood: 20_000 - coordinatorLimits.solutionBurst,
        'not-a-solution': coordinatorLimits.solutionBurst,
      }),
    );
    expect(answers).toBe(coordinatorLimits.refusalBurst);
  });

  it('of requests for the state, and of reports, is bounded, too', async () => {
    const coordinator = await Coordinator.start({ limits: { reportMs: 5 } });
    const flooder = coordinator.nats.link('flooder', subjects.inbox('flooder'));
    let answers = 0;
    flooder.subscribe('pickaxe.inbox.flooder.1', () => answers++);
    const data = messageBytes({});
    for (let count = 0; count < 1_000; count++) {
      coordinator.nats.send(flooder, {
        subject: subjects.hello('c1', 'flooder'),
        data,
        reply: 'pickaxe.inbox.flooder.1',
      });
      flooder.publish(subjects.report('flooder'), data);
    }
    const { helloBurst, reportBurst } = coordinatorLimits;
    await eventually(() =>
      expect(coordinator.events.of('relay').at(-1)!.refused).toMatchObject({
        flood: 2_000 - helloBurst - reportBurst,
        'wrong-message': reportBurst,
      }),
    );
    expect(answers).toBe(helloBurst);
  });

  it('is logged with the name of the rig, once in a while', async () => {
    const coordinator = await Coordinator.start({ limits: { logMs: 5 } });
    const flooder = coordinator.nats.link('flooder');
    for (let count = 0; count < 1_000; count++) flooder.publish(of('flooder'), messageBytes({}));
    await eventually(() => expect(coordinator.lines.at(-1)).toBe('refused: wrong-inbox 1000; from flooder'));
  });
});

describe('other coordinators', () => {
  const state = (number: number, more: Partial<CoordinatorState> = {}) => stateOf('0'.repeat(16), number, more);
  const name = (number: number) => `${'0'.repeat(16)}-${number}`;
  const given = (number: number) => ({ given: givenWorkOf(makeWork(4), name(number)) });

  it('are a bounded number, with a bounded number of works', () => {
    const others = new OtherCoordinators({
      ...coordinatorLimits,
      coordinators: 2,
      worksOfEach: 2,
      coordinatorIdleMs: 10,
    });
    for (const each of ['a', 'b']) {
      expect(others.admits(each, 0)).toBe(true);
      for (const number of [1, 2, 3]) others.take(each, state(number, given(number)), 0);
    }
    expect([1, 2, 3].map((number) => others.find('a', name(number)) !== undefined)).toEqual([false, true, true]);
    // A third one gets room only once one of the others is silent.
    expect(others.admits('c', 5)).toBe(false);
    others.take('a', state(4), 5);
    expect(others.admits('c', 10)).toBe(true);
    expect([others.find('a', name(3)), others.find('b', name(3))]).toEqual([expect.anything(), undefined]);
  });

  it('count again after a state with the greatest number that was forged in their name', () => {
    const others = new OtherCoordinators({ ...coordinatorLimits, coordinatorIdleMs: 10 });
    others.admits('a', 0);
    others.take('a', state(Number.MAX_SAFE_INTEGER), 0);
    others.take('a', state(1, given(1)), 9);
    expect(others.find('a', name(1))).toBeUndefined();
    others.take('a', state(2, given(2)), 10);
    expect(others.find('a', name(2))).toBeDefined();
  });

  it('are read at a bounded rate each', () => {
    const others = new OtherCoordinators({ ...coordinatorLimits, stateBurst: 2, statesPerSecond: 1 });
    expect([0, 0, 0, 1_000].map((nowMs) => others.admits('a', nowMs))).toEqual([true, true, false, true]);
    expect(others.admits('b', 1_000)).toBe(true);
  });

  it('are none of them the coordinator itself, whose own states are not counted', async () => {
    const limits = { stateBurst: 2, statesPerSecond: 0, reportMs: 5 };
    const coordinator = await Coordinator.start({ limits });
    for (let count = 0; count < 10; count++) await coordinator.work();
    const seen = coordinator.events.of('relay').length;
    await eventually(() => expect(coordinator.events.of('relay').length).toBeGreaterThan(seen));
    expect(coordinator.events.of('relay').at(-1)!.refused?.flood).toBe(0);
    const other = await Coordinator.start({ nats: coordinator.nats, name: 'c2', limits: { newMs: 0 } });
    for (let count = 0; count < 10; count++) await other.work();
    await eventually(() => expect(coordinator.events.of('relay').at(-1)!.refused?.flood).toBeGreaterThan(0));
  });

  it('are not believed when a state is old', () => {
    const others = new OtherCoordinators(coordinatorLimits);
    others.admits('a', 0);
    others.take('a', state(5, given(1)), 0);
    others.take('a', state(5, given(2)), 0);
    others.take('a', state(4, { ended: [{ name: name(1), reason: 'new-cut' }] }), 0);
    expect(others.find('a', name(2))).toBeUndefined();
    expect(others.find('a', name(1))!.ended).toBeUndefined();
    others.take('a', state(6, { ended: [{ name: name(1), reason: 'new-cut' }] }), 0);
    expect(others.find('a', name(1))!.ended).toBe('new-cut');
    // Another instance begins to count anew, and the works of the former one are still known.
    others.take('a', state(0, { ...given(3), instance: '1'.repeat(16) }), 0);
    expect([1, 3].map((number) => others.find('a', name(number)) !== undefined)).toEqual([true, true]);
    // Nobody can change a work, or give one in another's name.
    expect(others.find('b', name(1))).toBeUndefined();
  });
});
