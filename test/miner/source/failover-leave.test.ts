import { expect, onTestFinished, test } from 'vitest';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { eventually, Follower, mine } from './follow.ts';

const REASON = 'works for another';

function setUp(...names: string[]) {
  const sources = names.map((name) => Object.assign(new FakeSource(), { name }));
  const recorder = new Recorder();
  const failover = new FailoverSource({ sources, emit: recorder.listen, patienceMs: 1e9, readyPatienceMs: 1e9 });
  return { sources, failover, recorder };
}

function follow(source: FailoverSource): Follower {
  const follower = new Follower(source);
  onTestFinished(() => follower.end());
  return follower;
}

const lost = (source: string) => ({ type: 'source', source, kind: 'node', state: 'lost', reason: REASON });

test('the only source that is left ends, its work is stale, it counts as lost once, and gets no solution', async () => {
  const { sources, failover, recorder } = setUp('one');
  const [one] = sources;
  const follower = follow(failover);
  const work = one.work(makeWork(100));
  await follower.work();
  expect(failover.hasLeft(one)).toBe(false);
  for (const reason of [REASON, 'once more']) failover.leave('one', reason);
  await eventually(() =>
    expect(follower.updates.slice(1)).toEqual([
      { kind: 'stale', works: [work], reason: 'cancelled' },
      { kind: 'lost', reason: REASON },
    ]),
  );
  await eventually(() => expect(one.ended).toBe(true));
  expect(failover.hasLeft(one)).toBe(true);
  const verdict = await failover.submit(mine(work), follower.stop);
  expect(verdict).toEqual({ by: 'one', outcome: 'stale', reason: `not sent: one ${REASON}` });
  expect(one.submitted).toEqual([]);
  expect(recorder.all).toEqual([lost('one')]);
});

test('the next source takes over at once from one that is left, and solutions of its own work are sent', async () => {
  const { sources, failover, recorder } = setUp('one', 'two');
  const [one, two] = sources;
  const follower = follow(failover);
  const first = one.work(makeWork(100));
  expect(await follower.work()).toBe(first);
  const second = two.work(makeWork(100));
  failover.leave('one', REASON);
  await eventually(() => expect(follower.received.at(-1)).toBe(second));
  expect(recorder.of('source')).toMatchObject([lost('one'), { source: 'two', state: 'info' }]);
  expect(await failover.submit(mine(first), follower.stop)).toMatchObject({ by: 'one', outcome: 'stale' });
  expect(await failover.submit(mine(second), follower.stop)).toMatchObject({ by: 'two', outcome: 'accepted' });
  expect([one.submitted.length, two.submitted.length]).toEqual([0, 1]);
});

test('a source that is left is judged no more, and stays left when the sources change', async () => {
  const { sources, failover, recorder } = setUp('one', 'two');
  const [one, two] = sources;
  failover.leave('one', REASON);
  const follower = follow(failover);
  const work = two.work(makeWork(100));
  expect(await follower.work()).toBe(work);
  // The other one is not lost.
  expect(follower.of('lost')).toEqual([]);
  for (const fault of ['stands still', undefined]) failover.judge(0, fault);
  failover.change([two, one]);
  failover.leave('two', REASON);
  await eventually(() => expect(follower.of('lost')).toEqual([{ kind: 'lost', reason: REASON }]));
  expect(one.started).toBe(false);
  expect(recorder.of('source').filter(({ state }) => state !== 'info')).toEqual([lost('one'), lost('two')]);
});

test('a source that was left before it was started is never started', async () => {
  const { sources, failover } = setUp('one');
  failover.leave('one', REASON);
  const follower = follow(failover);
  await eventually(() => expect(follower.updates).toEqual([{ kind: 'lost', reason: REASON }]));
  expect(sources[0].started).toBe(false);
});

test('sources that were all left before they were started are reported as lost once, with the reason of the first', async () => {
  const { sources, failover } = setUp('one', 'two');
  failover.leave('two', 'was left before');
  failover.leave('one', REASON);
  const follower = follow(failover);
  await eventually(() => expect(follower.updates).toEqual([{ kind: 'lost', reason: REASON }]));
  await follower.end();
  expect(follower.updates).toHaveLength(1);
  expect(sources.map(({ started }) => started)).toEqual([false, false]);
});

test('mining goes on without work when the last source throws after the other was left', async () => {
  const { sources, failover } = setUp('one', 'two');
  const follower = follow(failover);
  failover.leave('one', REASON);
  sources[1].fail();
  await eventually(() => expect(follower.of('lost')).toHaveLength(1));
  // Nothing is thrown: `follower.end` would throw it.
  await follower.end();
});
