/** How following a source ends: by the consumer, by its stop, and by a fault of the source. */

import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { SharedSource, updatesOf } from '#pickaxe/miner/source/following.js';
import { FakeSource, makeWork } from '../../fakes.ts';
import { isSettled } from '../../turns.ts';
import { eventually } from './follow.ts';

it('a source ends with the stop, though its consumer takes no further update', async () => {
  const source = new FakeSource();
  const stopping = new AbortController();
  const updates = updatesOf(source, stopping.signal);
  const first = updates.next();
  source.work(makeWork(100));
  await first;
  expect(source.ended).toBe(false);
  stopping.abort();
  expect(source.ended).toBe(true);
  await updates.return();
});

it('a source ends when its consumer wants no more', async () => {
  const source = new FakeSource();
  source.work(makeWork(100));
  for await (const update of updatesOf(source, new AbortController().signal)) {
    expect(update.kind).toBe('work');
    break;
  }
  expect(source.ended).toBe(true);
});

it('a consumer that has stopped gets no fault of a shared source: the one who closes it does, and once', async () => {
  const source = new FakeSource();
  const shared = new SharedSource(source);
  const stopping = new AbortController();
  const following = shared.follow(() => {}, stopping.signal);
  const fault = source.fail();
  stopping.abort();
  await following;
  const listener = () => {};
  await eventually(() => expect(shared.close()).rejects.toBe(fault));
  await shared.follow(listener, AbortSignal.abort());
  await expect(shared.close()).rejects.toBe(fault);
  await expect(shared.follow(listener, new AbortController().signal)).rejects.toBe(fault);
  await shared.close();
});

it('a consumer that wants no more waits for the end of the source, and leaves nothing at its signal', async () => {
  const source = new FakeSource();
  let end = () => {};
  source.follow = (listener) => {
    listener({ kind: 'work', work: makeWork(100) });
    return new Promise((resolve) => {
      end = resolve;
    });
  };
  const { signal } = new AbortController();
  const updates = updatesOf(source, signal);
  await updates.next();
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  const returned = updates.return();
  expect(await isSettled(returned)).toBe(false);
  end();
  await returned;
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it('a shared source is closed only when its source has ended', async () => {
  const source = new FakeSource();
  let end = () => {};
  source.follow = () => new Promise<void>((resolve) => (end = resolve));
  const shared = new SharedSource(source);
  await shared.follow(() => {}, AbortSignal.abort());
  const closed = shared.close();
  expect(await isSettled(closed)).toBe(false);
  end();
  await closed;
});

it('a consumer that was busy gets the newest of what it has missed: no outage that is over', async () => {
  const source = new FakeSource();
  const works = [100, 101].map((height) => makeWork(height));
  source.follow = (listener, stop) => {
    listener({ kind: 'work', work: works[0] });
    listener({ kind: 'lost', reason: 'it is away' });
    listener({ kind: 'work', work: works[1] });
    return new Promise((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
  };
  const stop = new AbortController();
  const updates = updatesOf(source, stop.signal);
  expect((await updates.next()).value).toEqual({ kind: 'work', work: works[1] });
  const next = updates.next();
  expect(await isSettled(next)).toBe(false);
  stop.abort();
  expect(await next).toMatchObject({ done: true });
});
