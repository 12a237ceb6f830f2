/** How long a share and a goodbye wait for a parent, and how many shares may wait. The timers are the test's. */

import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { sharedController } from '#pickaxe/base/system/abort.js';
import type { SourceUpdate, Verdict } from '#pickaxe/miner/source/source.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { isSettled, turns } from '../../../turns.ts';
import { mine } from '../follow.ts';
import { job, makeHeader, ParentWorld, ScriptedParent } from './parent.ts';

const VERDICT_MS = 60_000;
const LAST_VERDICT_MS = 2_000;
const LAST_SHARES_MS = 1_000;
const LAST_READ_MS = 10_000;
const LATE: Verdict = { outcome: 'unknown', reason: 'the parent gave no verdict in time' };
const UNREAD: Verdict = {
  outcome: 'unknown',
  reason: 'the parent ended its connection, or did not read, before it got this',
};

const wait = async (ms: number) => {
  await vi.advanceTimersByTimeAsync(ms);
  await turns();
};

function follow() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const world = new ParentWorld();
  const updates: SourceUpdate[] = [];
  const ending = new AbortController();
  const following = world.source.follow((update) => updates.push(update), ending.signal);
  const end = async () => {
    ending.abort();
    const ended = following.then(() => true);
    await turns();
    vi.advanceTimersByTime(LAST_READ_MS);
    return await ended;
  };
  onTestFinished(async () => {
    await end();
    vi.useRealTimers();
  });
  const stopping = sharedController();
  const verdicts: Verdict[] = [];
  const submit = (work: Work, lane = 0) => {
    void world.source.submit(mine(work, lane), stopping.signal).then((verdict) => verdicts.push(verdict));
  };
  const given = () => updates.flatMap((update) => (update.kind === 'work' ? [update.work] : [])).at(-1) as Work;
  return { world, updates, given, submit, verdicts, stop: () => stopping.abort(), ending };
}

async function withJob(parent: ScriptedParent, more: object = {}) {
  const all = follow();
  all.world.connect(parent);
  parent.say(job('a', makeHeader(), more));
  await turns();
  return { ...all, parent, work: all.given() };
}

describe('a share of a parent that judges', () => {
  it('waits a minute for its verdict, and a verdict that comes later is refused', async () => {
    const { parent, work, submit, verdicts } = await withJob(new ScriptedParent(), { verdicts: true });
    submit(work);
    await wait(VERDICT_MS - 1);
    expect([parent.of('share').length, verdicts]).toEqual([1, []]);
    await wait(1);
    expect(verdicts).toEqual([LATE]);
    parent.say({ type: 'verdict', share: 1, outcome: 'accepted' });
    await turns();
    expect(parent.of('error').map(({ code }) => code)).toEqual(['unknown-share']);
  });

  it('waits two seconds after mining has ended', async () => {
    const { work, submit, verdicts, stop } = await withJob(new ScriptedParent(), { verdicts: true });
    submit(work);
    await wait(VERDICT_MS - 1);
    stop();
    submit(work, 1);
    await wait(LAST_VERDICT_MS - 1);
    expect(verdicts).toEqual([]);
    await wait(1);
    expect(verdicts).toEqual([LATE, LATE]);
  });

  it('has its verdict when that comes, and leaves no timer', async () => {
    const { parent, work, submit, verdicts, stop } = await withJob(new ScriptedParent(), { verdicts: true });
    const before = vi.getTimerCount();
    submit(work);
    await wait(VERDICT_MS - 1);
    parent.say({ type: 'verdict', share: 1, outcome: 'stale', reason: 'old' });
    await turns();
    expect(verdicts).toEqual([{ outcome: 'stale', reason: 'old' }]);
    stop();
    await turns();
    expect(vi.getTimerCount()).toBe(before);
  });

  it('is unknown when its connection ends', async () => {
    const { parent, work, submit, verdicts } = await withJob(new ScriptedParent(), { verdicts: true });
    submit(work);
    await turns();
    parent.die();
    await turns();
    expect(verdicts).toEqual([{ outcome: 'unknown', reason: 'its connection ended' }]);
  });
});

