import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { type FailoverOptions, FailoverSource } from '#pickaxe/miner/source/failover.js';
import { updatesOf } from '#pickaxe/miner/source/following.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import type { MockNode } from '#pickaxe/mock-node/mock-node.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { eventually, Follower, mine } from './follow.ts';
import { miner, nodesOf } from './node/node.ts';

const startNode = nodesOf('chainweb');

const PATIENCE_MS = 50;

function setUp(count: number, patience: Partial<FailoverOptions> = {}) {
  const sources = Array.from({ length: count }, () => new FakeSource());
  const recorder = new Recorder();
  const source = new FailoverSource({
    sources,
    emit: recorder.listen,
    patienceMs: PATIENCE_MS,
    readyPatienceMs: PATIENCE_MS,
    ...patience,
  });
  const follower = new Follower(source);
  onTestFinished(() => follower.end());
  /** The header of the latest work, which is the same as the original source's. */
  const current = () => follower.received.at(-1)?.header;
  return { sources, source, follower, recorder, current };
}

describe('FailoverSource', () => {
  it('needs a source', () => {
    expect(() => new FailoverSource({ sources: [] })).toThrow('at least one source');
  });

  it('is of the kind of its sources', () => {
    const pool = () => Object.assign(new FakeSource(), { kind: 'pool' as const });
    expect(new FailoverSource({ sources: [pool(), pool()] }).kind).toBe('pool');
    expect(setUp(2).source.kind).toBe('node');
  });

  it('passes on the updates of the first source, and starts no other', async () => {
    const { sources, follower, current } = setUp(2, { patienceMs: 60_000 });
    const work = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(work.header));
    sources[0].stale();
    const next = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(next.header));
    expect(sources[1].started).toBe(false);
    expect(follower.of('lost')).toHaveLength(0);
  });

  it('passes on a rest, and then the next source takes over', async () => {
    const { sources, follower, current } = setUp(2);
    const work = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(work.header));
    sources[0].rest();
    await eventually(() => expect(follower.of('rest')).toHaveLength(1));
    const other = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(other.header));
    expect(follower.of('stale')).toEqual([]);
  });

  it('changes over when the first is lost for too long, and back when it gives work again', async () => {
    const { sources, follower, current, recorder } = setUp(2);
    sources[0].work(makeWork(100));
    sources[0].lost();
    const second = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(second.header));
    const other = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(other.header));
    const first = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(first.header));
    sources[1].work(makeWork(100));
    sources[1].stale();
    const last = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(last.header));
    // Only works that were given out are named.
    const stale = follower.of('stale').flatMap(({ works }) => works);
    expect(stale.map(({ header }) => header)).toEqual([second.header, other.header]);
    expect(follower.of('lost')).toHaveLength(0);
    expect(recorder.of('source').map(({ reason }) => reason.split(' ')[0])).toEqual(['takes', 'takes']);
  });

  it('changes over when the first never gives work, or gives none after a New Cut', async () => {
    for (const worksBefore of [0, 1]) {
      const { sources, current } = setUp(2);
      for (let i = 0; i < worksBefore; i++) {
        sources[0].work(makeWork(100));
        sources[0].stale();
      }
      const work = sources[1].work(makeWork(100));
      await eventually(() => expect(current()).toBe(work.header));
    }
  });

  it('stays when the first is back with the same work', async () => {
    const { sources, follower, current, recorder } = setUp(2, { patienceMs: 60_000 });
    const work = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(work.header));
    sources[0].lost();
    sources[0].work(work);
    await eventually(() => expect(follower.received).toHaveLength(2));
    expect(follower.received[1]).toBe(follower.received[0]);
    sources[0].stale();
    const next = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(next.header));
    expect(sources[1].started).toBe(false);
    expect(recorder.of('source')).toHaveLength(0);
  });

  it('tries the sources in order, and prefers the first one that is back', async () => {
    const { sources, current } = setUp(3);
    const third = sources[2].work(makeWork(100));
    await eventually(() => expect(current()).toBe(third.header));
    const second = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(second.header));
    sources[2].work(makeWork(100));
    const first = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(first.header));
  });

  it('is lost only when every source is, once', async () => {
    const { sources, follower } = setUp(2);
    sources[0].lost();
    await eventually(() => expect(sources[1].started).toBe(true));
    expect(follower.of('lost')).toHaveLength(0);
    sources[1].lost();
    await eventually(() => expect(follower.of('lost')).toHaveLength(1));
    const work = sources[1].work(makeWork(100));
    await eventually(() => expect(follower.received.at(-1)?.header).toBe(work.header));
  });

  it('passes solutions and questions about time to the source of the work', async () => {
    const { sources, source, follower } = setUp(2);
    sources[0].latestUs = () => 111n;
    sources[1].latestUs = () => 222n;
    sources[0].work(makeWork(100));
    const first = await follower.work();
    sources[0].lost();
    sources[1].work(makeWork(100));
    await eventually(() => expect(follower.received).toHaveLength(2));
    const second = await follower.work();
    for (const [i, work] of [first, second].entries()) {
      const solution = mine(work);
      expect((await source.submit(solution, follower.stop)).outcome).toBe('accepted');
      expect(sources[i].submitted).toEqual([solution]);
      expect(source.latestTimeUs(work)).toBe(i === 0 ? 111n : 222n);
    }
  });

  it('gives the works as their sources made them', async () => {
    const { sources, follower } = setUp(2);
    const first = sources[0].work(makeWork(100));
    await follower.work();
    sources[0].lost();
    const second = sources[1].work(makeWork(100));
    await eventually(() => expect(follower.received).toHaveLength(2));
    expect(follower.received[0]).toBe(first);
    expect(follower.received[1]).toBe(second);
  });

  it('changes over when a node goes down, and back when it is up again', async () => {
    const [first, second] = [await startNode({ seed: 1 }), await startNode({ seed: 2 })];
    const limits = { pollMs: 50, expiryMs: 1_000, fetchPauses: { firstMs: 20, mostMs: 100 } };
    const sources = [first, second].map(
      ({ url }) => new NodeSource({ url, network: 'development', miner }, { limits }),
    );
    const source = new FailoverSource({ sources, patienceMs: PATIENCE_MS, readyPatienceMs: PATIENCE_MS });
    const follower = new Follower(source);
    onTestFinished(() => follower.end());
    const winOn = (node: MockNode) =>
      eventually(async () => {
        await source.submit(mine(await follower.work()), follower.stop);
        expect(node.ledger.stats.accepted).toBeGreaterThan(0);
      });
    await winOn(first.node);
    await first.node.close();
    await winOn(second.node);
    const again = await startNode({ seed: 3, port: Number(new URL(first.url).port) });
    await winOn(again.node);
  });

  it('changes over when the first does not answer, even if it reports no fault and its work is valid', async () => {
    const { sources, follower, current, recorder } = setUp(2, { patienceMs: 60_000, probeMs: 5 });
    let answers = true;
    sources[0].answers = async () => answers;
    const first = sources[0].work(makeWork(100));
    const second = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(first.header));
    expect(sources[1].started).toBe(false);
    answers = false;
    await eventually(() => expect(current()).toBe(second.header));
    expect(recorder.of('source')[0].reason).toMatch(/takes over from .*, which does not answer/);
    // The source answers again, but has not given work yet.
    answers = true;
    const again = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(again.header));
    expect(follower.of('lost')).toHaveLength(0);
  });

  it('goes on to the third when the second gives no work', async () => {
    const { sources, current } = setUp(3, { patienceMs: 20, probeMs: 5 });
    sources[0].work(makeWork(100));
    sources[0].answers = async () => false;
    const third = sources[2].work(makeWork(100));
    await eventually(() => expect(current()).toBe(third.header));
    expect(sources[1].started).toBe(true);
  });

  it('does not wait long when another source has work already', async () => {
    const { sources, current } = setUp(2, { patienceMs: 60_000, readyPatienceMs: 20, probeMs: 5 });
    sources[0].work(makeWork(100));
    let answers = false;
    sources[0].answers = async () => answers;
    const second = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(second.header));
    answers = true;
    const first = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(first.header));
    // A New Cut comes and no work after it. The second source has had work all along.
    sources[0].stale();
    await eventually(() => expect(current()).toBe(second.header));
  });

  it('stays with a source that gives work but does not answer, and with one that misses a single question', async () => {
    const { sources, current } = setUp(2, { patienceMs: 60_000, probeMs: 1 });
    let asked = 0;
    const first = sources[0];
    sources[1].work(makeWork(100));
    let latest = first.work(makeWork(100));
    first.answers = async () => {
      asked++;
      if (asked % 2 === 1) return false;
      if (asked % 4 === 2) return true;
      latest = first.work(makeWork(100));
      await eventually(() => expect(current()).toBe(latest.header));
      return false;
    };
    await eventually(() => expect(asked).toBeGreaterThan(20));
    expect(sources[1].started).toBe(false);
  });

  it('asks no source whether it answers when no other could take over', async () => {
    const { sources, current } = setUp(1, { probeMs: 1 });
    let asked = 0;
    sources[0].answers = async () => ++asked > 0;
    for (let i = 0; i < 20; i++) {
      const work = sources[0].work(makeWork(100));
      await eventually(() => expect(current()).toBe(work.header));
    }
    expect(asked).toBe(0);
  });

  it('changes over when a node freezes, and back when it goes on', async () => {
    const [first, second] = [await startNode({ seed: 1 }), await startNode({ seed: 2 })];
    first.node.ledger.pickChain = () => 3;
    const limits = { probeTimeoutMs: 100, workTimeoutMs: 600, refreshMs: 60_000, pollMs: 60_000 };
    const sources = [first, second].map(
      ({ url }) => new NodeSource({ url, network: 'development', miner }, { limits }),
    );
    const source = new FailoverSource({ sources, probeMs: 20 });
    const follower = new Follower(source);
    onTestFinished(() => follower.end());
    const nameOfLast = () => source.nameOf(follower.received.at(-1)!);
    const isOf = (rank: number) => eventually(() => expect(nameOfLast()).toBe(sources[rank].name));
    await isOf(0);
    await eventually(() => expect(first.node.server.streams.openFor(3)).toBe(1));
    // The node's streams stay open and no work is due, so only the probe can notice.
    first.node.server.faults = [{ endpoint: 'any', kind: 'hang' }];
    await isOf(1);
    first.node.server.faults = [];
    await eventually(() => {
      first.node.ledger.advance(3);
      expect(nameOfLast()).toBe(sources[0].name);
    });
  });

  it('gives the second source its full time when the first does not answer', async () => {
    const { sources } = setUp(3, { patienceMs: 60_000, probeMs: 1 });
    let asked = 0;
    sources[0].work(makeWork(100));
    sources[0].answers = async () => ++asked < 0;
    await eventually(() => expect(sources[1].started).toBe(true));
    const before = asked;
    await eventually(() => expect(asked).toBeGreaterThan(before + 10));
    expect(sources[2].started).toBe(false);
  });

  it('counts a late answer for the source that was asked', async () => {
    const { sources, current } = setUp(3, { probeMs: 1 });
    let answer: ((answers: boolean) => void) | undefined;
    sources[0].answers = () => new Promise((resolve) => (answer = resolve));
    sources[0].work(makeWork(100));
    await eventually(() => expect(answer).toBeDefined());
    sources[0].lost();
    const second = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(second.header));
    let asked = false;
    sources[1].answers = async () => (asked = true);
    sources[0].answers = async () => false;
    answer?.(false);
    await eventually(() => expect(asked).toBe(true));
    expect(sources[2].started).toBe(false);
  });

  it('ends when its sources have ended', async () => {
    const source = new FakeSource();
    let ended = false;
    const follow = source.follow.bind(source);
    source.follow = async (listener, stop) => {
      await follow(listener, stop);
      await new Promise((resolve) => setTimeout(resolve));
      ended = true;
    };
    const follower = new Follower(new FailoverSource({ sources: [source] }));
    source.work(makeWork(100));
    await follower.work();
    await follower.end();
    expect(ended).toBe(true);
  });

  it('submits no solution whose work has no source', async () => {
    const { source } = setUp(1);
    const work = makeWork(100);
    expect((await source.submit(mine(work), AbortSignal.abort())).outcome).toBe('unknown');
    expect(source.latestTimeUs(work)).toBe(0n);
  });
});

