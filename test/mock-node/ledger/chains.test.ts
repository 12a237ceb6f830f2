/** The chains of the mock ledger: valid hashes, roots and weights, and the requirements for the next block. */

import { expect, it } from 'vitest';
import type { Block } from '#pickaxe/mock-node/ledger/block-store.js';
import { type Chains, cutOf } from '#pickaxe/mock-node/ledger/chains.js';
import { payloadHashOf } from '#pickaxe/mock-node/ledger/referee.js';
import { graphFor, isNumberOfChains, type MockNodeOptions } from '#pickaxe/mock-node/options.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { WORK_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { integerToTarget, targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { creationTimeOf } from '#pickaxe/protocol/chain/work.js';
import { checkCut } from '#pickaxe/protocol/ledger/cut.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { nextEpoch, weightAbove } from '#pickaxe/protocol/ledger/difficulty.js';
import { checkAdjacents, knownGraph, onlyGraph } from '#pickaxe/protocol/ledger/graphs.js';
import { blockHash, parseHeader } from '#pickaxe/protocol/ledger/header.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { parseCoinbase } from '#pickaxe/protocol/ledger/payload.js';
import { tableReward } from '#pickaxe/protocol/ledger/reward.js';
import { provenReward } from '../../protocol/ledger/proven-reward.ts';
import { chainsOf, grow, MINER, NOW_US, START_US } from './nodes.ts';

const SECOND_US = 1_000_000n;
const CHAIN = 4;

const headerOf = (chains: Chains, nowUs = NOW_US, miner = MINER) =>
  chains.work(CHAIN, miner, nowUs).record.subarray(WORK_OFFSET.header);

it('a block’s time must be after that of its latest parent, on its own chain or an adjacent one', () => {
  for (const parent of [CHAIN, ...chainsOf().graph[CHAIN]]) {
    const chains = chainsOf();
    const latestUs = NOW_US - SECOND_US;
    if (parent !== CHAIN) chains.addRival(parent, latestUs);
    chains.addRival(CHAIN, parent === CHAIN ? latestUs : latestUs - SECOND_US);
    for (const other of chains.graph[CHAIN]) if (other !== parent) chains.addRival(other, latestUs - SECOND_US);
    expect(chains.parentTimeUs(CHAIN)).toBe(latestUs);
  }
  const chains = chainsOf();
  const far = chains.graph.flatMap((_, chain) =>
    chain !== CHAIN && !chains.graph[CHAIN].includes(chain) ? [chain] : [],
  );
  for (const chain of far) chains.addRival(chain, NOW_US);
  for (const chain of [CHAIN, ...chains.graph[CHAIN]]) chains.addRival(chain, NOW_US - SECOND_US);
  expect(chains.parentTimeUs(CHAIN)).toBe(NOW_US - SECOND_US);
});

it('work has the node’s time, or a microsecond after its parents when that clock is behind', () => {
  const chains = chainsOf();
  const parentUs = chains.parentTimeUs(CHAIN);
  expect(creationTimeOf(headerOf(chains, NOW_US))).toBe(NOW_US);
  expect(creationTimeOf(headerOf(chains, parentUs + 2n))).toBe(parentUs + 2n);
  for (const nowUs of [parentUs + 1n, parentUs, parentUs - SECOND_US]) {
    expect(creationTimeOf(headerOf(chains, nowUs))).toBe(parentUs + 1n);
  }
});

it('a payload belongs to one miner and one block', () => {
  const chains = chainsOf();
  const payload = (miner = MINER) => encodeBase64url(payloadHashOf(headerOf(chains, NOW_US, miner)));
  const [first, other] = [payload(), payload({ ...MINER, predicate: 'keys-any' })];
  expect(other).not.toBe(first);
  expect(payload()).toBe(first);
  chains.refreshPayload(CHAIN + 1);
  expect(payload()).toBe(first);
  chains.refreshPayload(CHAIN);
  expect(payload()).not.toBe(first);
  grow(chains, CHAIN);
  for (const neighbour of chains.graph[CHAIN]) chains.addRival(neighbour, NOW_US);
  expect(payload()).not.toBe(first);
});

