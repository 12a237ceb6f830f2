/** Sources that are added, removed and reordered while they are used. */

import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { Follower, mine } from './follow.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const named = (name: string) => Object.assign(new FakeSource(), { name });

function setUp(...names: string[]) {
  const sources = names.map(named);
  const recorder = new Recorder();
  const failover = new FailoverSource({ sources, emit: recorder.listen });
  const follower = new Follower(failover);
  onTestFinished(() => follower.end());
  const give = async (source: FakeSource) => {
    const work = source.work(makeWork(100));
    await pass(0);
    return work;
  };
  const current = () => follower.received.at(-1)!;
  const mined = () => failover.nameOf(current());
  const told = () => recorder.of('source').map(({ source, state, reason }) => `${source} ${state}: ${reason}`);
  return { sources, failover, follower, give, current, mined, told };
}

it('mines on a source that was removed until the new one gives work, and has its last solutions answered', async () => {
  const { sources, failover, follower, give, current, mined, told } = setUp('a');
  const [a] = sources;
  await give(a);
  const old = current();
  const b = named('b');
  failover.change([b]);
  await pass(60_000);
  expect([b.started, mined(), a.ended]).toEqual([true, 'a', false]);
  await give(a);
  expect(mined()).toBe('a');
  await give(b);
  expect([mined(), failover.name]).toEqual(['b', 'b']);
  await give(a);
  expect(mined()).toBe('b');
  expect(await failover.submit(mine(old), follower.stop)).toMatchObject({ outcome: 'accepted', by: 'a' });
  expect([a.submitted.length, a.ended]).toEqual([1, false]);
  await pass(2_000);
  expect(a.ended).toBe(true);
  expect(follower.of('stale')).toHaveLength(1);
  expect(told()).toEqual([
    'b info: takes over from a, which is no longer configured',
    'a standby: its connection is closed, because it is no longer configured',
  ]);
});

it('many sources that are replaced at once cause no warning about listeners', async () => {
  const warnings: string[] = [];
  const listen = ({ name }: Error) => warnings.push(name);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  const { sources, failover, give } = setUp(...'abcdefgh');
  await give(sources[0]);
  for (const source of sources) source.lost();
  await pass(60_000);
  expect(sources.every(({ started }) => started)).toBe(true);
  failover.change([named('i')]);
  await pass(10_000);
  expect(warnings).toEqual([]);
});

it('starts a source that was put first, and goes back to the others in the new order', async () => {
  const { sources, failover, give, mined } = setUp('a', 'b');
  const [a, b] = sources;
  await give(a);
  failover.change([b, a]);
  await pass(0);
  expect([b.started, mined()]).toEqual([true, 'a']);
  await give(b);
  expect(mined()).toBe('b');
  expect(failover.name).toBe('b, a');
  failover.judge(0, 'lags');
  await pass(500);
  expect(mined()).toBe('a');
});

it('uses a source that was added as a standby, and asks a lone one for its health from then on', async () => {
  const { sources, failover, give, mined } = setUp('a');
  const [a] = sources;
  const onHealth = vi.fn();
  Object.assign(a, { onHealth });
  await give(a);
  const b = named('b');
  failover.change([a, b]);
  failover.change([a, b]);
  await pass(60_000);
  expect([b.started, onHealth.mock.calls.length]).toEqual([false, 1]);
  a.lost();
  await pass(2_000);
  expect(b.started).toBe(true);
  await give(b);
  expect(mined()).toBe('b');
});

it('ends sources on standby that were removed, and changes as often as it is asked to', async () => {
  const { sources, failover, give, mined } = setUp('a', 'b');
  const [a, b] = sources;
  a.lost();
  await pass(2_000);
  await give(b);
  await give(a);
  expect([mined(), b.ended]).toEqual(['a', false]);
  const [c, d] = ['c', 'd'].map(named);
  failover.change([a, c]);
  failover.change([c]);
  failover.change([d]);
  await pass(2_000);
  expect([b.ended, a.ended, mined()]).toEqual([true, false, 'a']);
  await give(c);
  expect(mined()).toBe('a');
  await give(d);
  expect([mined(), failover.name]).toEqual(['d', 'd']);
  await pass(2_000);
  expect([a.ended, c.ended]).toEqual([true, true]);
});

it('keeps a source that was removed and is added again before another one gave work', async () => {
  const { sources, failover, give, mined } = setUp('a');
  const [a] = sources;
  await give(a);
  const b = named('b');
  failover.change([b]);
  failover.change([a, b]);
  await give(b);
  await pass(60_000);
  expect([mined(), a.ended, failover.name]).toEqual(['a', false, 'a, b']);
});

it('can be changed before it is started, and needs a source', async () => {
  const [a, b] = ['a', 'b'].map(named);
  const failover = new FailoverSource({ sources: [a] });
  failover.change([b]);
  expect(() => failover.change([])).toThrow('at least one source');
  const follower = new Follower(failover);
  onTestFinished(() => follower.end());
  b.work(makeWork(100));
  await pass(0);
  expect(follower.received).toHaveLength(1);
  expect([a.started, b.started]).toEqual([false, true]);
});
