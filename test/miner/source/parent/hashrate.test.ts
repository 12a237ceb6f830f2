/** How targets follow the hashrate for a parent that limits the rate of shares. The clock is the test's. */

import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { SourceUpdate } from '#pickaxe/miner/source/source.js';
import { difficultyOf } from '#pickaxe/protocol/chain/target.js';
import { FakeClock } from '../../../rig/status/fakes.ts';
import { turns } from '../../../turns.ts';
import { job, makeHeader, ParentWorld, targetHex } from './parent.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

it('the target of shares follows the average of the last seconds, and a second without hashes is left out', async () => {
  const clock = new FakeClock();
  const world = new ParentWorld(clock);
  const updates: SourceUpdate[] = [];
  const ending = new AbortController();
  const following = world.source.follow((update) => updates.push(update), ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await following;
  });
  const difficulty = () => {
    const update = updates.at(-1);
    return update?.kind === 'work' ? Math.round(difficultyOf(update.work.target)) : undefined;
  };
  /** A second passes, in which the devices try this number of nonces. */
  const second = (hashes: number) => {
    world.hashes += hashes;
    clock.advance(1_000);
    vi.advanceTimersByTime(1_000);
    return difficulty();
  };
  const parent = world.connect();
  parent.say({ type: 'rate', sharesPerSecond: 1 }, job('a', makeHeader(1e9), { target: targetHex(10) }));
  await turns();
  expect(difficulty()).toBe(10);
  // The first second is all that is known.
  expect(second(100_000)).toBe(100_000);
  expect(second(300_000)).toBe(200_000);
  expect(second(0)).toBe(200_000);
  expect(second(0)).toBe(200_000);
  expect(second(600_000)).toBe(400_000);
  expect(second(100_000)).toBe(250_000);
  expect(updates).toHaveLength(5);
});

it('the first second counts only when it is over, and a single hash in it counts', async () => {
  const clock = new FakeClock();
  const world = new ParentWorld(clock);
  const difficulties: number[] = [];
  const ending = new AbortController();
  const following = world.source.follow((update) => {
    if (update.kind === 'work') difficulties.push(Math.round(difficultyOf(update.work.target)));
  }, ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await following;
  });
  const parent = world.connect();
  parent.say({ type: 'rate', sharesPerSecond: 0.001 }, job('a', makeHeader(1e9), { target: targetHex(10) }));
  await turns();
  world.hashes = 1;
  clock.advance(1_000);
  vi.advanceTimersByTime(999);
  expect(difficulties).toEqual([10]);
  vi.advanceTimersByTime(1);
  expect(difficulties).toEqual([10, 1_000]);
  // Another rate counts at once.
  parent.say({ type: 'rate', sharesPerSecond: 0.01 });
  await turns();
  expect(difficulties).toEqual([10, 1_000, 100]);
});
