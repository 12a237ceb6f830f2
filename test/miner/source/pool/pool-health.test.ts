import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { PoolHealth, type ShareAnswer } from '#pickaxe/miner/source/pool/pool-health.js';
import { poolLimits } from '#pickaxe/miner/source/pool/pool-limits.js';

const { submitMs, silenceMs } = poolLimits;
const MINUTE = 60_000;
const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => Date.now() };
const NO_MORE = 'answers shares no more';
const AGAIN = 'is tried again: it may answer shares by now';
const ACCEPTED: ShareAnswer = { kind: 'accepted' };
const REFUSED: ShareAnswer = { kind: 'refused', reason: 'internal error' };
const REFUSES = 'refuses all shares (“internal error”)';
const MAY_ACCEPT = 'is tried again: it may accept shares by now';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A pool that has answered a share, and another one that can take over. */
function answering({ isAlone = false } = {}) {
  const told: string[] = [];
  const judge = (fault: string | undefined, news?: string) => void told.push(fault ?? news ?? '');
  const renewed: string[] = [];
  const health = new PoolHealth(
    clock,
    () => 1,
    poolLimits,
    judge,
    (why) => renewed.push(why),
  );
  if (!isAlone) health.judge = judge;
  health.sent()(ACCEPTED);
  const wait = (ms: number) => vi.advanceTimersByTime(ms);
  const refuse = (count: number) => {
    for (let i = 0; i < count; i++) {
      wait(1_000);
      health.sent()(REFUSED);
    }
  };
  return { told, renewed, health, wait, refuse };
}

it('a pool that has never answered a share is not judged', () => {
  const told: unknown[] = [];
  const health = new PoolHealth(
    clock,
    () => 1,
    poolLimits,
    (...judged) => told.push(judged),
  );
  health.sent();
  for (let i = 0; i < 10; i++) health.disconnected();
  vi.advanceTimersByTime(10 * submitMs);
  expect(told).toEqual([]);
});

it('a pool that used to answer is unhealthy once a share has waited for too long, and healthy with the next answer', () => {
  const { told, health, wait } = answering();
  const settled = health.sent();
  wait(submitMs - 1);
  expect(told).toEqual([]);
  wait(1);
  expect(told).toEqual([NO_MORE]);
  settled();
  health.sent()(ACCEPTED);
  expect(told).toEqual([NO_MORE, 'answers shares again']);
  // Nothing of that is left over.
  wait(100 * MINUTE);
  expect(told).toHaveLength(2);
});

it('a single answer that is lost among others says nothing', () => {
  const { told, health, wait } = answering();
  health.sent();
  wait(submitMs - 1);
  health.sent()(ACCEPTED);
  wait(10 * submitMs);
  expect(told).toEqual([]);
});

it('a share that nobody waits for any more says nothing', () => {
  const { told, health, wait } = answering();
  health.sent()();
  wait(10 * submitMs);
  expect(told).toEqual([]);
});

it('three connections in a row that end with shares unanswered count as well', () => {
  const { told, health } = answering();
  health.disconnected();
  health.disconnected();
  health.sent()(ACCEPTED);
  health.disconnected();
  health.disconnected();
  expect(told).toEqual([]);
  health.disconnected();
  expect(told).toEqual([NO_MORE]);
});

it('an unhealthy pool is tried again after growing times, and a trial ends with the first share in silence', () => {
  const { told, health, wait } = answering();
  health.sent();
  wait(submitMs);
  for (const minutes of [5, 10, 20, 40, 60, 60]) {
    const before = told.length;
    wait(minutes * MINUTE - 1);
    expect(told).toHaveLength(before);
    wait(1);
    expect(told.at(-1)).toBe(AGAIN);
    // The shares that it gets now wait for less.
    health.sent();
    wait(silenceMs);
    expect(told.at(-1)).toBe(NO_MORE);
    expect(told).toHaveLength(before + 2);
  }
});

it('where shares are rare, a trial takes long, and the next one is the later for it', () => {
  const { told, health, wait } = answering();
  health.sent();
  wait(submitMs);
  wait(5 * MINUTE);
  wait(100 * MINUTE - silenceMs);
  health.sent();
  wait(silenceMs);
  expect(told).toEqual([NO_MORE, AGAIN, NO_MORE]);
  wait(1_000 * MINUTE - 1);
  expect(told).toHaveLength(3);
  wait(1);
  expect(told.at(-1)).toBe(AGAIN);
});

it('a trial that is answered ends the pauses, too', () => {
  const { told, health, wait } = answering();
  for (let i = 0; i < 2; i++) {
    health.sent();
    wait(submitMs);
    wait(5 * MINUTE);
    expect(told.at(-1)).toBe(AGAIN);
    health.sent()(ACCEPTED);
  }
  expect(told).toEqual([NO_MORE, AGAIN, NO_MORE, AGAIN]);
});

