import { expect, onTestFinished, test } from 'vitest';
import { RevocableSource } from '#pickaxe/miner/source/shared-source.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { eventually, Follower, mine } from './follow.ts';

function setUp() {
  const inner = new FakeSource();
  const recorder = new Recorder();
  const source = new RevocableSource(inner, recorder.listen);
  return { inner, source, recorder };
}

function follow(source: RevocableSource): Follower {
  const follower = new Follower(source);
  onTestFinished(() => follower.end());
  return follower;
}

test('a source is used as it is until it is revoked', async () => {
  const { inner, source, recorder } = setUp();
  const follower = follow(source);
  const work = inner.work(makeWork(100));
  expect(await follower.work()).toBe(work);
  expect(await source.submit(mine(work), follower.stop)).toMatchObject({ outcome: 'accepted' });
  inner.latestUs = () => 7n;
  expect(source.latestTimeUs(work)).toBe(7n);
  expect(source).toMatchObject({ name: 'fake source', kind: 'node', isRevoked: false, answers: undefined });
  expect(recorder.all).toEqual([]);
});

test('a revoked source ends, its work is stale, it is told as lost once, and no solution is sent to it', async () => {
  const { inner, source, recorder } = setUp();
  const follower = follow(source);
  const work = inner.work(makeWork(100));
  await follower.work();
  for (const reason of ['works for another', 'once more']) source.revoke(reason);
  await eventually(() =>
    expect(follower.updates.slice(1)).toEqual([
      { kind: 'stale', works: [work], reason: 'cancelled' },
      { kind: 'lost', reason: 'works for another' },
    ]),
  );
  expect(inner.ended).toBe(true);
  expect(source.isRevoked).toBe(true);
  const verdict = await source.submit(mine(work), follower.stop);
  expect(verdict).toEqual({ outcome: 'stale', reason: 'not sent: fake source works for another' });
  expect(inner.submitted).toEqual([]);
  expect(recorder.all).toEqual([
    { type: 'source', source: 'fake source', kind: 'node', state: 'lost', reason: 'works for another' },
  ]);
});

test('a source that was revoked before it was started is never started', async () => {
  const { inner, source } = setUp();
  source.revoke('works for another');
  const follower = follow(source);
  await eventually(() => expect(follower.updates).toEqual([{ kind: 'lost', reason: 'works for another' }]));
  expect(inner.started).toBe(false);
});
