/** The waits of the follower of blocks, by a clock that the test advances. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { MemoryStore } from '#pickaxe/node/blocks/block-log.js';
import { type Change, Follower, paceAt } from '#pickaxe/node/blocks/follower.js';
import { madeHeader, madeRecord, PretendNode } from '../../node/blocks/pretend.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A follower with the pace of real networks. */
function following() {
  const node = new PretendNode();
  const store = new MemoryStore();
  const changes: Change[] = [];
  const clock = { ...systemClock, nowUs: () => BigInt(Date.now()) * 1000n, monotonicMs: () => performance.now() };
  const follower = new Follower({
    views: [node],
    store,
    settledDepth: 6,
    clock,
    changed: (change) => changes.push(change),
    pace: paceAt(1),
  });
  const found = (height: bigint) => {
    const record = madeRecord(madeHeader(1, height), { foundMs: Date.now() });
    store.add({ type: 'found', record });
    follower.add(store.block(record.hash)!);
    node.has(1, height, record.hash);
    return record.hash;
  };
  const state = (hash: string) => store.block(hash)!.standing.state;
  const rounds = () => node.asked.filter((what) => what === 'heads').length;
  return { node, follower, found, state, rounds };
}

test('a new block is looked at at once and again soon, although the older ones are only watched now and then', async () => {
  const { node, follower, found, state, rounds } = following();
  const stop = new AbortController();
  const old = found(100n);
  node.headIs(1, 110n);
  const running = follower.run(stop.signal);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(state(old)).toBe('settled');
  await vi.advanceTimersByTimeAsync(20_000);
  const before = rounds();
  const young = found(105n);
  await vi.advanceTimersByTimeAsync(0);
  expect(rounds()).toBe(before + 1);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(state(young)).toBe('won');
  stop.abort();
  await vi.advanceTimersByTimeAsync(0);
  await running;
});

test('while blocks are only watched, two minutes pass from one look to the next', async () => {
  const { node, follower, found, rounds } = following();
  const stop = new AbortController();
  found(100n);
  node.headIs(1, 110n);
  const running = follower.run(stop.signal);
  await vi.advanceTimersByTimeAsync(60_000);
  const seen = rounds();
  const looks: number[] = [];
  for (let s = 0; s < 360; s++) {
    const before = rounds();
    await vi.advanceTimersByTimeAsync(1_000);
    if (rounds() > before) looks.push(s);
  }
  expect([rounds() - seen, looks[1] - looks[0], looks[2] - looks[1]]).toEqual([3, 120, 120]);
  stop.abort();
  await vi.advanceTimersByTimeAsync(0);
  await running;
});
