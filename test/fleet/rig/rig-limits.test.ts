/** When exactly a rig does what it does after a time, and how much it lets others cause, with the limits that ship. */

import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { messageBytes, type SolutionAnswer } from '#pickaxe/fleet/messages.js';
import { makeWork } from '../../fakes.ts';
import { mine } from '../../miner/source/follow.ts';
import { FakeCoordinator, pass, SUBJECTS, timesOf, type World, world } from './world.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A random number that makes random times as long as they can be, less a millisecond. */
const LONGEST = 0.999_999_999;
const longest = (...names: string[]) => world(names, {}, 'rig1', undefined, LONGEST);
const NO_STATE = new TextEncoder().encode('{"work":null}');
const noted = ({ told }: World, text: string) => told().filter((line) => line.includes(text)).length;

/** A signal that fires when `stop` is called, for any number of solutions. */
function stopping() {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

it('mines 300 ms after the first state', async () => {
  const { coordinators, follower } = world(['a']);
  coordinators[0].give();
  await pass(299);
  expect(follower.received).toEqual([]);
  await pass(1);
  expect(follower.received).toHaveLength(1);
});

it.each([
  ['looks just then', 2_999, 3_000],
  // Each look is 1 ms after its timer.
  ['looks each 250 ms', 250, 3_001],
])('a rig that %s reports that there is no coordinator after 3 s', async (_, lookMs, afterMs) => {
  const { told } = world([], { lookMs });
  await pass(afterMs - 1);
  expect(told()).toEqual([]);
  await pass(1);
  expect(told()).toHaveLength(1);
});

it('asks for a work after up to 200 ms, and again 2 s and a pause of up to 10 s later', async () => {
  const made = longest('a');
  const [a] = made.coordinators;
  a.answersHello = false;
  a.give(makeWork(100), false);
  await pass(300);
  const times = timesOf(made, SUBJECTS.hellosTo('a'));
  await pass(60_000);
  const pauses = times.map((ms, i) => ms - (times[i - 1] ?? 0));
  expect(pauses).toEqual([199, 2_499, 2_999, 3_999, 5_999, 9_999, 11_999, 11_999]);
});

describe('a solution', () => {
  const taken: SolutionAnswer = { state: 'verdict', outcome: 'accepted', reason: '' };

  async function mining(...names: string[]) {
    const made = longest(...names);
    for (const each of made.coordinators) each.give();
    await pass(1_000);
    const stop = stopping();
    const outcomes: string[] = [];
    const solution = mine(made.follower.received[0]);
    const send = () => void made.source.submit(solution, stop.signal).then(({ outcome }) => outcomes.push(outcome));
    return { ...made, made, stop, outcomes, send };
  }

  it('waits for 5 s for an answer, and is sent again after a pause of up to 2 s', async () => {
    const { made, coordinators, send, stop } = await mining('a', 'c');
    for (const each of coordinators) each.answer = () => undefined;
    const toIssuer = timesOf(made, SUBJECTS.solutionsTo('a'));
    const toOther = timesOf(made, SUBJECTS.solutionsTo('c'));
    send();
    await pass(50_000);
    expect(toIssuer).toEqual([0, 5_099, 15_697, 21_496, 35_094, 42_093]);
    expect(toOther).toEqual([10_298, 28_095, 49_092]);
    stop.abort();
    await pass(5_000);
  });

  it('ends its work after 1 s without an answer', async () => {
    const { coordinators, send, follower, stop } = await mining('a');
    coordinators[0].answer = () => undefined;
    send();
    await pass(999);
    expect(follower.of('stale')).toEqual([]);
    await pass(1);
    expect(follower.of('stale')).toHaveLength(1);
    stop.abort();
    await pass(5_000);
  });

  it('is given up 5 s after the miner has stopped', async () => {
    const { coordinators, send, stop, outcomes } = await mining('a');
    coordinators[0].answer = () => undefined;
    send();
    await pass(100);
    stop.abort();
    await pass(4_999);
    expect(outcomes).toEqual([]);
    await pass(1);
    expect(outcomes).toEqual(['unknown']);
  });

  it('is sent again 3 s after a coordinator has got too many', async () => {
    const { made, coordinators, send } = await mining('a', 'c');
    const [a] = coordinators;
    a.answer = () => (a.requests.length < 3 ? { state: 'refused', code: 'too-many', reason: '' } : taken);
    const times = timesOf(made, SUBJECTS.solutionsTo('a'));
    send();
    await pass(10_000);
    expect(times).toEqual([0, 3_000, 6_000]);
  });

  it('is asked for again each 250 ms while it is pending', async () => {
    const { made, coordinators, send } = await mining('a', 'c');
    const [a] = coordinators;
    a.answer = () => (a.requests.length < 3 ? { state: 'pending' } : taken);
    const times = timesOf(made, SUBJECTS.solutionsTo('a'));
    send();
    await pass(2_000);
    expect(times).toEqual([0, 250, 500]);
  });

  it('is asked for at another coordinator for 5 s while that one says that it is pending', async () => {
    const { made, coordinators, send, stop } = await mining('a', 'c');
    const [a, c] = coordinators;
    a.answer = () => ({ state: 'refused', code: 'unknown-work', reason: '' });
    c.answer = () => ({ state: 'pending' });
    const toIssuer = timesOf(made, SUBJECTS.solutionsTo('a'));
    const toOther = timesOf(made, SUBJECTS.solutionsTo('c'));
    send();
    await pass(5_500);
    expect(toIssuer).toEqual([0, 5_298]);
    expect(toOther).toEqual(Array.from({ length: 20 }, (_, i) => 99 + 250 * i));
    stop.abort();
    await pass(5_000);
  });

  it('is no longer waited for 1.5 s after a new connection on which its coordinator is not to be found', async () => {
    const { made, link, coordinators, send } = await mining('a', 'c');
    const [a] = coordinators;
    a.answer = () => undefined;
    send();
    await pass(100);
    link.disconnect();
    a.freeze();
    a.leaveQueue();
    await pass(4_000);
    link.reconnect();
    const toIssuer = timesOf(made, SUBJECTS.solutionsTo('a'));
    const toOther = timesOf(made, SUBJECTS.solutionsTo('c'));
    await pass(10_000);
    expect(toIssuer).toEqual([0]);
    expect(toOther).toEqual([3_499]);
  });

  it('is not sent while 512 others wait', async () => {
    const { coordinators, send, outcomes } = await mining('a');
    const [a] = coordinators;
    a.answer = () => ({ state: 'pending' });
    for (let i = 0; i < 512; i++) send();
    await pass(0);
    expect(outcomes).toEqual([]);
    send();
    await pass(0);
    expect(outcomes).toEqual(['stale']);
    a.answer = () => taken;
    await pass(250);
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(512);
  });

  it('that is a lost block is logged, but at most 20 are', async () => {
    const { made, coordinators, send, stop, outcomes } = await mining('a');
    coordinators[0].answer = () => ({ state: 'refused', code: 'unknown-work', reason: '' });
    for (let i = 0; i < 22; i++) send();
    stop.abort();
    await pass(5_000);
    expect(outcomes).toHaveLength(22);
    expect(noted(made, 'is lost, because no coordinator has taken it')).toBe(20);
  });

  it('that is refused makes a coordinator unhealthy 5 s after the first at the earliest, for 5 minutes', async () => {
    const { made, coordinators, send } = await mining('a', 'c');
    coordinators[0].answer = () => ({ state: 'verdict', outcome: 'rejected', reason: 'no' });
    const isUnhealthy = () => noted(made, 'a unhealthy') > 0;
    send();
    send();
    await pass(4_999);
    send();
    await pass(0);
    expect(isUnhealthy()).toBe(false);
    await pass(1);
    send();
    await pass(0);
    expect(isUnhealthy()).toBe(true);
    await pass(299_998);
    expect(noted(made, 'a healthy')).toBe(0);
    await pass(1);
    expect(noted(made, 'a healthy: is tried again')).toBe(1);
  });
});

it('ends a work 300 s after the last state that names it', async () => {
  const { coordinators, follower } = world(['a']);
  const [a] = coordinators;
  a.give();
  // When the rig looks: each 250 ms from the choice of a coordinator on, and 1 ms after the timer.
  await pass(1_051);
  a.stopBeats();
  a.publish();
  await pass(299_999);
  expect(follower.of('stale')).toEqual([]);
  await pass(1);
  expect(follower.of('stale')).toMatchObject([{ reason: 'expired' }]);
  await pass(10_000);
  expect(follower.of('stale')).toHaveLength(1);
});

describe('a server that passes on no state for 5 s', () => {
  /** A rig whose last state comes when it looks. */
  async function idle() {
    const made = longest('a');
    const [a] = made.coordinators;
    a.stopBeats();
    a.give();
    await pass(1_001);
    a.publish();
    await pass(0);
    return { ...made, a };
  }

  it('is left, and the next ones after 20 s, 40 s and so on up to 600 s', async () => {
    const { link } = await idle();
    await pass(4_999);
    expect(link.renewals).toBe(0);
    await pass(1);
    for (const [i, seconds] of [20, 40, 80, 160, 320, 600].entries()) {
      await pass(seconds * 1_000 - 1);
      expect(link.renewals).toBe(i + 1);
      await pass(1);
      expect(link.renewals).toBe(i + 2);
    }
  });

  it('is left only 10 s after the one before it, if a state has come since', async () => {
    const { link, a } = await idle();
    await pass(6_000);
    a.publish();
    await pass(8_999);
    expect(link.renewals).toBe(1);
    await pass(1);
    expect(link.renewals).toBe(2);
    // The pauses grow from their beginning again.
    await pass(19_999);
    expect(link.renewals).toBe(2);
    await pass(1);
    expect(link.renewals).toBe(3);
  });
});

describe('log lines', () => {
  it.each([
    [599_999, 3],
    [600_001, 4],
  ])('that a coordinator causes: three at once, and after %i ms altogether %i', async (ms, lines) => {
    const made = world(['a']);
    const [a] = made.coordinators;
    a.give();
    await pass(1_000);
    const other = () =>
      a.link.publish(SUBJECTS.beat('a'), messageBytes({ ...a.state(false), instance: 'f'.repeat(16) }));
    const causes = async () => {
      for (let i = 0; i < 5; i++) other();
      await pass(0);
    };
    await causes();
    expect(noted(made, 'is the name of two coordinators')).toBe(3);
    await pass(ms);
    await causes();
    expect(noted(made, 'is the name of two coordinators')).toBe(lines);
  });

  it.each([
    [599_998, 5],
    [600_001, 6],
  ])('of connections that have ended: five at once, and after %i ms altogether %i', async (ms, lines) => {
    const made = world([]);
    const end = async () => {
      made.link.disconnect();
      made.link.reconnect();
      await pass(0);
    };
    for (let i = 0; i < 7; i++) await end();
    expect(noted(made, 'the connection has ended')).toBe(5);
    await pass(ms);
    await end();
    expect(noted(made, 'the connection has ended')).toBe(lines);
  });
});

describe('senders that are no coordinators', () => {
  it.each([
    [63, 0, 1],
    [64, 0, 0],
    [64, 124, 0],
    [64, 125, 1],
  ])('of %i such messages and after %i ms, %i coordinators are found', async (messages, ms, found) => {
    const { nats, follower } = world([]);
    const outsider = nats.link('outsider');
    for (let i = 0; i < messages; i++) outsider.publish(SUBJECTS.beat(`stranger${i}`), NO_STATE);
    await pass(ms);
    const a = new FakeCoordinator(nats, 'a');
    a.give();
    a.stopBeats();
    await pass(400);
    expect(follower.received).toHaveLength(found);
  });
});

it('a coordinator that is followed by the way is left 10 s after the preferred one is back', async () => {
  const { nats, link, coordinators, mined } = world(['a', 'c']);
  const [a, c] = coordinators;
  const work = a.give();
  c.give();
  await pass(1_000);
  a.die();
  await pass(5_000);
  expect(mined()).toBe('c');
  a.revive();
  a.give(work);
  await pass(0);
  expect(mined()).toBe('a');
  let received = 0;
  nats.delivers = ({ subject }, to) => {
    if (to === link && subject === SUBJECTS.work('c')) received++;
    return true;
  };
  await pass(9_999);
  c.give();
  await pass(0);
  expect(received).toBe(1);
  await pass(1);
  c.give();
  await pass(0);
  expect(received).toBe(1);
});
