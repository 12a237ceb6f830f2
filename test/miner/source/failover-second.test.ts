/** What failover does with what comes second: a second loss, a second fault, and what comes after the end. */

import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { sharedController } from '#pickaxe/base/system/abort.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { type FailoverOptions, FailoverSource } from '#pickaxe/miner/source/failover.js';
import type { Judge, SourceUpdate } from '#pickaxe/miner/source/source.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { mine } from './follow.ts';

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/**
 * `asked` is the number of times that the source was asked whether it answers, and `replies` has its next answers:
 * after them, it answers. It reports its own health with `judge`.
 */
function named(name: string, kind: 'node' | 'fleet' = 'node') {
  const replies: boolean[] = [];
  const source = Object.assign(new FakeSource(), {
    name,
    kind,
    replies,
    asked: 0,
    judge: (_fault: string | undefined) => {},
    onHealth: (judge: Judge) => {
      source.judge = judge;
    },
  });
  source.answers = async () => {
    source.asked++;
    return replies.shift() ?? true;
  };
  return source;
}

/** Several sources, named `a`, `b`, …, with the default times. */
function setUp(count: number, { kind, ...options }: Partial<FailoverOptions> & { kind?: 'fleet' } = {}) {
  const sources = [...'abcd'.slice(0, count)].map((name) => named(name, kind));
  const recorder = new Recorder();
  const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => performance.now() };
  const failover = new FailoverSource({ sources, emit: recorder.listen, clock, ...options });
  const updates: SourceUpdate[] = [];
  const ending = sharedController();
  let following: Promise<unknown> | undefined;
  const follow = () => {
    following = failover
      .follow((update) => void updates.push(update), ending.signal)
      .then(
        () => 'ended',
        (thrown) => thrown,
      );
  };
  const end = async () => {
    ending.abort();
    await pass(0);
    return await following;
  };
  onTestFinished(async () => {
    await end();
  });
  const give = async (source: FakeSource) => {
    const work = source.work(makeWork(100));
    await pass(0);
    return work;
  };
  const mined = () => {
    const work = updates.flatMap((update) => (update.kind === 'work' ? [update.work] : [])).at(-1);
    return work && failover.nameOf(work);
  };
  const told = () => recorder.of('source').map(({ source, state, reason }) => `${source} ${state}: ${reason}`);
  const started = () => sources.map((source) => source.started && !source.ended);
  return { sources, failover, updates, follow, end, following: () => following, give, mined, told, started, ending };
}

describe('with the usual times', () => {
  it('a second source is started after two seconds without work, and takes over after half a second if it has work', async () => {
    const { sources, follow, give, mined, started } = setUp(2);
    follow();
    await pass(1_999);
    expect(started()).toEqual([true, false]);
    await pass(1);
    expect(started()).toEqual([true, true]);
    const [a, b] = sources;
    await give(a);
    await give(b);
    a.stale();
    await pass(499);
    expect(mined()).toBe('a');
    await pass(1);
    expect(mined()).toBe('b');
  });

  it('a source that was removed stays open for two seconds, and what ends meanwhile is told', async () => {
    const { sources, failover, follow, give, updates, told } = setUp(2);
    const [a, b] = sources;
    follow();
    const first = await give(a);
    failover.change([b]);
    await give(b);
    updates.length = 0;
    a.stale('new-cut', first);
    a.rest();
    await give(a);
    a.lost();
    await pass(1_999);
    expect(updates).toEqual([{ kind: 'stale', works: [first], reason: 'new-cut' }]);
    expect(a.ended).toBe(false);
    await pass(1);
    expect(a.ended).toBe(true);
    expect(told()).toEqual([
      'b info: takes over from a, which is no longer configured',
      'a standby: its connection is closed, because it is no longer configured',
    ]);
  });

  it('a source is asked each second whether it answers, twice if it does not, and another one takes over then', async () => {
    const { sources, follow, give, mined, told } = setUp(2);
    const [a, b] = sources;
    follow();
    await pass(0);
    await give(a);
    await pass(999);
    expect(a.asked).toBe(0);
    await pass(1);
    expect(a.asked).toBe(1);
    a.replies.push(false, true);
    await pass(1_000);
    expect(a.asked).toBe(3);
    expect(told()).toEqual([]);
    a.replies.push(false, false);
    await pass(1_000);
    expect(a.asked).toBe(5);
    await give(b);
    expect([mined(), told()]).toEqual(['b', ['b info: takes over from a, which does not answer']]);
    // From now on the second one is asked.
    await pass(1_000);
    expect([a.asked, b.asked]).toEqual([5, 1]);
  });
});