describe('a share for a parent that does not read', () => {
  it.each([false, true])('waits as long as it is mined for, and ten seconds after that: judged %s', async (judged) => {
    const { work, submit, verdicts, stop } = await withJob(new ScriptedParent(false), { verdicts: judged });
    // These fill what its side holds.
    for (let lane = 0; lane < 10; lane++) submit(work, lane);
    await wait(judged ? VERDICT_MS - LAST_READ_MS - 1 : 3_600_000);
    const { length } = verdicts;
    expect(length).toBeLessThan(10);
    stop();
    await wait(LAST_READ_MS - 1);
    expect(verdicts.filter(({ outcome, reason }) => outcome === 'unknown' && reason === UNREAD.reason)).toEqual([]);
    await wait(1);
    expect(verdicts).toHaveLength(10);
    expect(verdicts.at(-1)).toEqual(UNREAD);
  });

  it('is unknown when the parent goes', async () => {
    const { parent, work, submit, verdicts } = await withJob(new ScriptedParent(false));
    for (let lane = 0; lane < 10; lane++) submit(work, lane);
    await turns();
    parent.die();
    await turns();
    expect(verdicts).toHaveLength(10);
    expect(verdicts.at(-1)).toEqual(UNREAD);
  });
});

describe('a parent that drains', () => {
  it.each([
    [1, LAST_SHARES_MS],
    [0, 0],
  ])('and has %d jobs gets its goodbye after %d ms, once', async (jobs, ms) => {
    const { parent } = await withJob(new ScriptedParent());
    if (jobs === 0) parent.say({ type: 'cancel' });
    await turns();
    const left = [parent.session?.drain('drained'), parent.session?.drain('stopped'), parent.session?.drain('drained')];
    await turns();
    // A second request sets nothing off.
    const timers = vi.getTimerCount();
    expect(await isSettled(parent.session!.drain('drained'))).toBe(true);
    expect(vi.getTimerCount()).toBe(timers);
    if (ms > 0) await wait(ms - 1);
    expect(parent.of('bye')).toHaveLength(ms === 0 ? 1 : 0);
    await wait(1);
    expect(parent.of('bye')).toEqual([{ type: 'bye', reason: 'drained', shares: 0 }]);
    await Promise.all(left);
  });

  it('and goes meanwhile is not waited for', async () => {
    const { parent, world } = await withJob(new ScriptedParent());
    const before = vi.getTimerCount();
    const left = parent.session?.drain('drained');
    await turns();
    parent.die();
    await turns();
    await left;
    expect([world.source.sessions, vi.getTimerCount()]).toEqual([0, before]);
  });
});

it('a parent that does not read its goodbye is left after ten seconds', async () => {
  const { world, ending } = follow();
  // It has not read its greeting either.
  const input = new PassThrough();
  let hasEnded = false;
  const output = new Writable({ highWaterMark: 1, write: () => {} });
  world.source.connect({
    input,
    output,
    end: () => {
      hasEnded = true;
    },
  });
  ending.abort();
  await wait(LAST_READ_MS - 1);
  expect(hasEnded).toBe(false);
  await wait(1);
  expect(hasEnded).toBe(true);
});

it('a parent rests at 64 unread shares, and goes on at half of them', async () => {
  const { world, given, submit } = follow();
  const input = new PassThrough();
  const held: (() => void)[] = [];
  const output = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void held.push(done) });
  const session = world.source.connect({ input, output, end: () => {} });
  const release = async (count: number) => {
    for (let i = 0; i < count; i++) {
      held.shift()?.();
      await turns();
    }
  };
  // The greeting.
  await release(1);
  input.write(`${JSON.stringify(job('a'))}\n`);
  await turns();
  const work = given();
  const states = () => world.events.flatMap((event) => (event.type === 'source' ? [event.reason] : []));
  for (let lane = 0; lane < 63; lane++) submit(work, lane);
  expect([session.unreadShares, session.isResting]).toEqual([63, false]);
  submit(work, 63);
  submit(work, 64);
  expect([session.unreadShares, session.isResting]).toEqual([65, true]);
  await release(32);
  expect([session.unreadShares, session.isResting]).toEqual([33, true]);
  await release(1);
  expect([session.unreadShares, session.isResting]).toEqual([32, false]);
  await release(32);
  expect(session.unreadShares).toBe(0);
  const rests = 'does not read: 64 shares wait for it, and none is lost';
  expect(states()).toEqual(['is connected', rests, 'reads again']);
});
