import { describe, expect, it } from 'vitest';
import { coordinatorLimits } from '#pickaxe/fleet/coordinator/coordinator-limits.js';
import { OtherCoordinators } from '#pickaxe/fleet/coordinator/other-coordinators.js';
import { type CoordinatorState, givenWorkOf, messageBytes } from '#pickaxe/fleet/messages.js';
import { HEADER_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { makeWork } from '../../fakes.ts';
import { eventually, mine } from '../../miner/source/follow.ts';
import { FakeNats } from '../nats/fake-nats.ts';
import { Coordinator, solutionRequest, stateOf, subjects, TestRig } from './coordinator.ts';

const RUN = '0'.repeat(16);
const work = (number: number) => `${RUN}-${number}`;
const state = (number: number, more: Partial<CoordinatorState> = {}) => stateOf(RUN, number, more);
const given = (number: number) => ({ work: work(number), given: givenWorkOf(makeWork(4), work(number)) });
const ended = (...numbers: number[]) => ({
  ended: numbers.map((number) => ({ name: work(number), reason: 'new-cut' as const })),
});

function admitted(limits = {}) {
  const others = new OtherCoordinators({ ...coordinatorLimits, ...limits });
  expect(others.admits('a', 0)).toBe(true);
  return others;
}

describe('another coordinator is asked for its work', () => {
  const STATES: { what: string; more: Partial<CoordinatorState>; asks: boolean }[] = [
    { what: 'no work', more: {}, asks: false },
    { what: 'a known work', more: { work: work(1) }, asks: false },
    { what: 'an unknown work', more: { work: work(2) }, asks: true },
    { what: 'an unknown work that it gives', more: given(2), asks: false },
    { what: 'an unknown work, and the end of another one', more: { work: work(2), ...ended(1) }, asks: true },
    { what: 'an unknown work that has ended', more: { work: work(2), ...ended(2) }, asks: false },
    { what: 'an unknown work that has ended after others', more: { work: work(2), ...ended(1, 3, 2) }, asks: false },
  ];

  it.each(STATES)('if its state names it, and it is not known: $what', ({ more, asks }) => {
    const others = admitted();
    expect(others.take('a', state(0, given(1)), 0)).toBe(false);
    expect(others.take('a', state(1, more), 0)).toBe(asks);
  });

  it('again with each state until it is known, at a bounded rate', () => {
    const others = admitted({ helloBurst: 2, hellosPerSecond: 1 });
    let number = 0;
    const take = (nowMs: number) => others.take('a', state(number++, { work: work(1) }), nowMs);
    // A state that needs no request costs none of them.
    others.take('a', state(number++), 0);
    expect([0, 0, 0, 999, 1_000, 1_001].map(take)).toEqual([true, true, false, false, true, false]);
    others.take('a', state(number++, given(1)), 2_000);
    expect([5_000, 5_000].map(take)).toEqual([false, false]);
  });

  it('with one request for one state, whose answer makes the work known', async () => {
    const nats = new FakeNats();
    const coordinator = await Coordinator.start({ nats });
    const other = nats.link('c2');
    let asked = 0;
    other.subscribe(subjects.hellosTo('c2'), ({ reply = '' }) => {
      asked++;
      other.publish(reply, messageBytes(state(1, given(1))));
    });
    other.publish(subjects.beat('c2'), messageBytes(state(0, { work: work(1) })));
    await eventually(() => expect(asked).toBe(1));
    const rig = new TestRig(nats, 'rig');
    await rig.hello('c1');
    for (const number of [2, 3]) {
      other.publish(subjects.beat('c2'), messageBytes(state(number, { work: work(1) })));
      await rig.hello('c1');
    }
    expect(asked).toBe(1);
    await coordinator.end();
  });
});

it('a work of another coordinator can have a later creation time only once a state has named it as the current one', () => {
  const others = admitted();
  others.take('a', state(0, { ...given(1), work: null, latestTimeMicros: 5_000_000 }), 0);
  const at = (nowMs: number) => others.find('a', work(1))!.latestTimeUs(nowMs);
  expect(at(0)).toBe(0n);
  others.take('a', state(1, { work: work(1), latestTimeMicros: 7_000_000 }), 1_000);
  expect([at(1_000), at(1_001)]).toEqual([7_000_000n, 7_001_000n]);
  others.take('a', state(2, { work: null, latestTimeMicros: 9_000_000 }), 2_000);
  expect(at(2_000)).toBe(8_000_000n);
});

describe('the height of the coordinators that could take over', () => {
  const at = (number: number, height: bigint) => {
    const base = makeWork(4);
    const header = Uint8Array.from(base.header);
    new DataView(header.buffer).setBigUint64(HEADER_OFFSET.height, height, true);
    return { work: work(number), given: givenWorkOf({ ...base, header, height }, work(number)) };
  };

  it('is the greatest of those that are fit and not silent', () => {
    const others = new OtherCoordinators({ ...coordinatorLimits, coordinatorIdleMs: 1_000 });
    expect(others.heightOfFit(0)).toBeUndefined();
    const take = (name: string, each: CoordinatorState, nowMs: number) => {
      expect(others.admits(name, nowMs)).toBe(true);
      others.take(name, each, nowMs);
    };
    take('low', state(0, at(1, 5n)), 500);
    take('high', state(0, at(1, 9n)), 0);
    take('middle', state(0, at(1, 7n)), 0);
    expect([others.heightOfFit(999), others.heightOfFit(1_000), others.heightOfFit(1_500)]).toEqual([
      9n,
      5n,
      undefined,
    ]);
    expect([others.fitAbove(5n, 999), others.fitAbove(4n, 1_000)]).toEqual([['high', 'middle'], ['low']]);
    for (const [number, unfit] of [{ lost: 'no node' }, { fault: 'it lags' }, { work: null }].entries()) {
      take('high', state(1 + 2 * number, { work: work(1), ...unfit }), 900);
      expect([others.heightOfFit(900), others.fitAbove(7n, 900)]).toEqual([7n, []]);
      take('high', state(2 + 2 * number, { work: work(1) }), 900);
      expect(others.heightOfFit(900)).toBe(9n);
    }
  });
});

describe('a rig is counted', () => {
  it('at the coordinator whose work it solves, and not at the one that submits it in its place', async () => {
    const nats = new FakeNats();
    const submitElsewhere = async () => ({ outcome: 'accepted' as const, reason: '' });
    const issuer = await Coordinator.start({ nats, limits: { reportMs: 5 } });
    const other = await Coordinator.start({ nats, name: 'c2', submitElsewhere, limits: { reportMs: 5 } });
    const rig = new TestRig(nats, 'rig');
    const { work, name } = await issuer.work(makeWork(4, { until: 'solved' }));
    expect(await rig.fallback('c1', name, mine(work))).toMatchObject({ outcome: 'accepted' });
    const worker = ({ events }: Coordinator) =>
      events
        .of('relay')
        .at(-1)
        ?.workers.find((each) => each.name === 'rig');
    await eventually(() => expect(worker(other)).toMatchObject({ accepted: 1, blocks: 1, sessions: 0 }));
    expect(worker(issuer)).toBeUndefined();
    const own = await other.work();
    const message = solutionRequest('c2', own.name, mine(own.work));
    expect(await rig.request(subjects.solution('c2', 'rig'), message)).toMatchObject({ outcome: 'accepted' });
    await eventually(() => expect(worker(other)).toMatchObject({ accepted: 2, sessions: 1 }));
  });
});
