/** Tests the chains of the mock ledger: that hashes, roots and weights are true, and the requirements for the next block. */

import { expect, it } from 'vitest';
import { WORK_OFFSET } from '#pickaxe/chain/layout.js';
import { integerToTarget, targetForDifficulty } from '#pickaxe/chain/target.js';
import { creationTimeOf } from '#pickaxe/chain/work.js';
import { encodeBase64url } from '#pickaxe/ledger/base64url.js';
import { parseCoinbase } from '#pickaxe/ledger/coinbase.js';
import { checkCut } from '#pickaxe/ledger/cut.js';
import { parseDecimal } from '#pickaxe/ledger/decimal.js';
import { nextEpoch } from '#pickaxe/ledger/difficulty.js';
import { checkAdjacents, knownGraph, onlyGraph } from '#pickaxe/ledger/graphs.js';
import { blockHash } from '#pickaxe/ledger/header.js';
import { rewardOf } from '#pickaxe/ledger/reward.js';
import { tableReward } from '#pickaxe/ledger/reward-table.js';
import { weightAbove } from '#pickaxe/ledger/weight.js';
import { CoinState } from '#pickaxe/mock-node/contract/state.js';
import { NO_TRANSACTIONS } from '#pickaxe/mock-node/contract/transactions.js';
import { Chains } from '#pickaxe/mock-node/ledger/chains.js';
import { cutOf } from '#pickaxe/mock-node/ledger/cut.js';
import { makeFirstBlocks } from '#pickaxe/mock-node/ledger/first-blocks.js';
import { graphFor, isNumberOfChains } from '#pickaxe/mock-node/ledger/graph.js';
import { PayloadMaker } from '#pickaxe/mock-node/ledger/payloads.js';
import { payloadHashOf } from '#pickaxe/mock-node/ledger/referee.js';
import { type MockNodeOptions, optionsSchema } from '#pickaxe/mock-node/options.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';

const START_US = 1_700_000_000_000_000n - 30_000_000n;
const NOW_US = START_US + 30_000_000n;
const SECOND_US = 1_000_000n;
const CHAIN = 4;
const MINER = { account: 'k:a', predicate: 'keys-all', publicKeys: ['a'] };

function ledger(options: MockNodeOptions = {}): Chains {
  const { chains, reward, outputEvents, retargets, firstHeight } = optionsSchema.parse(options);
  const random = seededRandom(3);
  const graph = graphFor(chains);
  const target = targetForDifficulty(100);
  const stateOf = () => new CoinState();
  const first = { graph, version: 5, height: BigInt(firstHeight), timeUs: START_US, target, stateOf };
  const payloads = new PayloadMaker({ reward, outputEvents, chains }, NO_TRANSACTIONS, random);
  return new Chains({ graph, first: makeFirstBlocks(first, random), payloads, random, retargets });
}

const headerOf = (chains: Chains, nowUs = NOW_US, miner = MINER) =>
  chains.work(CHAIN, miner, nowUs).record.subarray(WORK_OFFSET.header);

/** Adds a block to a chain, after those to the chains that it must wait for. */
function grow(chains: Chains, chain: number, nowUs = NOW_US): void {
  const tipUs = chains.tip(chain).header.creationTimeUs;
  for (let behind = chains.laggardOf(chain); behind !== undefined; behind = chains.laggardOf(chain)) {
    chains.addRival(behind, tipUs);
  }
  chains.addRival(chain, nowUs, MINER);
}

it('a block’s time must be after that of its latest parent, on its own chain or an adjacent one', () => {
  for (const parent of [CHAIN, ...ledger().graph[CHAIN]]) {
    const chains = ledger();
    const latestUs = NOW_US - SECOND_US;
    if (parent !== CHAIN) chains.addRival(parent, latestUs);
    chains.addRival(CHAIN, parent === CHAIN ? latestUs : latestUs - SECOND_US);
    for (const other of chains.graph[CHAIN]) if (other !== parent) chains.addRival(other, latestUs - SECOND_US);
    expect(chains.parentTimeUs(CHAIN)).toBe(latestUs);
  }
  const chains = ledger();
  const far = chains.graph.flatMap((_, chain) =>
    chain !== CHAIN && !chains.graph[CHAIN].includes(chain) ? [chain] : [],
  );
  for (const chain of far) chains.addRival(chain, NOW_US);
  for (const chain of [CHAIN, ...chains.graph[CHAIN]]) chains.addRival(chain, NOW_US - SECOND_US);
  expect(chains.parentTimeUs(CHAIN)).toBe(NOW_US - SECOND_US);
});

