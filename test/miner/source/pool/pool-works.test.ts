import { expect, it } from 'vitest';
import { MOST_MESSAGES, MOST_WORKS } from '#pickaxe/miner/source/pool/pool-limits.js';
import { PoolNotices } from '#pickaxe/miner/source/pool/pool-messages.js';
import { PoolWorks } from '#pickaxe/miner/source/pool/pool-works.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { makeHeader } from './pool.ts';

const job = (name: string, payload: number, clean?: boolean) => ({
  name,
  header: makeHeader({ payload, parent: 1 }),
  clean,
});

function subscribed(): PoolWorks {
  const works = new PoolWorks();
  works.setNonce1({ value: 7, bytes: 1 });
  return works;
}

it('jobs that come at once make one work, of the last of them', () => {
  const works = subscribed();
  works.notify(job('a', 1, true));
  works.setTarget(targetForDifficulty(100));
  works.notify(job('b', 2, false));
  const { work, stale } = works.take();
  expect(work).toMatchObject({ header: job('b', 2).header, target: targetForDifficulty(100) });
  expect(works.jobOf(work!)).toBe('b');
  expect(stale).toEqual([]);
  expect(works.take()).toMatchObject({ stale: [], work: undefined });
});

it('an earlier job that comes again does not condemn its own shares', () => {
  const works = subscribed();
  works.notify(job('a', 1, true));
  const { work: first } = works.take();
  works.notify(job('b', 2, false));
  works.take();
  works.notify(job('a', 1, false));
  const { work: again, stale } = works.take();
  expect(stale).toEqual([]);
  expect([first, again].map((work) => works.jobOf(work!))).toEqual(['a', 'a']);
});

it('a pool that never sends a clean job has a bounded number of works, and the oldest is forgotten', () => {
  const works = subscribed();
  const made = Array.from({ length: MOST_WORKS }, (_, index) => {
    works.notify({ ...job(`${index}`, 1, false), header: makeHeader({ height: index }) });
    return works.take().work!;
  });
  works.notify({ ...job('one more', 1, false), header: makeHeader({ height: MOST_WORKS }) });
  works.take();
  expect(works.take().stale).toEqual([]);
  expect(made.map((work) => works.jobOf(work) !== undefined).indexOf(true)).toBe(1);
  const told = works.end();
  expect(told).toHaveLength(MOST_WORKS);
  expect(works.take()).toMatchObject({ stale: [], work: undefined });
});

it('a clean job is a New Cut only where its chain has another parent', () => {
  const works = subscribed();
  works.notify(job('a', 1, true));
  const { work: first } = works.take();
  works.notify(job('later', 2, true));
  expect(works.take()).toMatchObject({ stale: [first], reason: 'cancelled' });
  works.notify({ ...job('b', 1, true), header: makeHeader({ parent: 2 }) });
  expect(works.take()).toMatchObject({ reason: 'new-cut' });
});

it('without the clean flag, a job condemns only works of its own chain on another parent', () => {
  const works = subscribed();
  works.notify(job('a', 1));
  const { work: first } = works.take();
  works.notify({ ...job('b', 1), header: makeHeader({ chain: 7, parent: 9 }) });
  expect(works.take().stale).toEqual([]);
  works.notify({ ...job('c', 1), header: makeHeader({ parent: 2 }) });
  expect(works.take()).toMatchObject({ stale: [first], reason: 'new-cut' });
});

it('a pool that sends works all the time is followed only so often', () => {
  const told: string[] = [];
  const notices = new PoolNotices((text) => told.push(text));
  for (let i = 0; i < 100; i++) notices.show(`message ${i}`);
  expect(told).toHaveLength(MOST_MESSAGES);
  expect(notices.ban).toBeUndefined();
  notices.show('IP blocked');
  expect(notices.ban).toBe('IP blocked');
});

it('a new nonce1 counts from the next job on, also when that is the same one again', () => {
  const works = subscribed();
  works.notify(job('a', 1, true));
  const { work: first } = works.take();
  works.setNonce1({ value: 0xa0, bytes: 1 });
  expect(works.take()).toMatchObject({ stale: [], work: undefined });
  works.notify(job('a', 1, true));
  const { work: second } = works.take();
  expect([first, second].map((work) => work?.nonce1.value)).toEqual([7, 0xa0]);
  expect(second?.header).toEqual(first?.header);
});

