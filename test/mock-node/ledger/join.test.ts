/** Which blocks of another node's cut a node joins to its own. */

import { expect, it } from 'vitest';
import type { Block } from '#pickaxe/mock-node/ledger/block-store.js';
import type { Chains } from '#pickaxe/mock-node/ledger/chains.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';
import { chainsOf, grow, NOW_US, share } from './nodes.ts';

const idsOf = (blocks: readonly Block[]) => blocks.map(({ id }) => id);
const headsOf = (chains: Chains) => chains.graph.map((_, chain) => chains.tip(chain));

/** Joins another node's cut to the own one. */
function join(theirs: Chains, ours: Chains): void {
  ours.moveTips(ours.joined(share(theirs, ours)));
}

it('the heavier branch is taken, even if it is lower', () => {
  const [heavy, high] = [chainsOf({ chains: 1 }, 7), chainsOf({ chains: 1 }, 8)];
  heavy.target = targetForDifficulty(1_000);
  grow(heavy, 0);
  for (let i = 0n; i < 3n; i++) grow(high, 0, NOW_US - 10n + i);
  expect(heavy.heightOf(0)).toBeLessThan(high.heightOf(0));
  expect(high.joined(share(heavy, high)).map(({ id }) => id)).toEqual([heavy.tip(0).id]);
  expect(heavy.joined(share(high, heavy))).toEqual([]);
  const tops = [...high.blocksOf(0).ancestry(high.tip(0))].slice(0, 3);
  join(heavy, high);
  expect(idsOf(headsOf(high))).toEqual(idsOf(headsOf(heavy)));
  // The blocks above the new tip are orphans now, and still stored.
  const store = high.blocksOf(0);
  expect(tops.map((block) => store.isCanonical(block))).toEqual([false, false, false]);
  expect(tops.map(({ header }) => store.canonical(header.height)?.id)).toEqual([undefined, undefined, heavy.tip(0).id]);
  expect(idsOf([...store.between(store.lowest, store.lowest + 100n)])).toEqual(
    expect.arrayContaining(idsOf([...tops, heavy.tip(0)])),
  );
});

it('the blocks that become canonical are those that were not, lowest first', () => {
  const [theirs, ours] = [chainsOf({ chains: 1 }, 7), chainsOf({ chains: 1 }, 8)];
  const first = grow(theirs, 0, NOW_US - 5n);
  join(theirs, ours);
  const more = [4n, 3n].map((beforeUs) => grow(theirs, 0, NOW_US - beforeUs));
  const joined = ours.joined(share(theirs, ours));
  expect(idsOf(ours.notCanonical(joined))).toEqual(idsOf(more));
  expect(idsOf(ours.notCanonical([ours.tip(0)]))).toEqual([]);
  ours.moveTips(joined);
  expect([first, ...more].every(({ id }) => ours.isCanonical(0, id))).toBe(true);
});

it('of two branches of the same weight the higher one is taken, whatever their hashes are', () => {
  for (let seed = 10; seed < 20; seed++) {
    const [low, high] = [chainsOf({ chains: 1 }, seed), chainsOf({ chains: 1 }, seed + 100)];
    low.target = targetForDifficulty(256);
    high.target = targetForDifficulty(128);
    grow(low, 0);
    for (let i = 0n; i < 2n; i++) grow(high, 0, NOW_US - 10n + i);
    expect(low.tip(0).header.weight).toBe(high.tip(0).header.weight);
    expect(idsOf(low.joined(share(high, low)))).toEqual([high.tip(0).id]);
    expect(high.joined(share(low, high))).toEqual([]);
  }
});

it('an own block stays on top of the other cut only if its neighbours are in that cut, too', () => {
  const [theirs, ours] = [chainsOf({ chains: 3 }, 7), chainsOf({ chains: 3 }, 8)];
  // Both nodes have the same block on chain 0.
  grow(theirs, 0);
  join(theirs, ours);
  const [shared] = headsOf(ours);
  // The own block above it builds on own blocks of the other chains. On each of these, the other node has two blocks.
  const own = [1, 2, 0].map((chain) => grow(ours, chain)).at(-1)!;
  expect(own.header.parent).toEqual(shared.hash);
  for (const chain of [1, 2]) grow(theirs, chain, NOW_US - 1n);
  for (const chain of [1, 2]) grow(theirs, chain);
  join(theirs, ours);
  expect(idsOf(headsOf(ours))).toEqual(idsOf(headsOf(theirs)));
  expect(headsOf(ours)[0].id).toBe(shared.id);
  expect(ours.isCanonical(0, own.id)).toBe(false);
});

it('heads that do not build on each other are no cut', () => {
  const [theirs, ours] = [chainsOf({ chains: 3 }, 7), chainsOf({ chains: 3 }, 8)];
  for (const chain of [0, 1, 2, 0, 1, 2]) grow(theirs, chain, NOW_US);
  const heads = share(theirs, ours);
  expect(idsOf(ours.joined(heads))).toEqual(idsOf(heads));
  // A head of chain 0 that is two blocks old, below the block on which its neighbours build.
  const [first] = [...ours.blocksOf(0).between(0n, heads[0].header.height)];
  expect(() => ours.joined([first, ...heads.slice(1)])).toThrow(LedgerFormatError);
  // A head of chain 0 on another branch than that on which its neighbours build.
  const [other] = ours.graph.map((_, chain) => grow(ours, chain));
  expect(() => ours.joined([other, ...heads.slice(1)])).toThrow('the heads are no cut');
});