it('the only pool is mined on, so that there is no trial: it is healthy with its next answer', () => {
  const { told, health, wait } = answering({ isAlone: true });
  health.sent();
  wait(1_000 * MINUTE);
  expect(told).toEqual([NO_MORE]);
  health.sent()(ACCEPTED);
  expect(told).toEqual([NO_MORE, 'answers shares again']);
});

it('while its source is closed no trial begins, and the wait goes on when it is opened', () => {
  const { told, health, wait } = answering();
  health.sent();
  wait(submitMs);
  health.stop();
  wait(100 * MINUTE);
  expect(told).toEqual([NO_MORE]);
  health.start();
  wait(0);
  expect(told).toEqual([NO_MORE, AGAIN]);
});

it('no trial is waited for once its source is closed, also when a share turns out late only then', () => {
  const { told, health, wait } = answering();
  health.sent();
  health.stop();
  wait(submitMs);
  for (let i = 0; i < 3; i++) health.disconnected();
  expect(told).toEqual([NO_MORE]);
  expect(vi.getTimerCount()).toBe(0);
  wait(100 * MINUTE);
  health.start();
  wait(0);
  expect(told).toEqual([NO_MORE, AGAIN]);
});

it('a pool that refuses every share is connected to again after 12, and left after 12 more', () => {
  const { told, renewed, refuse } = answering();
  refuse(11);
  expect(renewed).toEqual([]);
  refuse(1);
  expect([renewed, told]).toEqual([[REFUSES], []]);
  refuse(11);
  expect(told).toEqual([]);
  refuse(1);
  expect([renewed.length, told]).toEqual([1, [REFUSES]]);
});

it('an acceptance halves the refusals before it, so that a pool which accepts every fourth share is not left', () => {
  const { told, renewed, health, refuse } = answering();
  for (let i = 0; i < 100; i++) {
    refuse(3);
    health.sent()(ACCEPTED);
  }
  expect([told, renewed]).toEqual([[], []]);
  for (let i = 0; i < 20; i++) {
    refuse(11);
    health.sent()(ACCEPTED);
  }
  expect(renewed).not.toEqual([]);
});

it('neither many refusals at one moment nor answers about replaced jobs say anything', () => {
  const { told, renewed, health } = answering();
  for (let i = 0; i < 1_000; i++) health.sent()(REFUSED);
  health.sent()(ACCEPTED);
  for (let i = 0; i < 1_000; i++) health.sent()({ kind: 'other' });
  expect([told, renewed]).toEqual([[], []]);
});

it('a pool that goes on refusing is tried again after growing pauses, and each trial costs three shares', () => {
  const { told, renewed, health, wait, refuse } = answering();
  refuse(24);
  for (const minutes of [5, 10, 20, 40, 60, 60]) {
    const before = told.length;
    // Shares that were on their way change nothing.
    health.sent()(REFUSED);
    wait(minutes * MINUTE - 1);
    expect(told).toHaveLength(before);
    wait(1);
    expect(told.at(-1)).toBe(MAY_ACCEPT);
    expect(renewed.at(-1)).toBe('is tried again');
    refuse(3);
    expect(told.at(-1)).toBe(REFUSES);
    expect(told).toHaveLength(before + 2);
  }
});

it('a trial with an acceptance makes the pool healthy, and so does an acceptance that comes late', () => {
  const { told, health, wait, refuse } = answering();
  refuse(24);
  wait(5 * MINUTE);
  health.sent()(ACCEPTED);
  refuse(11);
  expect(told).toEqual([REFUSES, MAY_ACCEPT]);
  refuse(13);
  expect(told.at(-1)).toBe(REFUSES);
  health.sent()(ACCEPTED);
  expect(told.at(-1)).toBe('accepts shares again');
});

it('the only pool that refuses everything is mined on, and connected to again after the same pauses', () => {
  const { told, renewed, health, wait, refuse } = answering({ isAlone: true });
  refuse(24);
  expect([told, renewed.length]).toEqual([[REFUSES], 1]);
  for (const minutes of [5, 10, 20]) {
    const before = renewed.length;
    wait(minutes * MINUTE - 10_000);
    refuse(3);
    expect(renewed).toHaveLength(before);
    refuse(10);
    expect(renewed).toHaveLength(before + 1);
  }
  expect(told).toEqual([REFUSES]);
  health.sent()(ACCEPTED);
  expect(told).toEqual([REFUSES, 'accepts shares again']);
});

it('a pool that is no longer the only one is judged anew', () => {
  const { told, health, refuse } = answering({ isAlone: true });
  refuse(24);
  const others: (string | undefined)[] = [];
  health.judge = (fault) => others.push(fault);
  refuse(12);
  expect([told, others]).toEqual([[REFUSES], [REFUSES]]);
});

