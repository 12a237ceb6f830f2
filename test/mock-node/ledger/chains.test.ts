/** Tests the chains of the mock ledger, and the requirements for the next block. */

import { expect, it } from 'vitest';
import { targetForDifficulty } from '#pickaxe/chain/target.js';
import { creationTimeOf, parseWork } from '#pickaxe/chain/work.js';
import { Chains, payloadOf } from '#pickaxe/mock-node/ledger/chains.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';

const NOW_US = 1_700_000_000_000_000n;
const SECOND_US = 1_000_000n;
const CHAIN = 4;

const ledger = () => new Chains(20, 'development', targetForDifficulty(100), NOW_US, seededRandom(3));
const headerOf = (chains: Chains, nowUs = NOW_US, account = 'k:a') =>
  parseWork(chains.work(CHAIN, account, nowUs), { id: 'work' }).header;

it('a block’s time must be after that of its latest parent, on its own chain or an adjacent one', () => {
  for (const parent of [CHAIN, ...ledger().adjacentsOf(CHAIN)]) {
    const chains = ledger();
    const latestUs = NOW_US - SECOND_US;
    // The next block's parents are the tips at the time when the chain last grew.
    if (parent !== CHAIN) chains.append(parent, chains.rivalHeader(parent, latestUs));
    chains.append(CHAIN, chains.rivalHeader(CHAIN, parent === CHAIN ? latestUs : latestUs - SECOND_US));
    expect(chains.parentTimeUs(CHAIN)).toBe(latestUs);
  }
  const chains = ledger();
  const far = Array.from({ length: 20 }, (_, chain) => chain).filter(
    (chain) => chain !== CHAIN && !chains.adjacentsOf(CHAIN).includes(chain),
  );
  for (const chain of far) chains.append(chain, chains.rivalHeader(chain, NOW_US));
  chains.append(CHAIN, chains.rivalHeader(CHAIN, NOW_US - SECOND_US));
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
  const payload = (account: string) => Buffer.from(payloadOf(headerOf(chains, NOW_US, account))).toString('hex');
  const [first, other] = [payload('k:a'), payload('k:b')];
  expect(other).not.toBe(first);
  expect(payload('k:a')).toBe(first);
  chains.append(CHAIN, chains.rivalHeader(CHAIN, NOW_US));
  expect(payload('k:a')).not.toBe(first);
});

it('blocks are found by a range of heights, including both ends', () => {
  const chains = ledger();
  for (let i = 0; i < 5; i++) chains.append(CHAIN, chains.rivalHeader(CHAIN, NOW_US));
  const last = chains.heightOf(CHAIN);
  expect(chains.blocks(CHAIN, last - 3n, last - 1n)).toHaveLength(3);
  expect(chains.blocks(CHAIN, last + 1n, last + 9n)).toEqual([]);
  expect(chains.blocks(CHAIN, 0n, 2n ** 64n - 1n)).toHaveLength(5);
});