describe('patience', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const PATIENCE = { patienceMs: 2_000, readyPatienceMs: 500, probeMs: 1e9 };
  const setUpTimed = (count: number) =>
    setUp(count, { ...PATIENCE, clock: { ...systemClock, nowUs: () => 0n, monotonicMs: () => performance.now() } });

  /** All sources are started and have work, and the first is active. */
  async function allReady(count: number) {
    const all = setUpTimed(count);
    await pass(PATIENCE.patienceMs * (count - 1));
    const handed = all.sources.map(() => makeWork(100));
    for (let i = count - 1; i >= 0; i--) {
      all.sources[i].work(handed[i]);
      await pass(0);
      expect(all.current()).toBe(handed[i].header);
    }
    return { ...all, handed };
  }

  it('ends with work, and begins again with the next need', async () => {
    const { sources, current } = setUpTimed(2);
    const work = sources[0].work(makeWork(100));
    sources[0].lost();
    await pass(PATIENCE.patienceMs - 1);
    sources[0].work(work);
    await pass(60_000);
    sources[0].stale();
    await pass(PATIENCE.patienceMs - 1);
    expect(sources[1].started).toBe(false);
    await pass(1);
    expect(sources[1].started).toBe(true);
    // The first is back before the second has work.
    const next = sources[0].work(makeWork(100));
    await pass(0);
    sources[1].work(makeWork(100));
    await pass(0);
    expect(current()).toBe(next.header);
  });

  it('is long enough for a first source that always comes back in time', async () => {
    const { sources, follower, current, recorder } = setUpTimed(2);
    for (let i = 0; i < 20; i++) {
      sources[0].stale();
      await pass(PATIENCE.patienceMs - 1);
      const work = sources[0].work(makeWork(100));
      await pass(0);
      expect(current()).toBe(work.header);
    }
    expect(sources[1].started).toBe(false);
    expect(follower.of('lost')).toHaveLength(0);
    expect(recorder.of('source')).toHaveLength(0);
  });

  it('applies to each further source, whatever the first says meanwhile', async () => {
    const { sources } = setUpTimed(3);
    await pass(PATIENCE.patienceMs);
    expect(sources[1].started).toBe(true);
    for (let passed = 100; passed < PATIENCE.patienceMs; passed += 100) {
      sources[0].lost();
      await pass(100);
    }
    expect(sources[2].started).toBe(false);
    await pass(100);
    expect(sources[2].started).toBe(true);
  });

  it('is short when another source has work', async () => {
    const { sources, current, handed } = await allReady(2);
    sources[0].stale();
    await pass(PATIENCE.readyPatienceMs - 1);
    expect(current()).toBe(handed[0].header);
    await pass(1);
    expect(current()).toBe(handed[1].header);
  });

  it('ends when another source has taken over, so that a third one does not', async () => {
    const { sources, follower, current, handed } = await allReady(3);
    sources[0].stale();
    await pass(PATIENCE.readyPatienceMs);
    expect(current()).toBe(handed[1].header);
    const { length } = follower.received;
    sources[2].work(makeWork(100));
    await pass(0);
    expect(follower.received).toHaveLength(length);
  });

  it.each([1, 2])('has one timer, and none at the end (%i)', async (count) => {
    const { sources, follower } = setUpTimed(count);
    for (let i = 0; i < 3; i++) sources[0].lost();
    await pass(0);
    // Where there are several sources, the pause between two probes has a timer, too.
    const probes = count > 1 ? 1 : 0;
    expect(vi.getTimerCount()).toBe(1 + probes);
    await follower.end();
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('closes the others after a while when the first is back, and starts them again when they are needed', async () => {
  const { sources, follower, current, recorder } = setUp(2, { standbyMs: 20 });
  sources[0].work(makeWork(100));
  sources[0].lost();
  const second = sources[1].work(makeWork(100));
  await eventually(() => expect(current()).toBe(second.header));
  const first = sources[0].work(makeWork(100));
  await eventually(() => expect(current()).toBe(first.header));
  const told = () => recorder.of('source').map(({ reason }) => reason);
  await eventually(() => expect(told()).toContain('its connection is closed, because fake source gives work again'));
  expect(recorder.of('source').at(-1)).toMatchObject({ state: 'standby' });
  expect(follower.of('stale').map(({ works, reason }) => [works[0].header, reason])).toEqual([
    [second.header, 'cancelled'],
  ]);
  sources[0].lost();
  const again = sources[1].work(makeWork(100));
  await eventually(() => expect(current()).toBe(again.header));
});

it('closes another after a while that was started and never took over', async () => {
  const { sources, current } = setUp(2, { standbyMs: 20 });
  await eventually(() => expect(sources[1].started).toBe(true));
  const first = sources[0].work(makeWork(100));
  await eventually(() => expect(current()).toBe(first.header));
  await eventually(() => expect(sources[1].ended).toBe(true));
});

it('keeps the others on standby where nothing is said about closing them', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { sources, current } = setUp(2);
  await vi.advanceTimersByTimeAsync(PATIENCE_MS);
  expect(sources[1].started).toBe(true);
  const first = sources[0].work(makeWork(100));
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(current()).toBe(first.header);
  expect(sources[1].ended).toBe(false);
});

describe('a source that throws, which it may not,', () => {
  it('is left for good, and another one takes over', async () => {
    const { sources, follower, current, recorder } = setUp(2, { standbyMs: 1 });
    const first = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(first.header));
    sources[0].fail(new Error('a typing error'));
    const second = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(second.header));
    expect(follower.of('stale')).toMatchObject([{ works: [{ header: first.header }], reason: 'cancelled' }]);
    expect(follower.of('lost')).toHaveLength(0);
    const [told] = recorder.of('source');
    expect(told).toMatchObject({ state: 'lost', source: 'fake source' });
    expect(told.reason).toMatch(
      /^has failed \(please report this fault of the program: Error: a typing error\s+at [\s\S]*\) and is left until pickaxe is restarted$/,
    );
    // Though nothing else is left, it is not started again.
    sources[0].started = false;
    sources[1].stale();
    sources[1].lost();
    await eventually(() => expect(follower.of('lost')).toHaveLength(1));
    await new Promise((resolve) => setTimeout(resolve, 3 * PATIENCE_MS));
    expect(sources[0].started).toBe(false);
    const again = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(again.header));
  });

  it('gives its place to the next one at once', async () => {
    const { sources, current } = setUp(2, { patienceMs: 1e9, readyPatienceMs: 1e9 });
    sources[0].fail();
    const second = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(second.header));
  });

  it('ends the updates with what it has thrown when every other one has thrown, too', async () => {
    const sources = [new FakeSource(), new FakeSource()];
    const source = new FailoverSource({ sources, patienceMs: 1, readyPatienceMs: 1 });
    const updates = updatesOf(source, new AbortController().signal);
    sources[0].fail();
    const last = sources[1].fail(new Error('the last'));
    await expect(updates.next()).rejects.toBe(last);
  });

  it('when it is asked whether it answers, is left as well', async () => {
    const { sources, current } = setUp(2, { probeMs: 1 });
    const first = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(first.header));
    sources[0].answers = async () => {
      throw new Error('no such method');
    };
    const second = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(second.header));
    expect(sources[0].ended).toBe(true);
  });

  it('is not the one when a listener throws: that ends the updates', async () => {
    const fault = new Error('no space left on device');
    const emit = () => {
      throw fault;
    };
    const sources = [new FakeSource(), new FakeSource()];
    const source = new FailoverSource({ sources, emit, patienceMs: 1, readyPatienceMs: 1 });
    const updates = updatesOf(source, new AbortController().signal);
    sources[0].lost();
    sources[1].work(makeWork(100));
    await expect(
      (async () => {
        for await (const _ of updates);
      })(),
    ).rejects.toBe(fault);
  });
});

it('waits for the end of a trial for no negative or endless time, whatever the clock says between two readings', async () => {
  const warnings: string[] = [];
  const warned = ({ name }: Error) => void warnings.push(name);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  let nowMs = 0;
  // Each reading is later by most of the first trial, 5 s.
  const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => (nowMs += 3_000) };
  const { sources, current } = setUp(2, { clock, patienceMs: 1, readyPatienceMs: 1, probeMs: 1e9 });
  for (let i = 0; i < 3; i++) {
    const first = sources[0].work(makeWork(100));
    await eventually(() => expect(current()).toBe(first.header));
    sources[0].lost();
    const second = sources[1].work(makeWork(100));
    await eventually(() => expect(current()).toBe(second.header));
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(warnings).toEqual([]);
});