it('blocks are found by a range of heights, including both ends', () => {
  const chains = chainsOf();
  for (let i = 0; i < 5; i++) grow(chains, CHAIN);
  const last = chains.heightOf(CHAIN);
  const store = chains.blocksOf(CHAIN);
  expect([...store.between(last - 3n, last - 1n)]).toHaveLength(3);
  expect([...store.between(last + 1n, last + 9n)]).toEqual([]);
  expect([...store.between(0n, 2n ** 64n - 1n)]).toHaveLength(6);
});

it.each([1, 3, 4, 10, 20])('of %i chains, every block is what a client that trusts nobody expects', (count) => {
  const chains = chainsOf({ chains: count, firstHeight: 0 });
  const random = seededRandom(1);
  for (let i = 0; i < 60; i++) grow(chains, Math.floor(random() * count), NOW_US + BigInt(i) * SECOND_US);
  for (const chain of chains.graph.keys()) {
    const store = chains.blocksOf(chain);
    for (const block of [...store.between(1n, 1000n)]) {
      const { header, payload } = block;
      const parent = store.parentOf(block)!;
      const adjacents = header.adjacents.map((it) => {
        return chains.blocksOf(it.chain).get(encodeBase64url(it.hash))!.header;
      });
      expect(() => checkAdjacents(header, chains.graph)).not.toThrow();
      expect([parent.header, ...adjacents].map(({ height }) => height)).toEqual(
        Array(chains.graph[chain].length + 1).fill(header.height - 1n),
      );
      expect(block.hash).toEqual(blockHash(header));
      expect(header.weight).toBe(weightAbove(parent.header, header.target));
      expect(header.epochStartUs).toBe(nextEpoch(parent.header, adjacents).epochStartUs);
      expect(header.creationTimeUs).toBeGreaterThan(parent.header.creationTimeUs);
      const { reward, fees } = provenReward(header, payload);
      expect([reward, fees]).toEqual([tableReward(header.height, count), 0n]);
    }
  }
  const cut = cutOf(chains, { origin: null, network: 'mainnet01', blocksBack: 0 });
  expect(() => checkCut(cut, onlyGraph(chains.graph))).not.toThrow();
  const before = cutOf(chains, { origin: null, network: 'mainnet01', blocksBack: 1 });
  expect(() => checkCut(before, onlyGraph(chains.graph))).not.toThrow();
});

it('pays by the table or a fixed amount, with events or without', () => {
  const rewardIn = (options: MockNodeOptions) => {
    const chains = chainsOf(options);
    grow(chains, CHAIN);
    const { header, payload } = chains.tip(CHAIN);
    return [provenReward(header, payload).reward, parseCoinbase(payload.coinbase).transfers?.length];
  };
  const byTable = tableReward(5_000_001n, 20);
  expect(rewardIn({})).toEqual([byTable, 1]);
  expect(rewardIn({ reward: '2.5' })).toEqual([parseDecimal('2.5'), 1]);
  expect(rewardIn({ outputEvents: false })).toEqual([byTable, undefined]);
});

it('sets targets by the time that an epoch took, if that is asked for', () => {
  const chains = chainsOf({ chains: 1, firstHeight: 118, retargets: true });
  for (const stepS of [30n, 60n]) {
    grow(chains, 0, START_US + stepS * SECOND_US);
  }
  const [before, after] = [...chains.blocksOf(0).between(119n, 120n)];
  expect(before.header.target).toEqual(targetForDifficulty(100));
  // The epoch took 30 s instead of an hour, and the new target is at least 1/120 of the old one.
  const { target, epochStartUs } = nextEpoch(before.header, []);
  expect(after.header.target).toEqual(target);
  expect(after.header.epochStartUs).toBe(epochStartUs);
  expect(target).not.toEqual(before.header.target);
  expect(integerToTarget(0n)).not.toEqual(target);
});

it('numbers of chains that no network has get a graph in which each has three neighbours', () => {
  expect([1, 2, 3, 4, 5, 6, 10, 20, 21, 22].filter(isNumberOfChains)).toEqual([1, 3, 4, 6, 10, 20]);
  for (const count of [4, 6, 8, 12, 14, 16, 18]) {
    expect(graphFor(count).map((neighbours) => neighbours.length)).toEqual(Array(count).fill(3));
  }
  expect(graphFor(20)).toBe(knownGraph(20));
});

