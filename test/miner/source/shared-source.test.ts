import { describe, expect, it } from 'vitest';
import { SharedSource, updatesOf } from '#pickaxe/miner/source/following.js';
import type { Judge, SourceUpdate } from '#pickaxe/miner/source/source.js';
import { FakeSource, makeWork } from '../../fakes.ts';
import { isSettled } from '../../turns.ts';
import { eventually, Follower, mine } from './follow.ts';

const stop = new AbortController().signal;

function share() {
  const source = new FakeSource();
  return { source, shared: new SharedSource(source) };
}

describe('SharedSource', () => {
  it('gives every consumer all updates', async () => {
    const { source, shared } = share();
    const followers = [new Follower(shared), new Follower(shared)];
    const first = source.work(makeWork(100));
    await eventually(() => expect(followers.every(({ received }) => received.includes(first))).toBe(true));
    source.stale(first);
    const second = source.work(makeWork(100));
    source.lost();
    for (const follower of followers) {
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      expect(follower.received).toEqual([first, second]);
      expect(follower.of('stale')).toMatchObject([{ works: [first] }]);
    }
    for (const follower of followers) await follower.end();
    await shared.close();
  });

  it('tells one that comes later what holds now', async () => {
    const { source, shared } = share();
    const early = new Follower(shared);
    const work = source.work(makeWork(100));
    source.lost();
    await eventually(() => expect(early.of('lost')).toHaveLength(1));
    const late = new Follower(shared);
    expect(await late.work()).toBe(work);
    await eventually(() => expect(late.of('lost')).toHaveLength(1));
    source.stale(work);
    await eventually(() => expect(early.of('stale')).toHaveLength(1));
    const last = new Follower(shared);
    await eventually(() => expect(last.of('lost')).toHaveLength(1));
    expect(last.received).toHaveLength(0);
    for (const follower of [early, late, last]) await follower.end();
    await shared.close();
  });

  it('gives no work to one that comes during a rest', async () => {
    const { source, shared } = share();
    const early = new Follower(shared);
    source.work(makeWork(100));
    source.rest();
    await eventually(() => expect(early.of('rest')).toHaveLength(1));
    const late = new Follower(shared);
    const next = source.work(makeWork(100));
    expect(await late.work()).toBe(next);
    expect(late.received).toEqual([next]);
    for (const follower of [early, late]) await follower.end();
    await shared.close();
  });

  it('goes on when one consumer ends', async () => {
    const { source, shared } = share();
    const [one, other] = [new Follower(shared), new Follower(shared)];
    source.work(makeWork(100));
    await one.work();
    await one.end();
    const next = source.work(makeWork(100));
    await eventually(() => expect(other.received.at(-1)).toBe(next));
    await other.end();
    await shared.close();
  });

  it('keeps a consumer until its stop, even if the source ends by itself', async () => {
    const { source, shared } = share();
    source.follow = async () => {};
    const ending = new AbortController();
    const following = shared.follow(() => {}, ending.signal);
    expect(await isSettled(following)).toBe(false);
    ending.abort();
    await following;
    await shared.close();
  });

  it('says nothing more to a consumer that has stopped', async () => {
    const { source, shared } = share();
    const ending = new AbortController();
    const updates: SourceUpdate[] = [];
    const following = shared.follow((update) => updates.push(update), ending.signal);
    const other = new Follower(shared);
    source.work(makeWork(100));
    await other.work();
    ending.abort();
    await following;
    source.rest();
    await eventually(() => expect(other.of('rest')).toHaveLength(1));
    expect(updates.map(({ kind }) => kind)).toEqual(['work']);
    await other.end();
    await shared.close();
  });

  it('is within reach again for one that comes after new work', async () => {
    const { source, shared } = share();
    const early = new Follower(shared);
    source.lost();
    const work = source.work(makeWork(100));
    await early.work();
    const updates: SourceUpdate[] = [];
    const ending = new AbortController();
    const following = shared.follow((update) => updates.push(update), ending.signal);
    // Works of others that become stale do not concern the present one.
    source.stale('new-cut', makeWork(100));
    await eventually(() => expect(early.of('stale')).toHaveLength(1));
    const late = new Follower(shared);
    expect(await late.work()).toBe(work);
    expect(updates.map(({ kind }) => kind)).toEqual(['work', 'stale']);
    ending.abort();
    await following;
    for (const follower of [early, late]) await follower.end();
    await shared.close();
  });

  it('passes on the health of its source', async () => {
    const judges: Judge[] = [];
    const shared = new SharedSource(
      Object.assign(new FakeSource(), { onHealth: (judge: Judge) => judges.push(judge) }),
    );
    const judge = () => {};
    shared.onHealth(judge);
    expect(judges).toEqual([judge]);
  });

  it('is closed once all submissions have settled', async () => {
    const { source, shared } = share();
    const follower = new Follower(shared);
    const work = source.work(makeWork(100));
    await follower.work();
    let answer = () => {};
    source.verdict = () =>
      new Promise((resolve) => {
        answer = () => resolve({ outcome: 'accepted', reason: '' });
      });
    const verdict = shared.submit(mine(work), follower.stop);
    await follower.end();
    const order: string[] = [];
    const closed = shared.close().then(() => order.push('closed'));
    void verdict.then(() => order.push('verdict'));
    await new Promise((resolve) => setImmediate(resolve));
    answer();
    await closed;
    expect(order).toEqual(['verdict', 'closed']);
    expect(source.ended).toBe(true);
  });

  it('that nobody has used can be closed', async () => {
    const { source, shared } = share();
    await shared.close();
    expect(source.started).toBe(false);
  });

  it('is asked and told what its source is, and counts as answering if its source cannot find out', async () => {
    const { source, shared } = share();
    expect(await shared.answers(stop)).toBe(true);
    source.answers = async () => false;
    expect(await shared.answers(stop)).toBe(false);
    expect([shared.name, shared.kind, shared.nameOf(makeWork(100))]).toEqual(['fake source', 'node', 'fake source']);
    const pool = new SharedSource(
      Object.assign(new FakeSource(), { kind: 'pool' as const, nameOf: () => 'one of its own' }),
    );
    expect([pool.name, pool.kind, pool.nameOf(makeWork(100))]).toEqual(['fake source', 'pool', 'one of its own']);
  });
});

