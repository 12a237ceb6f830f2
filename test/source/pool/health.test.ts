import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { poolLimits } from '#pickaxe/source/pool/limits.js';
import { PoolHealth } from '#pickaxe/source/pool/shares.js';

const { submitMs, silenceMs } = poolLimits;
const MINUTE = 60_000;
const clock = { nowUs: () => 0n, monotonicMs: () => Date.now() };
const NO_MORE = 'answers shares no more';
const AGAIN = 'is tried again: it may answer shares by now';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A pool that has answered a share, and another one that can take over. */
function answering({ isAlone = false } = {}) {
  const told: string[] = [];
  const judge = (fault: string | undefined, news?: string) => void told.push(fault ?? news ?? '');
  const health = new PoolHealth(clock, () => 1, poolLimits, judge);
  if (!isAlone) health.judge = judge;
  health.sent()(true);
  return { told, health, wait: (ms: number) => vi.advanceTimersByTime(ms) };
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
  settled(false);
  health.sent()(true);
  expect(told).toEqual([NO_MORE, 'answers shares again']);
  // Nothing of that is left over.
  wait(100 * MINUTE);
  expect(told).toHaveLength(2);
});

it('a single answer that is lost among others says nothing', () => {
  const { told, health, wait } = answering();
  health.sent();
  wait(submitMs - 1);
  health.sent()(true);
  wait(10 * submitMs);
  expect(told).toEqual([]);
});

it('a share that nobody waits for any more says nothing', () => {
  const { told, health, wait } = answering();
  health.sent()(false);
  wait(10 * submitMs);
  expect(told).toEqual([]);
});

it('three connections in a row that end with shares unanswered count as well', () => {
  const { told, health } = answering();
  health.disconnected();
  health.disconnected();
  health.sent()(true);
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
    health.sent()(true);
  }
  expect(told).toEqual([NO_MORE, AGAIN, NO_MORE, AGAIN]);
});

it('the only pool is mined on, so that there is no trial: it is healthy with its next answer', () => {
  const { told, health, wait } = answering({ isAlone: true });
  health.sent();
  wait(1_000 * MINUTE);
  expect(told).toEqual([NO_MORE]);
  health.sent()(true);
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
