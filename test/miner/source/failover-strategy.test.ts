/** How long failover waits for a source, and which sources must prove themselves before they are used again. */

import { describe, expect, it } from 'vitest';
import { completed } from '#pickaxe/miner/source/complete-source.js';
import { FailoverStrategy } from '#pickaxe/miner/source/failover-strategy.js';
import type { Standby } from '#pickaxe/miner/source/standby.js';
import { FakeSource, makeWork } from '../../fakes.ts';

const PATIENCE_MS = 2_000;
const READY_MS = 500;

function setUp() {
  const sources = ['a', 'b'].map((name) => completed(Object.assign(new FakeSource(), { name })));
  const strategy = new FailoverStrategy(sources, { patienceMs: PATIENCE_MS, readyPatienceMs: READY_MS });
  const [a, b] = strategy.standbys;
  return { strategy, a, b };
}

const give = (standby: Standby, nowMs: number) => standby.note({ kind: 'work', work: makeWork(100) }, nowMs);
const rest = (standby: Standby, nowMs: number) => standby.note({ kind: 'rest' }, nowMs);
const lose = (standby: Standby, nowMs: number) => standby.note({ kind: 'lost', reason: 'away' }, nowMs);

describe('nothing is waited for', () => {
  it('while the source in use gives work', () => {
    const { strategy, a, b } = setUp();
    give(a, 1_000);
    expect(strategy.waitMs(1_000)).toBeUndefined();
    give(b, 1_000);
    expect(strategy.waitMs(1_000)).toBeUndefined();
    expect(strategy.losePatience(90_000)).toEqual({});
  });

  it('while a preferred source that needs no trial is unhealthy', () => {
    const { strategy, a, b } = setUp();
    lose(a, 0);
    give(b, 0);
    strategy.activate(b, 0);
    a.judge('others', 'stands still');
    give(a, 1_000);
    expect(a.trialMs).toBe(0);
    expect(strategy.takesOver(a, 1_000)).toBe(false);
    expect(strategy.waitMs(1_000)).toBeUndefined();
  });
});

describe('waited for is', () => {
  it('the end of patience: a short time if another source is ready, and a long one if none is', () => {
    const { strategy, a, b } = setUp();
    rest(a, 0);
    expect(strategy.losePatience(1_000)).toEqual({});
    expect(strategy.waitMs(1_100)).toBe(PATIENCE_MS - 100);
    give(b, 1_100);
    expect(strategy.waitMs(1_100)).toBe(READY_MS - 100);
    expect(strategy.losePatience(1_499)).toEqual({});
    expect(strategy.losePatience(1_500)).toEqual({ next: b });
  });

  it('the end of the trial of a preferred source', () => {
    const { strategy, a, b } = setUp();
    for (const atMs of [0, 30_000]) {
      give(a, atMs);
      if (atMs > 0) strategy.activate(a, atMs);
      lose(a, atMs);
      give(b, atMs);
      strategy.activate(b, atMs);
    }
    give(a, 31_000);
    expect(strategy.waitMs(31_000)).toBe(5_000);
    expect(strategy.waitMs(35_999)).toBe(1);
    expect(strategy.takesOver(a, 35_999)).toBe(false);
    expect(strategy.waitMs(36_000)).toBeUndefined();
    expect(strategy.takesOver(a, 36_000)).toBe(true);
  });
});

describe('a source that is replaced a second time', () => {
  const STATES: Record<string, (all: ReturnType<typeof setUp>, nowMs: number) => void> = {
    'only late': ({ a }, nowMs) => rest(a, nowMs),
    'out of reach': ({ a }, nowMs) => lose(a, nowMs),
    'without an answer': ({ a }) => {
      a.isUnresponsive = true;
    },
    'late for too long': ({ strategy, a, b }, nowMs) => {
      rest(a, nowMs);
      rest(b, nowMs);
      strategy.losePatience(nowMs - PATIENCE_MS);
      expect(strategy.losePatience(nowMs)).toEqual({ toStart: a });
      give(b, nowMs);
    },
  };

  it.each([
    ['only late', 9_999, 5_000],
    ['only late', 10_000, 0],
    ['out of reach', 59_999, 5_000],
    ['out of reach', 60_000, 0],
    ['without an answer', 59_999, 5_000],
    ['without an answer', 60_000, 0],
    ['late for too long', 59_999, 5_000],
    ['late for too long', 60_000, 0],
  ])('while it is %s, after %d ms, has a trial of %d ms', (state, afterMs, trialMs) => {
    const all = setUp();
    const { strategy, a, b } = all;
    give(a, 0);
    give(b, 0);
    lose(a, 0);
    strategy.activate(b, 0);
    give(a, 1_000);
    expect(strategy.takesOver(a, 1_000)).toBe(true);
    expect(strategy.activate(a, 1_000)).toEqual({ reason: 'takes over again from b', isBack: true });
    STATES[state](all, afterMs);
    expect(strategy.takesOver(b, afterMs)).toBe(state === 'late for too long');
    const { reason } = strategy.activate(b, afterMs);
    expect(a.trialMs).toBe(trialMs);
    const why = state === 'without an answer' ? ', which does not answer' : '';
    const trial = trialMs === 0 ? '' : ', which must give work for 5 s before it is used again';
    expect(reason).toBe(`takes over from a${why}${trial}`);
  });
});

describe('a source without work', () => {
  it('takes over from no other, however impatient all are, and another one is started', () => {
    const { strategy, a, b } = setUp();
    lose(a, 0);
    give(b, 0);
    strategy.activate(b, 0);
    lose(b, 1_000);
    expect(strategy.takesOver(a, 1_000)).toBe(false);
    expect(strategy.losePatience(1_000)).toEqual({});
    expect(strategy.losePatience(1_000 + PATIENCE_MS)).toEqual({ toStart: a });
    expect(strategy.takesOver(a, 1_000 + PATIENCE_MS)).toBe(false);
    give(a, 4_000);
    expect(strategy.takesOver(a, 4_000)).toBe(true);
  });

  it('has its trial from its first work after it was replaced, and not from an earlier one', () => {
    const { a } = setUp();
    give(a, 0);
    rest(a, 1_000);
    a.replaced(1_000, true);
    give(a, 2_000);
    rest(a, 3_000);
    a.replaced(3_000, true);
    expect([a.trialMs, a.trialLeftMs(3_500)]).toEqual([5_000, 5_000]);
    give(a, 4_000);
    give(a, 5_000);
    expect(a.trialLeftMs(5_000)).toBe(4_000);
  });
});
