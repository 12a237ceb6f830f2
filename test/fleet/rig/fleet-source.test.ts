/** Which coordinator a rig mines for, what it mines while some are lost, and how it gets their messages again. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { messageBytes } from '#pickaxe/fleet/messages.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';
import { mine } from '../../miner/source/follow.ts';
import { FakeCoordinator, hexOf, pass, SUBJECTS, world } from './world.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('says what to check while no coordinator sends messages', async () => {
  const { link, told, kinds, coordinators } = world([]);
  expect(coordinators).toEqual([]);
  await pass(3_500);
  expect(told()).toEqual([
    'nats://fake:4222 lost: connected to nats://fake:4222, but no coordinator sends messages: is pickaxe coordinate running, with the same --nats-subject?',
  ]);
  link.disconnect('nats://fake:4222 refuses the credentials.');
  await pass(3_000);
  expect(told().at(-1)).toBe('nats://fake:4222 lost: nats://fake:4222 refuses the credentials.');
  expect(kinds()).toEqual(['lost']);
});

it('waits a moment for the coordinators, and prefers one by the names of both', async () => {
  const { nats, coordinators, mined } = world(['b', 'c', 'a']);
  for (const each of coordinators) each.give();
  await pass(1_000);
  expect(mined()).toBe('a');
  expect(new Set(nats.sent.filter(({ by }) => by === 'rig1').map(({ subject }) => subject))).toEqual(new Set());
});

it('spreads rigs over the coordinators, and moves only those whose coordinator is away', async () => {
  const chosen = async (rig: string, names: readonly string[]) => {
    const { coordinators, mined, follower } = world(names, {}, rig);
    for (const each of coordinators) each.give();
    await pass(1_000);
    const name = mined();
    await follower.end();
    return name;
  };
  const counts = new Map<string, number>();
  for (let i = 0; i < 30; i++) {
    const name = await chosen(`rig${i}`, ['one', 'two', 'three']);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (i < 10 && name !== 'three') expect(await chosen(`rig${i}`, ['one', 'two'])).toBe(name);
  }
  expect([...counts.keys()].sort()).toEqual(['one', 'three', 'two']);
  expect(Math.min(...counts.values())).toBeGreaterThan(4);
});

it('asks for a work that it has not received, once, after a random delay', async () => {
  const { coordinators, follower } = world(['a']);
  const [a] = coordinators;
  const work = a.give(makeWork(100), false);
  await pass(1_500);
  expect(a.hellos).toBe(1);
  expect(follower.received.map(hexOf)).toEqual([hexOf(work)]);
});

it('asks again after growing pauses while it gets no answer', async () => {
  const { coordinators, follower } = world(['a']);
  const [a] = coordinators;
  a.answersHello = false;
  a.give(makeWork(100), false);
  await pass(60_000);
  expect(a.hellos).toBeGreaterThan(4);
  expect(a.hellos).toBeLessThan(12);
  a.answersHello = true;
  await pass(12_000);
  expect(follower.received).toHaveLength(1);
});

it('passes on works, their ends and rests, each once', async () => {
  const { coordinators, follower, kinds } = world(['a']);
  const [a] = coordinators;
  const first = a.give();
  await pass(1_000);
  const second = a.give();
  await pass(10);
  a.end(second, 'new-cut');
  await pass(10);
  expect(kinds()).toEqual(['work', 'work', 'stale']);
  expect(follower.received.map(hexOf)).toEqual([first, second].map(hexOf));
  expect(follower.of('stale')[0]).toMatchObject({ reason: 'new-cut', works: [follower.received[1]] });
  a.end(first, 'expired');
  await pass(3_000);
  // The current work has ended already, so its lack is no news.
  expect(kinds()).toEqual(['work', 'work', 'stale', 'stale']);
  a.give();
  await pass(10);
  a.current = undefined;
  a.publish();
  await pass(3_000);
  expect(kinds().slice(4)).toEqual(['work', 'rest']);
});

it('ignores a state that a newer one has overtaken', async () => {
  const { coordinators, follower } = world(['a']);
  const [a] = coordinators;
  a.give();
  await pass(1_000);
  const old = a.state(true);
  const newer = a.give();
  await pass(10);
  a.link.publish(SUBJECTS.work('a'), messageBytes(old));
  await pass(10);
  expect(hexOf(follower.received.at(-1)!)).toBe(hexOf(newer));
  expect(follower.received).toHaveLength(2);
});

it('gets only the newest of the works that have come while the process could not run', async () => {
  const { coordinators, follower } = world(['a']);
  const [a] = coordinators;
  a.give();
  await pass(1_000);
  const works = Array.from({ length: 30 }, () => {
    const before = a.current?.work;
    if (before) a.end(before, 'new-cut');
    return a.give();
  });
  await pass(10);
  expect(follower.received.slice(1).map(hexOf)).toEqual(works.slice(-1).map(hexOf));
  expect(follower.of('stale')).toHaveLength(1);
});

it('takes over from a coordinator that is silent, within 5 s, and goes back to it', async () => {
  const { coordinators, mined, told, follower } = world(['a', 'c']);
  const [a, c] = coordinators;
  const first = a.give();
  c.give();
  await pass(1_000);
  expect(mined()).toBe('a');
  a.die();
  await pass(5_000);
  expect(mined()).toBe('c');
  expect(told()).toContain('a lost: has sent nothing for 2.5 s');
  expect(told()).toContain('c info: takes over from a');
  a.revive();
  a.give(first);
  await pass(10_000);
  expect(mined()).toBe('a');
  expect(follower.received.filter((work) => hexOf(work) === hexOf(first))).toHaveLength(2);
  expect(new Set(follower.received).size).toBe(2);
  expect(follower.of('lost')).toEqual([]);
});

it('leaves a coordinator that says that its own source is lost', async () => {
  const { coordinators, mined, told } = world(['a', 'c']);
  const [a, c] = coordinators;
  a.give();
  c.give();
  await pass(1_000);
  a.lost = 'its node is away';
  await pass(2_000);
  expect(mined()).toBe('c');
  expect(told()).toContain('a lost: its node is away');
  a.lost = null;
  await pass(10_000);
  expect(mined()).toBe('a');
});

it('leaves a coordinator that rejects three blocks in a row of works that live, and tries it again after 5 minutes', async () => {
  const { coordinators, mined, told, source, follower } = world(['a', 'c']);
  const [a, c] = coordinators;
  a.answer = () => ({ state: 'verdict', outcome: 'rejected', reason: 'its node refuses everything' });
  a.give();
  c.give();
  await pass(1_000);
  for (let i = 0; i < 3; i++) {
    expect(mined()).toBe('a');
    void source.submit(mine(follower.received.at(-1) as Work), follower.stop);
    await pass(100);
    a.give();
    await pass(3_000);
  }
  expect(mined()).toBe('c');
  const fault = 'refuses all solutions of its own work (“its node refuses everything”)';
  expect(told().some((line) => line.startsWith(`a unhealthy: ${fault}`))).toBe(true);
  await pass(300_000);
  expect(told()).toContain('a healthy: is tried again: it may accept solutions of its own work by now');
});

it('stays with a coordinator whose solutions another one refuses', async () => {
  const { coordinators, mined, told, source, follower } = world(['a', 'c']);
  const [a, c] = coordinators;
  a.answer = () => ({ state: 'refused', code: 'unknown-work', reason: 'it is busy' });
  c.answer = () => ({ state: 'verdict', outcome: 'rejected', reason: 'its key is in wrong hands' });
  a.leaveQueue();
  a.give();
  c.give();
  await pass(1_000);
  for (let i = 0; i < 12; i++) {
    void source.submit(mine(follower.received.at(-1) as Work), follower.stop);
    await pass(100);
    a.give();
    await pass(3_000);
  }
  expect(c.requests.length).toBeGreaterThanOrEqual(12);
  expect(mined()).toBe('a');
  expect(told().filter((line) => line.includes('unhealthy'))).toEqual([]);
});

it('mines nothing for a coordinator of another network than the one that the user has named', async () => {
  const isOther = new Set<string>();
  const network = {
    name: 'mainnet01',
    otherThan: (header: Uint8Array) => (isOther.has(hexOf({ header })) ? 'testnet04' : undefined),
  };
  const { coordinators, mined, told, follower } = world(['a', 'c'], {}, 'rig1', network);
  const [a, c] = coordinators;
  const work = makeWork(100);
  isOther.add(hexOf(work));
  a.give(work);
  await pass(1_000);
  c.give();
  await pass(3_000);
  expect(mined()).toBe('c');
  expect(follower.received.map(hexOf)).not.toContain(hexOf(work));
  expect(told()).toContain('a lost: gives work of another network (testnet04) than mainnet01');
  a.give();
  await pass(10_000);
  expect(mined()).toBe('a');
});

it('mines the works of a restarted coordinator, and still submits those from before', async () => {
  const { coordinators, follower, header } = world(['a']);
  const [a] = coordinators;
  a.give();
  await pass(1_000);
  const [old] = follower.received;
  Object.assign(a, { instance: 'f'.repeat(16), number: 0 });
  await pass(3_000);
  const work = a.give();
  await pass(10);
  expect(header()).toBe(hexOf(work));
  expect(follower.of('stale')).toEqual([]);
  expect(follower.received).toContain(old);
});

it('uses only one of two coordinators that have the same name, and reports it', async () => {
  const { nats, coordinators, follower, told } = world(['a']);
  const [a] = coordinators;
  a.give();
  await pass(1_000);
  const other = new FakeCoordinator(nats, 'a');
  other.give();
  await pass(10_000);
  expect(follower.received).toHaveLength(1);
  expect(told().filter((line) => line.includes('two coordinators'))).toHaveLength(3);
});

it('believes the newest word about the time: its own clock may be fast, and a node’s clock can be set back', async () => {
  const { coordinators, source, follower } = world(['a']);
  const [a] = coordinators;
  a.aheadMicros = 5_000_000;
  a.give();
  await pass(1_000);
  const [work] = follower.received;
  const first = source.latestTimeUs(work);
  expect(first).toBeGreaterThan(BigInt(Date.now() * 1000 + 3_900_000));
  for (let i = 0; i < 4; i++) {
    a.aheadMicros -= 1_000_000;
    await pass(1_000);
    expect(source.latestTimeUs(work)).toBeLessThanOrEqual(BigInt(Date.now() * 1000 + a.aheadMicros));
  }
  expect(source.latestTimeUs(work) - first).toBeLessThan(1_000_000n);
});

it('keeps the time of each work: another one can be of a node whose clock is behind', async () => {
  const { coordinators, source, follower } = world(['a']);
  const [a] = coordinators;
  a.give();
  await pass(1_000);
  a.aheadMicros = -30_000_000;
  a.give();
  await pass(1_000);
  const [first, second] = follower.received;
  const nowUs = BigInt(Date.now() * 1000);
  expect(nowUs - source.latestTimeUs(first)).toBeLessThan(1_000n);
  expect(nowUs - source.latestTimeUs(second)).toBeGreaterThanOrEqual(30_000_000n);
  // Without a current work, the coordinator's time is that of the last one.
  a.end(a.current!.work, 'new-cut');
  await pass(1_000);
  expect(nowUs - source.latestTimeUs(first)).toBeLessThan(1_000n);
});

it('follows a coordinator again, and its clock, after a message that was forged in its name', async () => {
  const { nats, coordinators, source, follower, header } = world(['a']);
  const [a] = coordinators;
  a.give();
  await pass(1_000);
  const forger = nats.link('forger', SUBJECTS.inbox('forger'));
  const most = Number.MAX_SAFE_INTEGER;
  const forge = (more: object) =>
    forger.publish(SUBJECTS.work('a'), messageBytes({ ...a.state(true), latestTimeMicros: most, ...more }));
  forge({ number: most });
  await pass(5_000);
  const work = a.give();
  await pass(1_000);
  expect(header()).toBe(hexOf(work));
  forge({});
  await pass(15_000);
  const next = a.give();
  await pass(1_000);
  expect(header()).toBe(hexOf(next));
  for (const each of follower.received) {
    expect(source.latestTimeUs(each)).toBeLessThanOrEqual(BigInt(Date.now() * 1000));
  }
});

it('mines on without a connection until the work is too old', async () => {
  const { link, coordinators, kinds, follower, told } = world(['a', 'c']);
  const [a, c] = coordinators;
  a.give();
  c.give();
  await pass(1_000);
  link.disconnect();
  await pass(290_000);
  expect(kinds()).toEqual(['work', 'lost']);
  expect(told()).toContain('nats://fake:4222 lost: nats://fake:4222 cannot be reached.');
  await pass(20_000);
  expect(follower.of('stale')).toMatchObject([{ reason: 'expired', works: [follower.received[0]] }]);
  link.reconnect();
  await pass(5_000);
  expect(kinds().at(-1)).toBe('work');
  expect(hexOf(follower.received.at(-1)!)).toBe(hexOf(a.current!.work));
});

it('leaves a server that passes on no state of a coordinator, less and less often', async () => {
  const { nats, link, coordinators } = world(['a', 'c']);
  for (const each of coordinators) each.give();
  await pass(60_000);
  expect(link.renewals).toBe(0);
  nats.delivers = (_, to) => to !== link;
  await pass(4_000);
  expect(link.renewals).toBe(0);
  await pass(3_000);
  expect(link.renewals).toBe(1);
  await pass(9_000);
  expect(link.renewals).toBe(1);
  await pass(600_000);
  expect(link.renewals).toBeGreaterThan(4);
  expect(link.renewals).toBeLessThan(9);
  nats.delivers = () => true;
  await pass(60_000);
  const renewals = link.renewals;
  nats.delivers = (_, to) => to !== link;
  await pass(8_000);
  expect(link.renewals).toBe(renewals + 1);
});

it('forgets coordinators that are gone, and uses no more than sixteen', async () => {
  const { nats, coordinators, told, mined } = world(['a']);
  coordinators[0].give();
  await pass(1_000);
  const more = Array.from({ length: 20 }, (_, i) => new FakeCoordinator(nats, `more${i}`));
  for (const each of more) each.publish();
  await pass(1_000);
  expect(told().filter((line) => line.includes('more than 16'))).toHaveLength(1);
  for (const each of more) each.die();
  await pass(601_000);
  const late = new FakeCoordinator(nats, 'late');
  coordinators[0].die();
  late.give();
  await pass(10_000);
  expect(mined()).toBe('late');
});

it('asks for new work after a suspension of the machine', async () => {
  const { coordinators, told } = world(['a']);
  const [a] = coordinators;
  a.give();
  await pass(1_000);
  expect(a.hellos).toBe(0);
  vi.setSystemTime(Date.now() + 400_000);
  await pass(1_000);
  expect(a.hellos).toBe(1);
  expect(told().some((line) => line.includes('suspended for 400 s'))).toBe(true);
});

it('leaves a coordinator that says that its work is worth nothing, and comes back when that is over', async () => {
  const { coordinators, mined, told } = world(['a', 'c']);
  const [a] = coordinators;
  for (const each of coordinators) each.give();
  await pass(2_000);
  expect(mined()).toBe('a');
  a.fault = 'its source stands still';
  await pass(4_000);
  expect(mined()).toBe('c');
  expect(told().join()).toContain('a unhealthy: says that its source stands still. It is mined on only while');
  a.fault = undefined;
  await pass(4_000);
  expect(mined()).toBe('a');
});

it('mines a work again whose coordinator it had closed meanwhile, unless a solution has ended this work', async () => {
  const { coordinators, mined, header, follower, source } = world(['a', 'c']);
  const [a, c] = coordinators;
  const works = [a.give(), c.give()].map(hexOf);
  await pass(2_000);
  for (const isSolved of [false, true]) {
    a.fault = 'its source stands still';
    await pass(4_000);
    expect([mined(), header()]).toEqual(['c', works[1]]);
    const work = follower.received.at(-1) as Work;
    if (isSolved) expect(await source.submit(mine(work), follower.stop)).toMatchObject({ outcome: 'accepted' });
    a.fault = undefined;
    await pass(12_000);
    expect([mined(), header()]).toEqual(['a', works[0]]);
    const reason = isSolved ? 'solved' : 'cancelled';
    expect(follower.of('stale').at(-1)).toMatchObject({ works: [work], reason });
  }
  a.fault = 'its source stands still';
  await pass(4_000);
  expect(mined()).toBe('a');
});

it('uses sixteen coordinators, and says once that there are more', async () => {
  const { coordinators, told } = world(Array.from({ length: 18 }, (_, i) => `c${i}`));
  await pass(60_000);
  for (const each of coordinators) each.give();
  await pass(60_000);
  const more = told().filter((line) => line.includes('further ones are not used'));
  expect(more).toEqual([expect.stringContaining('has more than 16 coordinators')]);
});
