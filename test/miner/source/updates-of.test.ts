import { describe, expect, it } from 'vitest';
import { updatesOf } from '#pickaxe/miner/source/following.js';
import type { SourceUpdate, UpdateListener } from '#pickaxe/miner/source/source.js';
import { FakeSource, makeWork } from '../../fakes.ts';

const work = () => ({ kind: 'work', work: makeWork(100) }) as const;
const stale = (...updates: ReturnType<typeof work>[]) =>
  ({ kind: 'stale', works: updates.map((update) => update.work), reason: 'new-cut' }) as const;
const lost = { kind: 'lost', reason: 'gone' } as const;

/** Follows a source that gives some updates at once, and others when `give` is called. */
function follow(...first: SourceUpdate[]) {
  const source = new FakeSource();
  const ending = new AbortController();
  const listeners: UpdateListener[] = [];
  const give = (...all: SourceUpdate[]) => {
    for (const update of all) for (const listener of listeners) listener(update);
  };
  source.follow = async (listener) => {
    listeners.push(listener);
    give(...first);
  };
  return { updates: updatesOf(source, ending.signal), give, ending };
}

describe('the updates of a source', () => {
  it('leave out work that later work replaces', async () => {
    const last = work();
    const { updates, give } = follow(work(), lost, work(), last);
    expect((await updates.next()).value).toBe(last);
    give(lost);
    expect((await updates.next()).value).toBe(lost);
  });

  it('have a rest in place of the work that waits, and work in place of a rest', async () => {
    const [rest, next] = [{ kind: 'rest' } as const, work()];
    const { updates, give } = follow(work(), rest);
    expect((await updates.next()).value).toBe(rest);
    give(rest, next, lost);
    expect((await updates.next()).value).toBe(next);
    expect((await updates.next()).value).toBe(lost);
  });

  it('have all that is stale before the work, also when it came later', async () => {
    const [first, second, third, next] = [work(), work(), work(), work()];
    const { updates } = follow(stale(first, second), next, stale(third));
    expect((await updates.next()).value).toEqual(stale(first, second, third));
    expect((await updates.next()).value).toBe(next);
  });

  it('leave out work that became stale while it waited', async () => {
    const [first, next] = [work(), work()];
    const { updates, give } = follow(first, stale(first));
    expect((await updates.next()).value).toEqual(stale(first));
    give(next);
    expect((await updates.next()).value).toBe(next);
  });

  it('keep an outage beside what is said about the work', async () => {
    const cut = stale(work());
    const { updates } = follow(lost, cut);
    expect((await updates.next()).value).toEqual(cut);
    expect((await updates.next()).value).toBe(lost);
  });

  it('come when there are some, and end with stop', async () => {
    const { updates, give, ending } = follow();
    const waiting = updates.next();
    const cut = stale(work());
    give(cut);
    expect((await waiting).value).toEqual(cut);
    const ended = updates.next();
    ending.abort();
    expect((await ended).done).toBe(true);
  });
});
