/** Failover between sources of which some are unhealthy. */

import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { type FailoverOptions, FailoverSource } from '#pickaxe/miner/source/failover.js';
import type { Judge } from '#pickaxe/miner/source/source.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { Follower, mine } from './follow.ts';

const PATIENCE_MS = 2_000;
const READY_MS = 500;
const STILL = 'stands still';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Several sources, named `a`, `b`, … */
function setUp(count: number, options: Pick<FailoverOptions, 'isWatched'> = {}) {
  /** What each source reports its own health with. */
  const judges: Judge[] = [];
  const sources = Array.from({ length: count }, (_, i) =>
    Object.assign(new FakeSource(), {
      name: String.fromCharCode('a'.charCodeAt(0) + i),
      onHealth: (judge: Judge) => void judges.push(judge),
    }),
  );
  const recorder = new Recorder();
  const failover = new FailoverSource({
    sources,
    emit: recorder.listen,
    patienceMs: PATIENCE_MS,
    readyPatienceMs: READY_MS,
    probeMs: 1e9,
    clock: { ...systemClock, nowUs: () => 0n, monotonicMs: () => performance.now() },
    ...options,
  });
  const follower = new Follower(failover);
  onTestFinished(() => follower.end());
  const give = async (rank: number) => {
    const work = sources[rank].work(makeWork(100));
    await pass(0);
    return work;
  };
  /** The name of the source whose work is mined. */
  const mined = (): string | undefined => {
    const work = follower.received.at(-1);
    return work && failover.nameOf(work);
  };
  const told = () => recorder.of('source').map(({ source, state, reason }) => `${source} ${state}: ${reason}`);
  return { sources, judges, failover, follower, give, mined, told };
}

it('starts the next source when the first is unhealthy, mines on the first until then, and returns to it', async () => {
  const { sources, failover, give, mined, told } = setUp(2);
  await give(0);
  failover.judge(0, STILL);
  await give(0);
  expect(mined()).toBe('a');
  await pass(PATIENCE_MS);
  expect(sources[1].started).toBe(true);
  await give(1);
  expect(mined()).toBe('b');
  // The first gives work all the time, as a node that stands still does.
  await give(0);
  sources[0].stale();
  await give(0);
  await pass(60_000);
  expect(mined()).toBe('b');
  failover.judge(0, undefined);
  await pass(0);
  expect(mined()).toBe('a');
  expect(told()).toEqual([
    'a unhealthy: stands still. It is mined on only while no other node is better',
    'b info: takes over from a, which is unhealthy',
    'a healthy: is healthy again',
    'a info: takes over again from b',
  ]);
});

it('a single source checks its own health only if somebody else leaves it by its fault', async () => {
  expect(setUp(1).judges).toEqual([]);
  const { judges, failover, give, mined, told } = setUp(1, { isWatched: true });
  await give(0);
  judges[0]('refuses all');
  expect(failover.fault).toBe('a refuses all');
  await pass(60_000);
  expect(mined()).toBe('a');
  // A trial ends the fault, so that those who have left it send solutions again.
  judges[0](undefined, 'is tried again');
  expect(failover.fault).toBeUndefined();
  expect(told()).toEqual([
    'a unhealthy: refuses all. It is mined on all the same, because no other node is configured',
    'a healthy: is tried again',
  ]);
});

it('a source that both itself and others find unhealthy is healthy only when neither does', async () => {
  const { judges, failover, give, mined, told } = setUp(2);
  for (const rank of [0, 1]) await give(rank);
  judges[0]('refuses all');
  failover.judge(0, STILL);
  await pass(PATIENCE_MS);
  await give(1);
  expect(mined()).toBe('b');
  failover.judge(0, undefined);
  await pass(PATIENCE_MS);
  expect(mined()).toBe('b');
  judges[0](undefined, 'is tried again');
  await pass(0);
  expect(mined()).toBe('a');
  expect(told().filter((line) => line.startsWith('a '))).toEqual([
    'a unhealthy: refuses all. It is mined on only while no other node is better',
    'a unhealthy: refuses all, and stands still. It is mined on only while no other node is better',
    'a unhealthy: refuses all. It is mined on only while no other node is better',
    'a healthy: is tried again',
    'a info: takes over again from b',
  ]);
});

