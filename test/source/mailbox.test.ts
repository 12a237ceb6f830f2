import { describe, expect, it } from 'vitest';
import { Mailbox } from '#pickaxe/source/mailbox.js';
import { makeWork } from '../fakes.ts';

const work = () => ({ kind: 'work', work: makeWork(100) }) as const;
const stale = { kind: 'stale', reason: 'new-cut' } as const;
const lost = { kind: 'lost', reason: 'gone' } as const;

describe('Mailbox', () => {
  it('drops updates that a later one replaces', async () => {
    const mailbox = new Mailbox();
    const last = work();
    for (const update of [work(), stale, lost, work(), last]) mailbox.put(update);
    const updates = mailbox.updates(new AbortController().signal);
    expect((await updates.next()).value).toBe(last);
    mailbox.put(stale);
    expect((await updates.next()).value).toBe(stale);
  });

  it('keeps an update about an outage beside one about the work', async () => {
    const mailbox = new Mailbox();
    mailbox.put(lost);
    mailbox.put(stale);
    const updates = mailbox.updates(new AbortController().signal);
    expect((await updates.next()).value).toBe(stale);
    expect((await updates.next()).value).toBe(lost);
  });

  it('wakes its listener, and ends with stop', async () => {
    const mailbox = new Mailbox();
    const ending = new AbortController();
    const updates = mailbox.updates(ending.signal);
    const waiting = updates.next();
    mailbox.put(stale);
    expect((await waiting).value).toBe(stale);
    const ended = updates.next();
    ending.abort();
    expect((await ended).done).toBe(true);
  });
});