it('an easier target waits for the next job, also a repeated one, and a harder one counts at once', () => {
  const works = subscribed();
  const [hard, middle, easy] = [400, 200, 100].map(targetForDifficulty);
  works.setTarget(middle);
  works.notify(job('a', 1, true));
  expect(works.take().work?.target).toEqual(middle);
  // Shares of the old job would be judged by its own target.
  works.setTarget(easy);
  expect(works.take().work).toBeUndefined();
  works.notify(job('a', 1, true));
  expect(works.take().work?.target).toEqual(easy);
  works.setTarget(hard);
  expect(works.take().work?.target).toEqual(hard);
  // The last target counts, so that one which waited is forgotten.
  works.setTarget(easy);
  works.setTarget(hard);
  works.notify(job('b', 2, false));
  expect(works.take().work?.target).toEqual(hard);
});

it('the first target counts at once, also after the first job', () => {
  const works = subscribed();
  works.notify(job('a', 1, true));
  works.take();
  works.setTarget(targetForDifficulty(100));
  expect(works.take().work?.target).toEqual(targetForDifficulty(100));
});

it('only the work of the latest job is current, even if an earlier one has the same header', () => {
  const works = subscribed();
  works.notify(job('a', 1, false));
  const { work: first } = works.take();
  expect(works.isCurrent(first!)).toBe(true);
  works.notify(job('b', 1, false));
  const { work: second } = works.take();
  works.notify(job('c', 2, false));
  const { work: third } = works.take();
  expect([first, second, third].map((work) => works.isCurrent(work!))).toEqual([false, false, true]);
  works.notify(job('b', 1, false));
  const { work: again } = works.take();
  expect([first, third, again].map((work) => works.isCurrent(work!))).toEqual([false, false, true]);
  works.end();
  expect(works.isCurrent(again!)).toBe(false);
});

it('of several targets before the first job, the last one counts', () => {
  for (const targets of [
    [100, 50, 70],
    [50, 100, 70],
    [100, 50],
    [50, 100],
  ]) {
    const works = subscribed();
    for (const difficulty of targets) works.setTarget(targetForDifficulty(difficulty));
    expect(works.hasTarget).toBe(true);
    works.notify(job('a', 1, true));
    expect(works.take().work?.target).toEqual(targetForDifficulty(targets.at(-1)!));
  }
});

it.each([
  ['another name', { ...job('b', 1, true) }],
  ['another header', { ...job('a', 2, true) }],
])('a clean job with %s is another one', (_, next) => {
  const works = subscribed();
  works.notify(job('a', 1, true));
  const { work } = works.take();
  works.notify(next);
  expect(works.take()).toMatchObject({ stale: [work], work: { header: next.header } });
});

it('the same job with another nonce1 is another one', () => {
  const works = subscribed();
  works.notify(job('a', 1, true));
  const { work } = works.take();
  works.setNonce1({ value: 8, bytes: 1 });
  expect(works.take().work).toBeUndefined();
  works.notify(job('a', 1, true));
  expect(works.take()).toMatchObject({ stale: [work], work: { nonce1: { value: 8, bytes: 1 } } });
});

it('works of which some are overtaken end by a New Cut, and the latest job is the current one', () => {
  const works = subscribed();
  expect(works.isCurrent(works.take().work!)).toBe(false);
  works.notify({ ...job('other chain', 1, true), header: makeHeader({ chain: 7 }) });
  const { work: other } = works.take();
  works.notify(job('a', 1, false));
  const { work: first } = works.take();
  expect([other, first].map((work) => works.isCurrent(work!))).toEqual([false, true]);
  works.notify({ ...job('a', 1, true), header: makeHeader({ parent: 2 }) });
  expect(works.take()).toMatchObject({ stale: [other, first], reason: 'new-cut' });
  expect(works.isCurrent(first!)).toBe(false);
  expect(works.end()).toHaveLength(1);
  expect(works.take()).toEqual({ stale: [], reason: 'cancelled', work: undefined });
});

it('the block’s own target counts where the pool’s is harder, or is missing', () => {
  const works = subscribed();
  const header = makeHeader({ difficulty: 1_000 });
  works.notify({ name: 'a', header, clean: true });
  expect(works.take().work?.target).toEqual(targetForDifficulty(1_000));
  works.setTarget(targetForDifficulty(2_000));
  expect(works.take().work?.target ?? targetForDifficulty(1_000)).toEqual(targetForDifficulty(1_000));
});
