/** How long failover waits for a source, and which sources must prove themselves before they are used again. */

import { describe, expect, it } from 'vitest';
import { completed } from '#pickaxe/miner/source/complete-source.js';
import { FailoverStrategy } from '#pickaxe/miner/source/failover-strategy.js';
import type { Standby } from '#pickaxe/miner/source/standby.js';
import { FakeSource, makeWork } from '../../fakes.ts';

const PATIENCE_MS = 2_000;
const READY_MS = 500;

function setUp(names = 'ab') {
  const sources = [...names].map((name) => completed(Object.assign(new FakeSource(), { name })));
  const strategy = new FailoverStrategy(sources, { patienceMs: PATIENCE_MS, readyPatienceMs: READY_MS });
  const [a, b, c] = strategy.standbys;
  return { sources, strategy, a, b, c };
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

describe('the source in use', () => {
  const STATES: [string, (all: ReturnType<typeof setUp>) => void, boolean][] = [
    ['gives work', () => {}, false],
    ['is out of reach', ({ a }) => lose(a, 0), false],
    ['has no work', ({ a }) => rest(a, 0), false],
    ['is unhealthy', ({ a }) => a.judge('others', 'lags'), false],
    [
      'does not answer',
      ({ a }) => {
        a.isUnresponsive = true;
      },
      true,
    ],
    ['was given up', ({ a }) => void a.giveUp({ reason: 'is left' }), true],
    ['was removed', ({ strategy, sources }) => void strategy.change(sources.slice(1)), true],
  ];

  it.each(STATES)('that %s has the usual patience, except if there is nothing to hope for', (_, change, isHopeless) => {
    const all = setUp();
    const { strategy, a, b } = all;
    a.start(
      () => {},
      new AbortController().signal,
      () => {},
    );
    give(a, 0);
    give(b, 0);
    change(all);
    expect(strategy.active).toBe(a);
    const { isUnfit } = a;
    expect(strategy.waitMs(0)).toBe(isUnfit ? (isHopeless ? 0 : READY_MS) : undefined);
    expect(strategy.losePatience(0)).toEqual(isHopeless ? { next: b } : {});
    expect(strategy.losePatience(READY_MS - 1)).toEqual(isHopeless ? { next: b } : {});
    expect(strategy.losePatience(READY_MS)).toEqual(isUnfit ? { next: b } : {});
  });

  it.each(STATES.filter(([, , isHopeless]) => isHopeless))(
    'that %s is followed by the start of the others, one after the other',
    (_, change) => {
      const all = setUp('abc');
      const { strategy, a, b, c } = all;
      const start = (standby: Standby) =>
        standby.start(
          () => {},
          new AbortController().signal,
          () => {},
        );
      start(a);
      give(a, 0);
      change(all);
      expect(strategy.losePatience(0)).toEqual({ toStart: b });
      start(b);
      expect(strategy.losePatience(PATIENCE_MS - 1)).toEqual({});
      expect(strategy.waitMs(PATIENCE_MS - 1)).toBe(1);
      expect(strategy.losePatience(PATIENCE_MS)).toEqual({ toStart: c });
      give(c, PATIENCE_MS);
      expect(strategy.takesOver(c, PATIENCE_MS)).toBe(true);
    },
  );
});

describe('patience', () => {
  it('begins when it is first asked for, and anew once the source in use has given work', () => {
    const { strategy, a } = setUp();
    rest(a, 0);
    expect(strategy.waitMs(700)).toBe(PATIENCE_MS);
    expect(strategy.losePatience(1_000)).toEqual({});
    expect(strategy.waitMs(1_700)).toBe(PATIENCE_MS - 700);
    give(a, 1_800);
    expect(strategy.losePatience(1_800)).toEqual({});
    rest(a, 2_000);
    expect(strategy.losePatience(2_000)).toEqual({});
    expect(strategy.waitMs(2_000)).toBe(PATIENCE_MS);
  });

  it('that has ended is forgotten once the source in use gives work', () => {
    const { strategy, a, b } = setUp();
    rest(a, 0);
    strategy.losePatience(0);
    expect(strategy.losePatience(PATIENCE_MS)).toEqual({ toStart: a });
    give(a, 2_500);
    strategy.losePatience(2_500);
    a.judge('itself', 'refuses all');
    give(b, 2_600);
    expect(strategy.takesOver(b, 2_600)).toBe(false);
    expect(strategy.losePatience(2_600)).toEqual({});
    expect(strategy.losePatience(2_600 + READY_MS)).toEqual({ next: b });
  });

  it('is counted anew for the source that takes over', () => {
    const { strategy, a, b, c } = setUp('abc');
    lose(a, 0);
    strategy.losePatience(0);
    expect(strategy.losePatience(PATIENCE_MS)).toMatchObject({ toStart: a });
    b.judge('others', 'lags');
    give(b, 5_000);
    expect(strategy.takesOver(b, 5_000)).toBe(true);
    strategy.activate(b, 5_000);
    give(c, 5_100);
    expect(strategy.takesOver(c, 5_100)).toBe(false);
    expect(strategy.losePatience(5_100)).toEqual({});
    expect(strategy.waitMs(5_100)).toBe(READY_MS);
  });
});

it('the next source is the first healthy one that gives work, and else the first that gives work', () => {
  const { strategy, a, b, c } = setUp('abc');
  lose(a, 0);
  for (const standby of [b, c]) give(standby, 0);
  b.judge('others', 'lags');
  strategy.losePatience(0);
  expect(strategy.losePatience(READY_MS)).toEqual({ next: c });
  c.judge('others', 'lags');
  expect(strategy.losePatience(READY_MS + PATIENCE_MS)).toEqual({ next: b });
});

it('a source that was given up is not the next to start', () => {
  const { strategy, a, b, c } = setUp('abc');
  a.start(
    () => {},
    new AbortController().signal,
    () => {},
  );
  b.giveUp({ reason: 'is left' });
  strategy.losePatience(0);
  expect(strategy.losePatience(PATIENCE_MS)).toEqual({ toStart: c });
});

it('the sources before and after the one in use are preferred, and others', () => {
  const { strategy, a, b, c } = setUp('abc');
  expect([strategy.preferred, strategy.others]).toEqual([[], [b, c]]);
  strategy.activate(b, 0);
  expect([strategy.preferred, strategy.others]).toEqual([[a], [c]]);
  strategy.activate(c, 0);
  expect([strategy.preferred, strategy.others]).toEqual([[a, b], []]);
});

describe('a source in use that is replaced twice', () => {
  /** What is replaced, by which, in which state; the trial that it needs then; and what is said. */
  it.each([
    ['b', 'c', 'without work', 5_000, 'takes over from b, which must give work for 5 s before it is used again'],
    ['b', 'c', 'unhealthy', 0, 'takes over from b, which is unhealthy'],
    ['b', 'a', 'without work', 0, 'takes over again from b'],
    ['b', 'a', 'unhealthy', 0, 'takes over again from b, which is unhealthy'],
  ])('(%s by %s, while it is %s) has a trial of %d ms', (before, next, state, trialMs, said) => {
    const all = setUp('abc');
    const { strategy } = all;
    const [standby, other] = [before, next].map((name) => all[name as 'a' | 'b' | 'c']);
    const reasons: string[] = [];
    for (const atMs of [0, 1_000]) {
      give(standby, atMs);
      strategy.activate(standby, atMs);
      if (state === 'unhealthy') standby.judge('others', 'lags');
      else lose(standby, atMs);
      give(other, atMs);
      reasons.push(strategy.activate(other, atMs).reason);
    }
    expect([standby.trialMs, reasons[1]]).toEqual([trialMs, said]);
  });

  it('needs a trial that is not mentioned when a preferred source takes over from it, or when it was removed', () => {
    const make = () => {
      const all = setUp('abc');
      const { strategy, b, c } = all;
      b.start(
        () => {},
        new AbortController().signal,
        () => {},
      );
      for (const atMs of [0, 1_000]) {
        give(b, atMs);
        strategy.activate(b, atMs);
        lose(b, atMs);
        strategy.activate(c, atMs);
      }
      give(b, 2_000);
      strategy.activate(b, 2_000);
      expect(b.trialMs).toBe(5_000);
      return all;
    };
    const back = make();
    expect(back.strategy.activate(back.a, 3_000)).toEqual({ reason: 'takes over again from b', isBack: true });
    const removed = make();
    removed.strategy.change([removed.sources[0]]);
    expect(removed.strategy.activate(removed.a, 3_000)).toEqual({
      reason: 'takes over from b, which is no longer configured',
      isBack: false,
    });
    expect(removed.strategy.standbys).toEqual([removed.a]);
    // A source in need of a trial that gives no work is not waited for.
    const { strategy, a, b, c } = make();
    lose(b, 3_000);
    strategy.activate(c, 3_000);
    lose(a, 3_000);
    expect(strategy.waitMs(3_000)).toBe(PATIENCE_MS);
    give(c, 3_000);
    expect(strategy.waitMs(3_000)).toBeUndefined();
  });
});
