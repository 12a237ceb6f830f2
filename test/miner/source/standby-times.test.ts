/** When failover closes what it does not need, and whom it makes wait. The clock is the test's. */

import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { FakeSource, makeWork } from '../../fakes.ts';
import { Follower } from './follow.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const PATIENCE_MS = 500;
const STANDBY_MS = 10_000;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function setUp() {
  const sources = ['one', 'two'].map((name) => Object.assign(new FakeSource(), { name }));
  const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => performance.now() };
  const times = { patienceMs: PATIENCE_MS, readyPatienceMs: PATIENCE_MS, standbyMs: STANDBY_MS };
  const failover = new FailoverSource({ sources, clock, ...times });
  const follower = new Follower(failover);
  onTestFinished(() => follower.end());
  const [one, two] = sources;
  const mined = () => {
    const work = follower.received.at(-1);
    return work && failover.nameOf(work);
  };
  return { one, two, mined };
}

/** The first source was lost, the second took over, and the first is back. */
async function returned(afterMs = 0) {
  const made = setUp();
  const { one, two } = made;
  one.work(makeWork(100));
  await pass(100);
  one.lost();
  await pass(PATIENCE_MS + 100);
  two.work(makeWork(100));
  await pass(100);
  expect(made.mined()).toBe('two');
  await pass(afterMs);
  one.work(makeWork(100));
  await pass(100);
  expect(made.mined()).toBe('one');
  return made;
}

it('a source that is not needed is closed after ten seconds, however often the other one gives work', async () => {
  const { one, two } = await returned();
  for (let second = 0; second < 9; second++) {
    one.work(makeWork(100));
    await pass(1_000);
  }
  expect(two.ended).toBe(false);
  one.work(makeWork(100));
  await pass(1_000);
  expect(two.ended).toBe(true);
});

it('ten seconds count from when the preferred source gives work again, not from when the other one was started', async () => {
  const { one, two } = setUp();
  one.work(makeWork(100));
  await pass(100);
  one.lost();
  await pass(8_000);
  expect(two.started).toBe(true);
  one.work(makeWork(100));
  await pass(9_000);
  expect(two.ended).toBe(false);
  await pass(1_100);
  expect(two.ended).toBe(true);
});

it('a source that is lost a second time within a minute must give work for five seconds, not for none', async () => {
  const { one, mined } = await returned(6_000);
  await pass(6_000);
  one.lost();
  await pass(PATIENCE_MS + 100);
  expect(mined()).toBe('two');
  one.work(makeWork(100));
  await pass(4_900);
  expect(mined()).toBe('two');
  await pass(200);
  expect(mined()).toBe('one');
});

it('ten seconds count anew from each return of the preferred source', async () => {
  const { one, two, mined } = setUp();
  one.work(makeWork(100));
  await pass(100);
  one.lost();
  await pass(PATIENCE_MS + 100);
  expect(two.started).toBe(true);
  // The ten seconds begin, and do not end.
  one.work(makeWork(100));
  await pass(8_000);
  one.lost();
  two.work(makeWork(100));
  await pass(PATIENCE_MS + 100);
  expect(mined()).toBe('two');
  one.work(makeWork(100));
  await pass(9_900);
  expect([mined(), two.ended]).toEqual(['one', false]);
  await pass(200);
  expect(two.ended).toBe(true);
});