it('a trial without an answer is over, so that an answer that comes late is followed by no other trial', () => {
  const { told, renewed, health, wait, refuse } = answering();
  health.sent();
  wait(submitMs);
  wait(5 * MINUTE);
  const settled = health.sent();
  wait(silenceMs);
  expect(told).toEqual([NO_MORE, AGAIN, NO_MORE]);
  settled(REFUSED);
  expect(told.at(-1)).toBe('answers shares again');
  // Twelve refusals are enough, as always, and three are not.
  refuse(10);
  expect(renewed).toEqual([]);
  refuse(1);
  expect(renewed).toEqual([REFUSES]);
  // A share has its usual time, too.
  health.sent();
  wait(submitMs - 1);
  expect(told).toHaveLength(4);
  wait(1);
  expect(told.at(-1)).toBe(NO_MORE);
});

it('a trial begins without the refusals of before, and a pool that is silent on trial is not connected to again', () => {
  const { told, renewed, health, wait, refuse } = answering();
  refuse(5);
  const settled = health.sent();
  wait(submitMs);
  expect(told).toEqual([NO_MORE]);
  wait(5 * MINUTE);
  settled();
  expect([told, renewed]).toEqual([[NO_MORE, AGAIN], []]);
  refuse(2);
  expect([told, renewed]).toEqual([[NO_MORE, AGAIN], []]);
  refuse(1);
  expect(renewed).toEqual([REFUSES]);
});

it('a pool that is unhealthy is not found unhealthy once more for its silence', () => {
  const { told, health, wait, refuse } = answering();
  refuse(24);
  health.sent();
  wait(submitMs);
  for (let i = 0; i < 3; i++) health.disconnected();
  expect(told).toEqual([REFUSES]);
});

it.each([
  ['has recovered', ({ health }: ReturnType<typeof answering>) => health.sent()(ACCEPTED)],
  ['is no longer the only one', () => {}],
])('a pool that refused everything, %s and answers no more has a trial for its silence', (_, change) => {
  const all = answering({ isAlone: true });
  const { told, renewed, health, wait, refuse } = all;
  refuse(24);
  change(all);
  health.judge = (fault, news) => told.push(fault ?? news ?? '');
  told.length = 0;
  renewed.length = 0;
  health.sent();
  wait(submitMs);
  expect(told).toEqual([NO_MORE]);
  wait(10 * MINUTE);
  expect([told, renewed]).toEqual([[NO_MORE, AGAIN], []]);
});

it('a closed pool that refuses everything is not connected to again for a refusal that comes late', () => {
  const { renewed, health, wait, refuse } = answering();
  refuse(24);
  health.stop();
  renewed.length = 0;
  wait(60 * MINUTE);
  health.sent()(REFUSED);
  expect(renewed).toEqual([]);
});

it('the only pool that refuses everything is connected to again at the end of the pause', () => {
  const { renewed, health, wait, refuse } = answering({ isAlone: true });
  refuse(24);
  renewed.length = 0;
  wait(5 * MINUTE - 1);
  health.sent()(REFUSED);
  expect(renewed).toEqual([]);
  wait(1);
  health.sent()(REFUSED);
  expect(renewed).toEqual(['still refuses everything']);
});

const OTHER: ShareAnswer = { kind: 'other' };

it('an answer that is neither yes nor no halves no refusals, but passes a trial for silence', () => {
  const { told, renewed, health, wait, refuse } = answering();
  refuse(11);
  health.sent()(OTHER);
  expect(renewed).toEqual([]);
  refuse(1);
  expect(renewed).toEqual([REFUSES]);
  health.sent()(ACCEPTED);
  health.sent();
  wait(submitMs);
  wait(5 * MINUTE);
  expect(told).toEqual([NO_MORE, AGAIN]);
  health.sent()(OTHER);
  // It is not on trial any more: three refusals say nothing, and a share has its usual time.
  refuse(3);
  health.sent();
  wait(submitMs - 1);
  expect(told).toEqual([NO_MORE, AGAIN]);
  wait(1);
  expect(told).toEqual([NO_MORE, AGAIN, NO_MORE]);
});

it('an answer that is neither yes nor no leaves the pauses of a pool that refuses everything', () => {
  const { told, health, wait, refuse } = answering();
  refuse(24);
  health.sent()(OTHER);
  wait(5 * MINUTE);
  refuse(3);
  expect(told).toEqual([REFUSES, MAY_ACCEPT, REFUSES]);
  wait(10 * MINUTE - 1);
  expect(told).toHaveLength(3);
  wait(1);
  expect(told).toHaveLength(4);
});

it('each fault for unanswered connections takes three of them', () => {
  const { told, health, wait } = answering();
  for (let i = 0; i < 3; i++) health.disconnected();
  expect(told).toEqual([NO_MORE]);
  wait(5 * MINUTE);
  for (let i = 0; i < 2; i++) health.disconnected();
  expect(told).toEqual([NO_MORE, AGAIN]);
  health.disconnected();
  expect(told).toEqual([NO_MORE, AGAIN, NO_MORE]);
});
