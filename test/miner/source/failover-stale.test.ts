/** Which works failover calls stale: those that were mined, and no others. The clock is the test's. */

import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import type { SourceUpdate } from '#pickaxe/miner/source/source.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const STANDBY_MS = 10_000;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Two sources: the first is mined on, and the second is open and has given work, too. */
async function setUp() {
  const [one, two] = ['one', 'two'].map((name) => Object.assign(new FakeSource(), { name }));
  const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => performance.now() };
  const times = { patienceMs: 500, readyPatienceMs: 500, standbyMs: STANDBY_MS };
  const recorder = new Recorder();
  const failover = new FailoverSource({ sources: [one, two], clock, emit: recorder.listen, ...times });
  const updates: SourceUpdate[] = [];
  const ending = new AbortController();
  const following = failover.follow((update) => updates.push(update), ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await following;
  });
  await pass(600);
  expect(two.started).toBe(true);
  const mined = one.work(makeWork(100));
  await pass(0);
  two.work(makeWork(100));
  await pass(0);
  expect(updates).toEqual([{ kind: 'work', work: mined }]);
  updates.length = 0;
  return { one, two, mined, failover, updates, recorder };
}

it.each<[what: string, act: (all: Awaited<ReturnType<typeof setUp>>) => void]>([
  ['has a New Cut', ({ two }) => two.stale()],
  ['rests', ({ two }) => two.rest()],
  ['is lost', ({ two }) => two.lost()],
  ['throws', ({ two }) => two.fail()],
  ['is left for good', ({ failover }) => failover.leave('two', 'works for another')],
  ['is no longer configured', ({ failover, one }) => failover.change([one])],
  ['is closed because it is not needed', () => {}],
])('nothing is told about the work of a source on standby that %s', async (_, act) => {
  const all = await setUp();
  act(all);
  await pass(STANDBY_MS);
  expect(all.updates).toEqual([]);
});

it('of works that end together, only those that were mined are told', async () => {
  const { one, two, mined, updates } = await setUp();
  const unmined = two.work(makeWork(100));
  one.stale(unmined, mined);
  await pass(0);
  expect(updates).toEqual([{ kind: 'stale', works: [mined], reason: 'new-cut' }]);
});

it('the work of a source that was mined on and is closed later is told', async () => {
  const { one, two, updates } = await setUp();
  one.lost();
  await pass(600);
  const [{ work }] = updates as { work: unknown }[];
  expect(updates).toEqual([{ kind: 'work', work }]);
  one.work(makeWork(100));
  await pass(STANDBY_MS);
  expect(two.ended).toBe(true);
  expect(updates.at(-1)).toEqual({ kind: 'stale', works: [work], reason: 'cancelled' });
});

it('a source on standby that is put first is mined on at once', async () => {
  const { one, two, failover, updates } = await setUp();
  failover.change([two, one]);
  expect(updates.map((update) => update.kind === 'work' && failover.nameOf(update.work))).toEqual(['two']);
});

it.each<[what: string, act: (all: Awaited<ReturnType<typeof setUp>>) => void]>([
  ['throws', ({ two }) => void two.fail()],
  ['is left for good', ({ failover }) => failover.leave('two', 'works for another')],
])('nothing is told of a source that is no longer configured and %s', async (_, act) => {
  const all = await setUp();
  const { one, failover, updates, recorder } = all;
  failover.change([one]);
  act(all);
  await pass(100);
  expect([updates, recorder.of('source')]).toEqual([[], []]);
});