describe('whether it answers', () => {
  it('a single source is asked only once there is another one', async () => {
    const { sources, failover, follow, give, mined } = setUp(1);
    const [a] = sources;
    follow();
    await give(a);
    await pass(60_000);
    expect(a.asked).toBe(0);
    const b = named('b');
    failover.change([a, b]);
    a.replies.push(false, false);
    await pass(1_000);
    await give(b);
    expect([a.asked, mined()]).toEqual([2, 'b']);
  });

  it('a single source is asked, too, if others act on its faults', async () => {
    const { sources, failover, follow, give } = setUp(1, { isWatched: true });
    const [a] = sources;
    follow();
    await give(a);
    expect(failover.fault).toBeUndefined();
    a.replies.push(false, false);
    await pass(1_000);
    expect([a.asked, failover.fault]).toEqual([2, 'a does not answer']);
    a.judge('refuses solutions');
    expect(failover.fault).toBe('a refuses solutions');
    a.judge(undefined);
    await pass(1_000);
    expect([a.asked, failover.fault]).toEqual([3, undefined]);
  });

  it('no source is asked that was left, nor any after the end', async () => {
    const { sources, failover, follow, give, end } = setUp(2);
    const [a, b] = sources;
    follow();
    await give(a);
    for (const name of ['a', 'b']) failover.leave(name, 'works for another');
    await pass(10_000);
    expect([a.asked, b.asked]).toEqual([0, 0]);
    await end();
    await pass(10_000);
    expect([a.asked, b.asked, vi.getTimerCount()]).toEqual([0, 0, 0]);
  });

  it('a source that gave work while it was asked counts as one that answers', async () => {
    const { sources, follow, give, told } = setUp(2);
    const [a] = sources;
    follow();
    await give(a);
    const replies: ((answers: boolean) => void)[] = [];
    a.answers = () => new Promise((resolve) => replies.push(resolve));
    await pass(1_000);
    await give(a);
    replies[0](false);
    await pass(0);
    replies[1](false);
    await pass(0);
    expect([sources[1].started, told()]).toEqual([false, []]);
  });

  it('a source that is asked at the end is not asked again', async () => {
    const { sources, follow, give, end } = setUp(2);
    const [a] = sources;
    follow();
    await give(a);
    let asked = 0;
    let reply = (_answers: boolean) => {};
    a.answers = () => {
      asked++;
      return new Promise((resolve) => {
        reply = resolve;
      });
    };
    await pass(1_000);
    expect(asked).toBe(1);
    const ended = end();
    reply(false);
    expect(await ended).toBe('ended');
    expect(asked).toBe(1);
  });
});

