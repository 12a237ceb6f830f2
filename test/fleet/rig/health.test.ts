/** Which verdicts and states make a rig leave a coordinator. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';
import { mine } from '../../miner/source/follow.ts';
import { pass, world } from './world.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a coordinator that is unhealthy from its first state on is mined for only while it is the only one', async () => {
  const { coordinators, mined } = world(['a', 'c']);
  const [a, c] = coordinators;
  a.fault = 'its source stands still';
  a.give();
  await pass(2_000);
  expect(mined()).toBe('a');
  c.give();
  await pass(5_000);
  expect(mined()).toBe('c');
});

it('four refused shares weigh as much as one refused block', async () => {
  const { coordinators, mined, source, follower } = world(['a', 'c']);
  const [a, c] = coordinators;
  a.answer = () => ({ state: 'verdict', outcome: 'rejected', reason: 'it refuses everything' });
  const share = { blockTarget: targetForDifficulty(1e15), until: 'replaced' } as const;
  c.give();
  const refuse = async (work: Work) => {
    a.give(work);
    await pass(2_000);
    expect(mined()).toBe('a');
    void source.submit(mine(follower.received.at(-1) as Work), follower.stop);
    await pass(100);
  };
  for (let block = 0; block < 2; block++) await refuse(makeWork(100));
  for (let each = 0; each < 4; each++) await refuse(makeWork(100, share));
  await pass(3_000);
  expect(mined()).toBe('c');
});
