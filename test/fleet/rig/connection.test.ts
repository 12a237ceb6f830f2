/** What a rig does while its connection comes and goes, and by messages that are no news of a coordinator. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { messageBytes } from '#pickaxe/fleet/messages.js';
import { makeWork } from '../../fakes.ts';
import { pass, SUBJECTS, world } from './world.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const NO_STATE = new TextEncoder().encode('{"work":null}');
const NONE = 'but no coordinator sends messages';

describe('messages that tell nothing new of a coordinator', () => {
  it('make no coordinator known, however many come', async () => {
    const { nats, told, kinds } = world([]);
    const outsider = nats.link('outsider');
    for (let i = 0; i < 5; i++) {
      outsider.publish(SUBJECTS.work('b'), NO_STATE);
      outsider.publish(SUBJECTS.beat('b'), NO_STATE);
      await pass(1_000);
    }
    expect(kinds()).toEqual(['lost']);
    expect(told()).toEqual([expect.stringContaining(NONE)]);
  });

  it('of a known coordinator do not keep a rig at a server that passes on no states', async () => {
    const { nats, link, coordinators } = world(['a']);
    coordinators[0].give();
    await pass(1_000);
    coordinators[0].stopBeats();
    for (let i = 0; i < 6; i++) {
      nats.link('outsider').publish(SUBJECTS.beat('a'), NO_STATE);
      await pass(1_000);
    }
    expect(link.renewals).toBe(1);
  });

  it('do not keep it there either if they are states, but older ones than one that has come', async () => {
    const { nats, link, coordinators } = world(['a']);
    const [a] = coordinators;
    a.give();
    await pass(1_000);
    const old = messageBytes(a.state(true));
    a.stopBeats();
    a.publish();
    await pass(1_400);
    nats.link('outsider').publish(SUBJECTS.beat('a'), old);
    await pass(3_400);
    expect(link.renewals).toBe(0);
    await pass(500);
    expect(link.renewals).toBe(1);
  });
});

describe('a connection that ends and is made again', () => {
  it('is told once for each end', async () => {
    const { link, coordinators, told } = world(['a']);
    coordinators[0].give();
    await pass(1_000);
    for (let end = 1; end <= 2; end++) {
      link.disconnect();
      await pass(500);
      const ends = told().filter((line) => line.includes('the connection has ended, and another one is being made'));
      expect(ends).toHaveLength(end);
      link.reconnect();
      await pass(2_000);
    }
  });

  it('gives coordinators their time again before they are said to be away', async () => {
    const { nats, link, coordinators, told } = world(['a']);
    coordinators[0].give();
    await pass(1_000);
    for (let end = 0; end < 2; end++) {
      link.disconnect();
      await pass(6_000);
      nats.delivers = () => false;
      link.reconnect();
      const before = told().filter((line) => line.includes(NONE)).length;
      await pass(2_000);
      expect(told().filter((line) => line.includes(NONE))).toHaveLength(before);
      await pass(1_000);
      expect(told().filter((line) => line.includes(NONE))).toHaveLength(before + 1);
      nats.delivers = () => true;
      await pass(3_000);
    }
  });

  it('does not change which coordinator is preferred, whenever their last states came', async () => {
    const { link, coordinators, follower } = world(['a', 'c']);
    const [a, c] = coordinators;
    for (const each of coordinators) each.give();
    await pass(1_000);
    const { length } = follower.received;
    for (const each of coordinators) each.stopBeats();
    a.publish();
    await pass(400);
    c.publish();
    await pass(10);
    link.disconnect();
    // By now only the state of c is so new that c counts as present.
    await pass(4_900);
    link.reconnect();
    for (const each of coordinators) each.publish();
    await pass(0);
    expect(follower.received.slice(length).map(({ chain }) => chain)).toEqual([a.current?.work.chain]);
  });
});

it('a rig reports that all its coordinators are lost, and of an only one why it is lost', async () => {
  for (const [names, reason] of [
    [['a', 'c'], 'all its coordinators are lost'],
    [['a'], 'its only coordinator is lost: has sent nothing for 2.5 s'],
  ] as const) {
    const { coordinators, follower } = world(names);
    for (const each of coordinators) each.give();
    await pass(1_000);
    for (const each of coordinators) each.die();
    await pass(10_000);
    expect(follower.of('lost').map((lost) => lost.reason)).toEqual([reason]);
    await follower.end();
  }
});

describe('a rig that has only the name of a work', () => {
  it('asks after a random part of the delay', async () => {
    const { coordinators } = world(['a'], { gatherMs: 0, helloDelayMs: 1_000 });
    const [a] = coordinators;
    a.give(makeWork(100), false);
    await pass(10);
    await pass(480);
    expect(a.hellos).toBe(0);
    await pass(20);
    expect(a.hellos).toBe(1);
  });

  it('asks no more once the work has come by itself, and again for the next name', async () => {
    const { coordinators, follower } = world(['a']);
    const [a] = coordinators;
    a.answersHello = false;
    const work = a.give(makeWork(100), false);
    await pass(1_000);
    expect(a.hellos).toBe(1);
    a.give(work);
    await pass(20_000);
    expect(follower.received).toHaveLength(1);
    expect(a.hellos).toBe(1);
    a.answersHello = true;
    a.give(makeWork(100), false);
    await pass(20_000);
    expect(follower.received).toHaveLength(2);
    expect(a.hellos).toBe(2);
  });

  it('ends when it is told to, though nobody answers', async () => {
    const { coordinators, follower } = world(['a']);
    const [a] = coordinators;
    a.answersHello = false;
    a.give(makeWork(100), false);
    await pass(3_000);
    await follower.end();
    const { hellos } = a;
    await pass(60_000);
    expect(a.hellos).toBe(hellos);
  });
});

it('the 400 states of a coordinator that come at once are read, and not one more', async () => {
  const { nats, coordinators, follower, told } = world(['a']);
  const [a] = coordinators;
  a.give();
  await pass(1_000);
  a.stopBeats();
  await pass(10_000);
  const { length } = follower.received;
  for (let i = 0; i < 399; i++) nats.link('outsider').publish(SUBJECTS.beat('a'), NO_STATE);
  a.give();
  await pass(0);
  expect(told().filter((line) => line.includes('messages a second'))).toEqual([]);
  expect(follower.received).toHaveLength(length + 1);
  a.give();
  await pass(0);
  expect(told().filter((line) => line.includes('messages a second'))).toHaveLength(1);
  expect(follower.received).toHaveLength(length + 1);
});

it.each([
  [1_499, 1],
  [1_500, 2],
])(
  'a coordinator that restarts is believed once the old one was silent for 1.5 s: after %i ms %i works',
  async (ms, count) => {
    const { coordinators, follower } = world(['a']);
    const [a] = coordinators;
    a.give();
    await pass(1_000);
    a.stopBeats();
    a.publish();
    await pass(ms);
    Object.assign(a, { instance: 'f'.repeat(16), number: 0 });
    a.give();
    await pass(10);
    expect(follower.received).toHaveLength(count);
  },
);