describe('sources that are changed', () => {
  it('before anybody follows are not started, nor after the end', async () => {
    const { sources, failover, follow, end } = setUp(1);
    const [b, c] = [named('b'), named('c')];
    failover.change([b]);
    await pass(0);
    expect([sources[0].started, b.started]).toEqual([false, false]);
    follow();
    await pass(0);
    expect([sources[0].started, b.started]).toEqual([false, true]);
    await end();
    failover.change([c, b]);
    await pass(60_000);
    expect(c.started).toBe(false);
  });

  it('are told to be closed only if they were open, and not after the end', async () => {
    const { sources, failover, follow, give, told, end } = setUp(3);
    const [a, b] = sources;
    follow();
    await give(a);
    failover.change([a, b]);
    await pass(10_000);
    expect(told()).toEqual([]);
    failover.change([b]);
    await give(b);
    await end();
    await pass(10_000);
    expect(told()).toEqual(['b info: takes over from a, which is no longer configured']);
  });

  it('are judged only while they are configured', async () => {
    const { sources, failover, follow, give, told } = setUp(2);
    const [a, b] = sources;
    follow();
    await give(a);
    failover.change([b]);
    a.judge('refuses all');
    failover.judge(1, 'lags');
    expect(told()).toEqual([]);
  });

  it('take over no more once they are removed, whatever they say until they are closed', async () => {
    const { sources, failover, follow, give, mined, told } = setUp(2, { patienceMs: 100, readyPatienceMs: 100 });
    const [a, b] = sources;
    follow();
    const first = await give(a);
    a.judge('refuses all');
    await pass(100);
    await give(b);
    await pass(100);
    await give(a);
    expect(mined()).toBe('b');
    failover.change([named('c'), b]);
    const { length } = told();
    b.rest();
    await pass(100);
    a.stale('new-cut', first);
    await pass(0);
    expect([mined(), told().length]).toEqual(['b', length]);
  });

  it('of a fleet are no connections', async () => {
    const { sources, failover, follow, give, told } = setUp(2, { kind: 'fleet' });
    const [a, b] = sources;
    follow();
    await give(a);
    failover.change([b]);
    await give(b);
    await pass(2_000);
    expect(told().at(-1)).toBe('a standby: its works are no longer received, because it is no longer configured');
  });
});

