import { describe, expect, it } from 'vitest';
import { Mailbox } from '#pickaxe/source/source.js';
import { makeWork } from '../fakes.ts';

const work = () => ({ kind: 'work', work: makeWork(100) }) as const;
const stale = (...updates: ReturnType<typeof work>[]) =>
  ({ kind: 'stale', works: updates.map((update) => update.work), reason: 'new-cut' }) as const;
const lost = { kind: 'lost', reason: 'gone' } as const;

describe('Mailbox', () => {
  it('drops work that later work replaces', async () => {
    const mailbox = new Mailbox();
    const last = work();
    for (const update of [work(), lost, work(), last]) mailbox.put(update);
    const updates = mailbox.updates(new AbortController().signal);
    expect((await updates.next()).value).toBe(last);
    mailbox.put(lost);
    expect((await updates.next()).value).toBe(lost);
  });

  it('gives a rest in place of the work that waits, and work in place of a rest', async () => {
    const mailbox = new Mailbox();
    const [rest, next] = [{ kind: 'rest' } as const, work()];
    const updates = mailbox.updates(new AbortController().signal);
    for (const update of [work(), rest]) mailbox.put(update);
    expect((await updates.next()).value).toBe(rest);
    for (const update of [rest, next, lost]) mailbox.put(update);
    expect((await updates.next()).value).toBe(next);
    expect((await updates.next()).value).toBe(lost);
  });

  it('gives all that is stale before the work, also when it came later', async () => {
    const mailbox = new Mailbox();
    const [first, second, third, next] = [work(), work(), work(), work()];
    for (const update of [stale(first, second), next, stale(third)]) mailbox.put(update);
    const updates = mailbox.updates(new AbortController().signal);
    expect((await updates.next()).value).toEqual(stale(first, second, third));
    expect((await updates.next()).value).toBe(next);
  });

  it('does not give work that became stale while it waited', async () => {
    const mailbox = new Mailbox();
    const [first, next] = [work(), work()];
    for (const update of [first, stale(first)]) mailbox.put(update);
    const updates = mailbox.updates(new AbortController().signal);
    expect((await updates.next()).value).toEqual(stale(first));
    mailbox.put(next);
    expect((await updates.next()).value).toBe(next);
  });

  it('keeps an update about an outage beside one about the work', async () => {
    const mailbox = new Mailbox();
    const cut = stale(work());
    mailbox.put(lost);
    mailbox.put(cut);
    const updates = mailbox.updates(new AbortController().signal);
    expect((await updates.next()).value).toEqual(cut);
    expect((await updates.next()).value).toBe(lost);
  });

  it('wakes its listener, and ends with stop', async () => {
    const mailbox = new Mailbox();
    const ending = new AbortController();
    const updates = mailbox.updates(ending.signal);
    const waiting = updates.next();
    const cut = stale(work());
    mailbox.put(cut);
    expect((await waiting).value).toEqual(cut);
    const ended = updates.next();
    ending.abort();
    expect((await ended).done).toBe(true);
  });
});