it('work has the node’s time, or a microsecond after its parents when that clock is behind', () => {
  const chains = ledger();
  const parentUs = chains.parentTimeUs(CHAIN);
  expect(creationTimeOf(headerOf(chains, NOW_US))).toBe(NOW_US);
  expect(creationTimeOf(headerOf(chains, parentUs + 2n))).toBe(parentUs + 2n);
  for (const nowUs of [parentUs + 1n, parentUs, parentUs - SECOND_US]) {
    expect(creationTimeOf(headerOf(chains, nowUs))).toBe(parentUs + 1n);
  }
});

it('a payload belongs to one miner and one block', () => {
  const chains = ledger();
  const payload = (miner = MINER) => encodeBase64url(payloadHashOf(headerOf(chains, NOW_US, miner)));
  const [first, other] = [payload(), payload({ ...MINER, predicate: 'keys-any' })];
  expect(other).not.toBe(first);
  expect(payload()).toBe(first);
  grow(chains, CHAIN);
  for (const neighbour of chains.graph[CHAIN]) chains.addRival(neighbour, NOW_US);
  expect(payload()).not.toBe(first);
});

it('blocks are found by a range of heights, including both ends', () => {
  const chains = ledger();
  for (let i = 0; i < 5; i++) grow(chains, CHAIN);
  const last = chains.heightOf(CHAIN);
  const store = chains.blocksOf(CHAIN);
  expect([...store.between(last - 3n, last - 1n)]).toHaveLength(3);
  expect([...store.between(last + 1n, last + 9n)]).toEqual([]);
  expect([...store.between(0n, 2n ** 64n - 1n)]).toHaveLength(6);
});

it.each([1, 3, 4, 10, 20])('of %i chains, every block is what a client that trusts nobody expects', (count) => {
  const chains = ledger({ chains: count, firstHeight: 0 });
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
      const { reward, fees } = rewardOf(header, payload);
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
    const chains = ledger(options);
    grow(chains, CHAIN);
    const { header, payload } = chains.tip(CHAIN);
    return [rewardOf(header, payload).reward, parseCoinbase(payload.coinbase).transfers?.length];
  };
  const byTable = tableReward(5_000_001n, 20);
  expect(rewardIn({})).toEqual([byTable, 1]);
  expect(rewardIn({ reward: '2.5' })).toEqual([parseDecimal('2.5'), 1]);
  expect(rewardIn({ outputEvents: false })).toEqual([byTable, undefined]);
});

it('sets targets by the time that an epoch took, if that is asked for', () => {
  const chains = ledger({ chains: 1, firstHeight: 118, retargets: true });
  for (const stepS of [30n, 60n]) {
    grow(chains, 0, START_US + stepS * SECOND_US);
  }
  const [before, after] = [...chains.blocksOf(0).between(119n, 120n)];
  expect(before.header.target).toEqual(targetForDifficulty(100));
  // The epoch took 30 s instead of an hour, and the target is at least 1/120 of the one before.
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
  const chains = ledger({ chains: 1, firstHeight: 0 });
  for (let i = 0; i < 520; i++) grow(chains, 0, START_US + BigInt(i) * SECOND_US);
  const store = chains.blocksOf(0);
  expect([store.lowest, store.tip.header.height]).toEqual([21n, 520n]);
  expect([...store.between(0n, 10_000n)]).toHaveLength(500);
  const lowest = store.canonical(21n)!;
  expect([...store.ancestry(store.tip)].at(-1)).toBe(lowest);
  expect(store.payload(encodeBase64url(lowest.header.payloadHash))).toBe(lowest.payload);
});