it('gives the newest work of a source that is healthy again, and none that became stale meanwhile', async () => {
  const { sources, failover, follower, give, mined } = setUp(2);
  await give(0);
  failover.judge(0, STILL);
  await pass(PATIENCE_MS);
  await give(1);
  sources[0].stale();
  await pass(0);
  failover.judge(0, undefined);
  await pass(0);
  // It has no work now.
  expect(mined()).toBe('b');
  const newest = await give(0);
  expect(follower.received.at(-1)?.header).toBe(newest.header);
});

it('submits solutions of the work of a source that is unhealthy now', async () => {
  const { sources, failover, follower, give, mined } = setUp(2);
  sources[0].latestUs = () => 111n;
  await give(0);
  const [work] = follower.received;
  failover.judge(0, STILL);
  await pass(PATIENCE_MS);
  await give(1);
  expect(mined()).toBe('b');
  expect(await failover.submit(mine(work), follower.stop)).toMatchObject({ outcome: 'accepted', by: 'a' });
  expect(sources[0].submitted).toHaveLength(1);
  expect(failover.latestTimeUs(work)).toBe(111n);
  expect(follower.of('stale')).toEqual([]);
});

it('takes a source that is ready soon, and the first healthy one', async () => {
  const { sources, failover, give, mined } = setUp(3);
  await pass(2 * PATIENCE_MS);
  for (const rank of [2, 1, 0]) await give(rank);
  expect(sources.every(({ started }) => started)).toBe(true);
  failover.judge(1, 'lags');
  failover.judge(0, STILL);
  await pass(READY_MS - 1);
  expect(mined()).toBe('a');
  await pass(1);
  expect(mined()).toBe('c');
});

it('stays with the preferred source when all are unhealthy, and takes the first that is healthy again', async () => {
  const { failover, give, mined, sources } = setUp(3);
  await pass(2 * PATIENCE_MS);
  for (const rank of [2, 1, 0]) await give(rank);
  for (const rank of [0, 1, 2]) failover.judge(rank, STILL);
  for (let i = 0; i < 5; i++) {
    for (const rank of [0, 1, 2]) await give(rank);
    await pass(PATIENCE_MS);
    expect(mined()).toBe('a');
  }
  failover.judge(2, undefined);
  await pass(READY_MS);
  expect(mined()).toBe('c');
  // Of several unhealthy sources the preferred one is mined on, as long as it gives work.
  failover.judge(2, 'lags');
  await pass(PATIENCE_MS);
  expect(mined()).toBe('a');
  sources[0].lost();
  await pass(PATIENCE_MS);
  expect(mined()).toBe('b');
});

it('mines on an unhealthy source while no other gives work', async () => {
  const { sources, failover, give, mined } = setUp(2);
  await give(0);
  failover.judge(0, STILL);
  await pass(60_000);
  expect(sources[1].started).toBe(true);
  await give(0);
  expect(mined()).toBe('a');
  await give(1);
  expect(mined()).toBe('b');
  // The pause between a solution and the next work is no reason to go back.
  sources[1].stale();
  await pass(PATIENCE_MS - 1);
  await give(0);
  expect(mined()).toBe('b');
  await pass(1);
  expect(mined()).toBe('a');
  await give(1);
  await pass(READY_MS);
  expect(mined()).toBe('b');
});

it('does not start an unhealthy source as long as the active one gives work', async () => {
  const { sources, failover, give, mined } = setUp(3);
  await give(0);
  failover.judge(1, 'lags');
  failover.judge(0, STILL);
  await pass(60_000);
  expect(sources.map(({ started }) => started)).toEqual([true, false, true]);
  failover.judge(2, 'lags');
  sources[0].lost();
  await pass(2 * PATIENCE_MS);
  expect(sources[1].started).toBe(true);
  await give(1);
  expect(mined()).toBe('b');
});

