import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { SourceHealth } from '#pickaxe/miner/source/source-health.js';
import { FakeClock } from '../../rig/status/fakes.ts';

const DAY_MS = 86_400_000;
const REFUSES = 'refuses all solutions (“No associated Payload”; is there a load balancer?)';

/** A source without another one, which has nothing to start afresh. */
function source() {
  const told: (string | undefined)[] = [];
  const health = new SourceHealth({
    clock: new FakeClock(),
    random: () => 1,
    limits: { refusedMs: 0, unhealthyPauses: { firstMs: 1_000, mostMs: 1_000 } },
    words: { what: 'solutions', question: '; is there a load balancer?' },
    alone: (fault, news) => told.push(fault ?? news),
  });
  const refuse = (count: number, weight: number) => {
    for (let i = 0; i < count; i++) health.refused('No associated Payload', weight);
  };
  return { health, told, refuse };
}

it.each([
  [4, 3],
  [1.5, 8],
])('of refusals of weight %d, %d in a row make a source unhealthy, until it accepts a solution', (weight, count) => {
  const { health, told, refuse } = source();
  refuse(count - 1, weight);
  expect(told).toEqual([]);
  refuse(1, weight);
  refuse(100, weight);
  expect(told).toEqual([REFUSES]);
  health.accepted();
  expect(told).toEqual([REFUSES, 'accepts solutions again']);
});

it.each([
  ['every other', 1, false],
  ['three of four', 3, true],
])('a source that refuses %s solution of weight 4 is unhealthy: %s', (_, refusals, isUnhealthy) => {
  const { health, told, refuse } = source();
  for (let i = 0; i < 100 && told.length === 0; i++) {
    refuse(refusals, 4);
    health.accepted();
  }
  expect(told.includes(REFUSES)).toBe(isUnhealthy);
});

/** A source with another one beside it, and a session. The timers are the test's. */
function oneOfTwo({ isAlone = false } = {}) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const told: (string | undefined)[] = [];
  const renewed: string[] = [];
  const judge = (fault: string | undefined, news?: string) => void told.push(fault ?? news);
  const health = new SourceHealth({
    clock: { ...systemClock, monotonicMs: () => Date.now() },
    random: () => 1,
    limits: { refusedMs: 5_000, unhealthyPauses: { firstMs: 1_000, mostMs: 1_000 } },
    words: { what: 'shares', question: '' },
    alone: judge,
    renew: (why) => renewed.push(why),
  });
  if (!isAlone) health.judge = judge;
  const refuse = (count: number) => {
    for (let i = 0; i < count; i++) health.refused('no');
  };
  return { health, told, renewed, refuse, judge, wait: (ms: number) => void vi.advanceTimersByTime(ms) };
}

it.each([
  [0, 11, 5_000, 0],
  [0, 12, 4_999, 0],
  [0, 12, 5_000, 1],
  // An acceptance halves what came before it, and half a refusal is none.
  [1, 11, 5_000, 0],
  [1, 12, 5_000, 1],
  [2, 12, 5_000, 0],
])(
  'after a refusal and %d acceptances, of %d refusals the last after %d ms starts %d new sessions',
  (accepted, refusals, ms, sessions) => {
    const { health, renewed, refuse, wait } = oneOfTwo();
    refuse(accepted > 0 ? 1 : 0);
    for (let i = 0; i < accepted; i++) health.accepted();
    if (accepted > 0) wait(ms);
    refuse(accepted > 0 ? refusals - 1 : 1);
    if (accepted === 0) wait(ms);
    refuse(accepted > 0 ? 1 : refusals - 1);
    expect(renewed).toHaveLength(sessions);
  },
);

it('a source that has accepted a share in its new session gets another new session when it refuses again', () => {
  const { health, told, renewed, refuse, wait } = oneOfTwo();
  for (let i = 1; i <= 3; i++) {
    refuse(1);
    wait(5_000);
    refuse(11);
    expect([renewed, told]).toEqual([Array(i).fill('refuses all shares (“no”)'), []]);
    health.accepted();
  }
});

it('the pause after a long trial is ten times as long, and a day at most', () => {
  const { health, told, renewed, refuse, wait } = oneOfTwo();
  refuse(1);
  wait(5_000);
  refuse(23);
  expect(told).toEqual([]);
  wait(5_000);
  refuse(1);
  const REFUSED = 'refuses all shares (“no”)';
  const AGAIN = 'is tried again: it may accept shares by now';
  expect(told).toEqual([REFUSED]);
  wait(1_000);
  expect(told).toEqual([REFUSED, AGAIN]);
  for (const [trialMs, pauseMs] of [
    [50, 1_000],
    [1_000_000, 10_000_000],
    [DAY_MS / 10, DAY_MS],
    [DAY_MS / 10 + 1, DAY_MS],
    [DAY_MS, DAY_MS],
  ]) {
    told.length = 0;
    renewed.length = 0;
    wait(trialMs - 1);
    refuse(2);
    expect(told).toEqual([]);
    wait(1);
    refuse(1);
    expect([told, renewed]).toEqual([[REFUSED], []]);
    // What was on its way changes nothing.
    refuse(100);
    wait(pauseMs - 1);
    expect([told, renewed]).toEqual([[REFUSED], []]);
    wait(1);
    expect([told, renewed]).toEqual([[REFUSED, AGAIN], ['is tried again']]);
  }
  health.stop();
});

it('what the only source was found guilty of is not held against it once there is another one', () => {
  const { health, told, renewed, refuse, judge, wait } = oneOfTwo({ isAlone: true });
  refuse(1);
  wait(5_000);
  refuse(11);
  refuse(1);
  wait(5_000);
  refuse(11);
  expect([told.length, renewed.length]).toEqual([1, 1]);
  health.judge = judge;
  // It accepts shares: this is no news, because nobody was told otherwise.
  health.accepted();
  expect(told).toHaveLength(1);
  wait(DAY_MS);
  expect([told.length, renewed.length]).toEqual([1, 1]);
});

it.each([
  [21, 0],
  [22, 1],
])('of %d refusals an acceptance leaves half, so that one more starts %d new sessions', (refusals, sessions) => {
  const { health, renewed, refuse, wait } = oneOfTwo();
  refuse(refusals);
  health.accepted();
  wait(5_000);
  expect(renewed).toEqual([]);
  refuse(1);
  expect(renewed).toHaveLength(sessions);
});