describe('a shared source that throws, which it may not,', () => {
  /** @returns what the updates of this consumer have thrown */
  async function thrownBy(shared: SharedSource): Promise<unknown> {
    try {
      for await (const _ of updatesOf(shared, stop));
    } catch (thrown) {
      return thrown;
    }
    throw new Error('nothing was thrown');
  }

  it('passes that on to every consumer, also to one that comes later, and can be closed', async () => {
    const { source, shared } = share();
    const early = [thrownBy(shared), thrownBy(shared)];
    const fault = source.fail();
    expect(await Promise.all(early)).toEqual([fault, fault]);
    expect(await thrownBy(shared)).toBe(fault);
    await shared.close();
  });

  it('gives what it has yielded before', async () => {
    const { source, shared } = share();
    const work = source.work(makeWork(100));
    const fault = source.fail();
    const updates = updatesOf(shared, stop);
    expect(await updates.next()).toEqual({ value: { kind: 'work', work }, done: false });
    await expect(updates.next()).rejects.toBe(fault);
    await shared.close();
  });

  it('and has no consumer any more, throws when it is closed', async () => {
    const { source, shared } = share();
    const follower = new Follower(shared);
    source.work(makeWork(100));
    await follower.work();
    await follower.end();
    const fault = source.fail();
    await new Promise((resolve) => setImmediate(resolve));
    await expect(shared.close()).rejects.toBe(fault);
  });
});