it('forgets the oldest blocks, and keeps 500 heights', () => {
  const chains = chainsOf({ chains: 1, firstHeight: 0 });
  const store = chains.blocksOf(0);
  grow(chains, 0, START_US);
  const early = chains.tip(0);
  const hashOf = ({ header }: Block) => encodeBase64url(header.payloadHash);
  expect(store.payload(hashOf(early))).toBe(early.payload);
  for (let i = 1; i < 520; i++) grow(chains, 0, START_US + BigInt(i) * SECOND_US);
  expect([store.get(early.id), store.payload(hashOf(early)), store.canonical(1n)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect([store.lowest, store.tip.header.height]).toEqual([21n, 520n]);
  expect([...store.between(0n, 10_000n)]).toHaveLength(500);
  const lowest = store.canonical(21n)!;
  expect([...store.ancestry(store.tip)].at(-1)).toBe(lowest);
  expect(store.payload(hashOf(lowest))).toBe(lowest.payload);
});

it('a tip that goes back leaves orphans above it, which are still listed', () => {
  const chains = chainsOf({ chains: 1, firstHeight: 0 });
  const blocks = [1n, 2n, 3n].map((i) => grow(chains, 0, START_US + i));
  expect([...chains.remove(blocks[1])]).toEqual([[0, 2]]);
  const store = chains.blocksOf(0);
  expect([1n, 2n, 3n].map((height) => store.canonical(height)?.id)).toEqual([blocks[0].id, undefined, undefined]);
  expect(blocks.map((block) => store.isCanonical(block))).toEqual([true, false, false]);
  expect([...store.between(1n, 10n)].map(({ id }) => id)).toEqual(blocks.map(({ id }) => id));
  grow(chains, 0, START_US + 4n);
  expect([...store.between(2n, 10n)].map((block) => store.isCanonical(block))).toEqual([false, true, false]);
});

it('a block that is removed takes along those that build on it, and no others', () => {
  const chains = chainsOf();
  for (const chain of chains.graph.keys()) grow(chains, chain);
  const block = chains.tip(CHAIN);
  const [near] = chains.graph[CHAIN];
  const far = chains.graph.findIndex((others, chain) => chain !== CHAIN && !others.includes(CHAIN));
  for (const chain of [near, far]) grow(chains, chain);
  const next = () => parseHeader(headerOf(chains));
  grow(chains, CHAIN);
  for (const chain of chains.graph[CHAIN]) if (chain !== near) grow(chains, chain);
  expect(next().height).toBe(5_000_003n);
  const lost = chains.remove(block);
  expect(Object.fromEntries(lost)).toEqual({
    [CHAIN]: 2,
    ...Object.fromEntries(chains.graph[CHAIN].map((chain) => [chain, 1])),
  });
  expect(chains.heightOf(far)).toBe(5_000_002n);
  // The next work builds on the new tip.
  expect(next().height).toBe(5_000_001n);
});

it('the cut of long ago has the oldest blocks', () => {
  const chains = chainsOf({ chains: 3, firstHeight: 7 });
  for (const chain of [0, 1, 2]) grow(chains, chain);
  const heightsOf = (blocksBack: number) => {
    const { heads } = cutOf(chains, { origin: null, network: 'mainnet01', blocksBack });
    return [...heads.values()].map(({ height }) => height);
  };
  expect([0, 1, 2, 9].map(heightsOf)).toEqual([
    [8n, 8n, 8n],
    [7n, 7n, 7n],
    [7n, 7n, 7n],
    [7n, 7n, 7n],
  ]);
});

it('a coinbase has logs as long as a hash, and other ones in each payload', () => {
  const chains = chainsOf({ chains: 1 });
  const logs = [1n, 2n].map((i) => {
    const { payload } = grow(chains, 0, NOW_US + i);
    return JSON.parse(Buffer.from(payload.coinbase).toString()).logs;
  });
  for (const each of logs) expect(each).toMatch(/^[\w-]{43}$/);
  expect(logs[0]).not.toBe(logs[1]);
});