describe('a first source that drops its connection soon after it gave work', () => {
  const drop = async ({ sources }: ReturnType<typeof setUp>) => {
    sources[0].stale();
    sources[0].lost();
    await pass(READY_MS);
  };

  /** The second source takes over twice within a minute. */
  async function leftTwice() {
    const all = setUp(2);
    await all.give(0);
    await pass(PATIENCE_MS);
    all.sources[0].lost();
    await pass(PATIENCE_MS);
    await all.give(1);
    expect(all.mined()).toBe('b');
    await all.give(0);
    // After the first loss it is used again at once.
    expect(all.mined()).toBe('a');
    await drop(all);
    expect(all.mined()).toBe('b');
    return all;
  }

  it('again and again is left for good: little time is lost', async () => {
    const all = setUp(2);
    const { sources, give, follower, told } = all;
    await pass(PATIENCE_MS);
    await give(1);
    let idleMs = 0;
    for (let ms = 0; ms < 90_000; ms += 100) {
      if (ms % 3_000 === 0) await give(0);
      if (ms % 3_000 === 700) sources[0].stale();
      if (ms % 3_000 === 700) sources[0].lost();
      await pass(100);
      const current = follower.received.at(-1)!;
      if (follower.of('stale').some(({ works }) => works.includes(current))) idleMs += 100;
    }
    expect(told().filter((line) => line.includes('takes over')).length).toBeLessThan(10);
    expect(idleMs).toBeLessThan(0.03 * 90_000);
  });

  it('is used again when it has given work for five seconds', async () => {
    const { give, mined, told, sources } = await leftTwice();
    await give(0);
    await pass(4_000);
    // New Cuts are no losses.
    sources[0].stale();
    await give(0);
    await pass(999);
    expect(mined()).toBe('b');
    await pass(1);
    expect(mined()).toBe('a');
    expect(told().slice(-2)).toEqual([
      'b info: takes over from a, which must give work for 5 s before it is used again',
      'a info: takes over again from b',
    ]);
  });

  it('begins its five seconds anew when it is lost meanwhile', async () => {
    const { give, mined, sources } = await leftTwice();
    await give(0);
    await pass(4_000);
    sources[0].lost();
    await give(0);
    await pass(4_999);
    expect(mined()).toBe('b');
    await pass(1);
    expect(mined()).toBe('a');
  });

  it('waits twice as long each time, at most five minutes, and not at all once that is long ago', async () => {
    const all = await leftTwice();
    const { give, mined } = all;
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      await give(0);
      const beganMs = performance.now();
      while (mined() !== 'a') await pass(500);
      waits.push((performance.now() - beganMs) / 1_000);
      await pass(1_000);
      await drop(all);
      expect(mined()).toBe('b');
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
    await give(0);
    await pass(300_000);
    expect(mined()).toBe('a');
    await pass(60_000);
    await drop(all);
    expect(mined()).toBe('b');
    await give(0);
    expect(mined()).toBe('a');
  });

  it('takes over before its time is over when the second gives no work either', async () => {
    const { give, mined, sources } = await leftTwice();
    await give(0);
    await pass(1_000);
    sources[1].stale();
    await pass(READY_MS);
    expect(mined()).toBe('a');
  });

  it('leaves no timer behind', async () => {
    const { give, follower } = await leftTwice();
    await give(0);
    await follower.end();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a first source that is within reach and slower than the second to give new work', () => {
  /** For ten minutes: each cut takes the work of both, the second has new work at once and the first after 700 ms. */
  async function cutEach(everyMs: number) {
    const { sources, give, mined, follower } = setUp(2);
    await pass(PATIENCE_MS);
    await give(1);
    await give(0);
    const used = { a: 0, none: 0 };
    for (let ms = 0; ms < 600_000; ms += 100) {
      const since = ms % everyMs;
      if (since === 0) {
        sources[0].stale();
        sources[1].stale();
        await give(1);
      }
      if (since === 700) await give(0);
      await pass(100);
      const current = follower.received.at(-1);
      if (follower.of('stale').some(({ works }) => works.some((work) => work === current))) used.none += 100;
      else if (mined() === 'a') used.a += 100;
    }
    return { a: used.a / 600_000, none: used.none / 600_000 };
  }

  it('is used nearly all the time where new work is rare', async () => {
    const { a, none } = await cutEach(15_000);
    expect(a).toBeGreaterThan(0.9);
    expect(none).toBeLessThan(0.04);
  });

  it('is left for longer and longer where new work is frequent, so that little time is lost', async () => {
    const { none } = await cutEach(1_500);
    expect(none).toBeLessThan(0.03);
  });
});