describe('sources that are not needed', () => {
  const STANDBY_MS = 10_000;

  it('are closed each time, if they were started', async () => {
    const { sources, follow, give, mined, told, started } = setUp(3, { standbyMs: STANDBY_MS });
    const [a] = sources;
    follow();
    for (let i = 0; i < 2; i++) {
      a.rest();
      await pass(2_000);
      expect(started()).toEqual([true, true, false]);
      await give(a);
      await pass(STANDBY_MS - 1);
      expect([started(), mined()]).toEqual([[true, true, false], 'a']);
      await pass(1);
      expect([started(), told()]).toEqual([
        [true, false, false],
        Array(i + 1).fill('b standby: its connection is closed, because a gives work again'),
      ]);
      for (const source of sources) source.ended = false;
      sources[1].started = false;
    }
  });

  it('stay open while the source in use is in need, and the wait for their end begins again', async () => {
    const { sources, follow, give, started, end } = setUp(2, { standbyMs: STANDBY_MS, patienceMs: 1e6 });
    const [a] = sources;
    follow();
    await pass(1e6);
    expect(started()).toEqual([true, true]);
    await give(a);
    await pass(STANDBY_MS - 1);
    a.rest();
    await pass(1);
    await give(a);
    await pass(STANDBY_MS - 1);
    expect(started()).toEqual([true, true]);
    await pass(1);
    expect(started()).toEqual([true, false]);
    a.rest();
    await pass(1e6);
    await give(a);
    await end();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('sources that are left, or throw,', () => {
  it('are told once, whatever they do then, and unknown ones are none', async () => {
    const { sources, failover, follow, give, told, following } = setUp(2);
    const [a, b] = sources;
    follow();
    await give(a);
    failover.leave('q', 'is unknown');
    failover.leave('a', 'works for another');
    expect([failover.hasLeft(a), failover.hasLeft(b)]).toEqual([true, false]);
    a.fail();
    await give(b);
    b.fail();
    await pass(0);
    expect(told().map((line) => line.slice(0, 18))).toEqual([
      'a lost: works for ',
      'b info: takes over',
      'b lost: has failed',
    ]);
    expect(await Promise.race([following(), 'goes on'])).toBe('goes on');
  });

  it('before anybody follows are lost only when all are', async () => {
    const { sources, failover, follow, give, updates } = setUp(2);
    failover.leave('a', 'works for another');
    follow();
    await pass(0);
    expect(updates).toEqual([]);
    const work = await give(sources[1]);
    expect(updates).toEqual([{ kind: 'work', work }]);
  });

  it.each([
    [new Error('a typing error'), 'Error: a typing error'],
    [Object.assign(new Error('a typing error'), { stack: undefined }), 'a typing error)'],
    ['no words', 'no words)'],
  ])('have what they threw in the report: %s', async (thrown, said) => {
    const { sources, follow, give, mined, told, updates } = setUp(2);
    const [a, b] = sources;
    const first = makeWork(100);
    a.follow = async (listener) => {
      listener({ kind: 'work', work: first });
      throw thrown;
    };
    follow();
    await pass(0);
    await give(b);
    expect(mined()).toBe('b');
    expect(updates[1]).toEqual({ kind: 'stale', works: [first], reason: 'cancelled' });
    expect(told()[0]).toContain(`a lost: has failed (please report this fault of the program: ${said}`);
  });

  it('still get the solutions of their works if they throw, and what the last one has thrown is thrown', async () => {
    const { sources, failover, follow, give, updates, following } = setUp(2);
    const [a, b] = sources;
    follow();
    const first = await give(a);
    a.fail();
    const second = await give(b);
    expect(await failover.submit(mine(first), AbortSignal.abort())).toEqual({
      by: 'a',
      outcome: 'accepted',
      reason: '',
    });
    expect(await failover.submit(mine(second), AbortSignal.abort())).toMatchObject({ by: 'b' });
    const last = b.fail(new Error('the last'));
    await pass(0);
    expect(await following()).toBe(last);
    expect(updates.map(({ kind }) => kind)).toEqual(['work', 'stale', 'work', 'stale']);
  });

  it('give their place to the next one that is started, at once', async () => {
    const { sources, failover, follow, started, updates } = setUp(3);
    follow();
    await pass(0);
    failover.leave('a', 'works for another');
    await pass(0);
    expect(started()).toEqual([false, true, false]);
    for (const source of sources.slice(1)) failover.leave(source.name, 'works for another');
    expect(updates).toEqual([{ kind: 'lost', reason: 'works for another' }]);
  });
});

it('a work of nobody has the names of all, no time, and gets no answer', async () => {
  const { failover } = setUp(2);
  const work = makeWork(100);
  expect([failover.nameOf(work), failover.latestTimeUs(work)]).toEqual(['a, b', 0n]);
  expect(await failover.submit(mine(work), AbortSignal.abort())).toEqual({
    outcome: 'unknown',
    reason: 'no source gave this work',
  });
});

it('the first fault of a listener of events ends all, and nothing is left at the signal', async () => {
  const faults = [new Error('no space left on device'), new Error('still none')];
  const { failover, sources, follow, following, ending, give } = setUp(2, {
    emit: () => {
      throw faults.shift();
    },
  });
  const [first] = faults;
  follow();
  await give(sources[0]);
  expect(getEventListeners(ending.signal, 'abort')).toHaveLength(1);
  for (const name of ['a', 'b']) failover.leave(name, 'works for another');
  expect(await following()).toBe(first);
  expect(getEventListeners(ending.signal, 'abort')).toHaveLength(0);
  expect(vi.getTimerCount()).toBe(0);
});

it('the end waits for all sources, also for those that were removed', async () => {
  const { sources, failover, follow, give, end } = setUp(2);
  const [a, b] = sources;
  const ends: (() => void)[] = [];
  for (const source of sources) {
    const { follow: go } = source;
    source.follow = async (listener, stop) => {
      await go.call(source, listener, stop);
      await new Promise<void>((resolve) => ends.push(resolve));
    };
  }
  follow();
  await give(a);
  failover.change([b]);
  await give(b);
  let hasEnded = false;
  const ended = end().then(() => {
    hasEnded = true;
  });
  await pass(0);
  expect([ends.length, hasEnded]).toEqual([2, false]);
  ends[0]();
  await pass(0);
  expect(hasEnded).toBe(false);
  ends[1]();
  await ended;
});
