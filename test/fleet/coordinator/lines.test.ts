/** How many lines of the log others can cause at a coordinator, and what it counts of messages that name nobody. */

import { describe, expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { coordinatorLimits } from '#pickaxe/fleet/coordinator/coordinator-limits.js';
import { Namesakes } from '#pickaxe/fleet/coordinator/namesakes.js';
import { OtherCoordinators } from '#pickaxe/fleet/coordinator/other-coordinators.js';
import { OwnWorks } from '#pickaxe/fleet/coordinator/own-works.js';
import { RigRequests } from '#pickaxe/fleet/coordinator/rig-requests.js';
import type { Judged } from '#pickaxe/fleet/coordinator/solutions.js';
import { messageBytes } from '#pickaxe/fleet/messages.js';
import { makeWork } from '../../fakes.ts';
import { eventually, mine } from '../../miner/source/follow.ts';
import { Coordinator, solutionRequest, subjects, TestRig } from './coordinator.ts';

const never = new AbortController().signal;

/** A coordinator that judges every solution alike. */
function judging(judged: Judged, limits = {}) {
  let nowMs = 0;
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const requests = new RigRequests({
    name: 'c1',
    solutions: { judge: () => judged },
    state: () => expect.fail('nobody asks for the state'),
    parent: async () => undefined,
    difficulty: () => 0,
    subjects,
    clock: { ...systemClock, monotonicMs: () => nowMs },
    log: { debug: log, info: log, warn: log },
    limits: { ...coordinatorLimits, ...limits },
  });
  const data = messageBytes(solutionRequest('c1', `${'a'.repeat(16)}-1`, mine(makeWork(1))));
  const send = (rig: string) =>
    requests.solution({ subject: subjects.solution('c1', rig), data, reply: `${subjects.inbox(rig)}.1` }, never);
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { send, pass, said: () => lines.splice(0), close: () => requests.refusals.close() };
}

const numbered = (count: number, line: (rig: string) => string) =>
  Array.from({ length: count }, (_, i) => line(`rig${i}`));

describe('the lines of a coordinator', () => {
  it('name the finders of a hundred blocks, and a hundred rigs at their first solutions, and then count the others', async () => {
    const solution = mine(makeWork(1));
    const verdict = Promise.resolve({ outcome: 'accepted' as const, reason: '' });
    const { send, pass, said } = judging({ kind: 'solution', verdict, solution, isFirst: true, isElsewhere: false });
    const found = (rig: string) =>
      `${rig} has found the block of chain ${solution.work.chain} at height ${solution.work.height}: accepted`;
    for (let i = 0; i < 105; i++) await send(`rig${i}`);
    expect(said()).toEqual(
      numbered(100, (rig) => `${found(rig)}\nfirst accepted solution of ${rig}`).flatMap((lines) => lines.split('\n')),
    );
    pass(10_000);
    await send('late');
    expect(said()).toEqual([
      `${found('late')}; 5 blocks before it have no such line`,
      'first accepted solution of late, and of 5 others before it',
    ]);
    pass(10_000);
    await send('later');
    expect(said()).toEqual([found('later'), 'first accepted solution of later']);
  });

  it('name ten rigs that are refused, and then count the others', () => {
    const judged: Judged = { kind: 'refused', code: 'not-a-solution', reason: 'no' };
    const { send, pass, said, close } = judging(judged, { wrongBurst: 0 });
    const refused = (rig: string) => `${rig} is refused for 60 s: it has sent too many wrong solutions`;
    for (let i = 0; i < 12; i++) send(`rig${i}`);
    expect(said()).toEqual(numbered(10, refused));
    pass(10_000);
    send('late');
    expect(said()).toEqual([`${refused('late')}; so were 2 others`]);
    pass(10_000);
    send('later');
    expect(said()).toEqual([refused('later')]);
    close();
  });

  it('complain ten times of another coordinator of the same name, and then seldom', () => {
    let nowMs = 0;
    const lines: string[] = [];
    const log = (line: string) => void lines.push(line);
    const namesakes = new Namesakes({
      name: 'c1',
      instance: '8'.repeat(16),
      own: { states: 1 },
      link: { state: { isConnected: true, server: '' }, request: expect.fail },
      subjects,
      clock: { ...systemClock, monotonicMs: () => nowMs },
      log: { debug: log, info: log, warn: log },
      limits: coordinatorLimits,
    });
    const other = { instance: '9'.repeat(16), number: 9 } as never;
    // Before its first connection it is not new, so it does not end.
    for (let i = 0; i < 12; i++) namesakes.onState(other);
    expect([lines.length, namesakes.refusal.aborted]).toEqual([10, false]);
    nowMs = 10_000;
    namesakes.connected();
    nowMs = 19_999;
    namesakes.connected();
    nowMs = 20_000;
    namesakes.onState(other);
    expect([lines.length, namesakes.refusal.aborted]).toEqual([11, false]);
    // Ten seconds from the first connection on, it counts as new.
    nowMs = 19_999;
    namesakes.onState(other);
    expect([lines.length, namesakes.refusal.aborted]).toEqual([11, true]);
  });
});

describe('a coordinator', () => {
  it('counts states whose subject names nobody', async () => {
    const coordinator = await Coordinator.start({ limits: { reportMs: 5 } });
    coordinator.nats.link('other').publish('pickaxe.beat.%zz', messageBytes({}));
    coordinator.nats.link('other').publish(subjects.beat('c2'), messageBytes({}));
    await eventually(() =>
      expect(coordinator.events.of('relay').at(-1)?.refused).toMatchObject({
        'wrong-name': 1,
        'wrong-message': 1,
        flood: 0,
      }),
    );
  });

  it('counts rigs also while it has no work', async () => {
    const coordinator = await Coordinator.start({ limits: { reportMs: 5 } });
    const rig = new TestRig(coordinator.nats, 'rig');
    rig.link.publish(subjects.report('rig'), messageBytes({ coordinator: 'c1', hashesPerSecond: 5 }));
    await eventually(() =>
      expect(coordinator.events.of('relay').at(-1)).toMatchObject({ sessions: 1, hashesPerSecond: 5 }),
    );
  });

  it('takes no state of one that it has no room for', () => {
    const others = new OtherCoordinators({ ...coordinatorLimits, coordinators: 0 });
    const state = { instance: '0'.repeat(16), number: 0, ended: [], work: null, lost: null, latestTimeMicros: 0 };
    expect(others.take('a', state as never, 0)).toBe(false);
    expect(others.heightOfFit(0)).toBeUndefined();
  });
});

describe('the works of a coordinator', () => {
  const owned = (latestUs = 0n) => {
    let nowMs = 500;
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const source = { latestTimeUs: () => latestUs };
    const own = new OwnWorks({ instance: '0'.repeat(16), source, clock, most: 8, endedMs: 1_000 });
    return {
      own,
      pass: (ms: number) => {
        nowMs += ms;
      },
    };
  };
  const at = (height: bigint) => ({ ...makeWork(4), height });

  it('have a greatest height, and the time since it has grown', () => {
    const { own, pass } = owned();
    expect(own.growth()).toBeUndefined();
    const steps: [bigint, number][] = [
      [0n, 0],
      [5n, 0],
      [5n, 100],
      [4n, 200],
      [6n, 0],
    ];
    for (const [height, sinceMs] of steps) {
      own.change(at(height));
      const greatest = height === 4n ? 5n : height;
      expect(own.growth()).toEqual({ height: greatest, sinceMs });
      pass(100);
    }
    own.change(undefined);
    expect(own.growth()).toEqual({ height: 6n, sinceMs: 100 });
  });

  it('change a state only by what is new', () => {
    const { own } = owned();
    const [one, other] = [at(1n), at(2n)];
    expect([own.change(undefined), own.change(one), own.change(one), own.change(other)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect([own.end([one, at(3n)], 'solved'), own.end([one], 'new-cut'), own.end([], 'solved')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(own.state(false).ended).toEqual([{ name: `${'0'.repeat(16)}-0`, reason: 'solved' }]);
    expect([own.lose('gone'), own.lose('gone'), own.lose('other'), own.lose(null), own.lose(null)]).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
  });

  it('are the last one while there is none, and no latest time is below zero', () => {
    const { own } = owned(-5n);
    const work = at(1n);
    expect([own.current, own.last, own.states]).toEqual([undefined, undefined, 0]);
    own.change(work);
    own.change(undefined);
    expect([own.current, own.last]).toEqual([undefined, work]);
    expect(own.state(true, 'it\nlags')).toMatchObject({ work: null, latestTimeMicros: 0, fault: 'it lags' });
    expect(own.states).toBe(1);
  });

  it('that have ended are in states for a time', () => {
    const { own, pass } = owned();
    const work = at(1n);
    own.change(work);
    own.end([work], 'expired');
    pass(999);
    expect(own.state(false).ended).toHaveLength(1);
    pass(1);
    expect(own.state(false).ended).toEqual([]);
  });
});
