/** What a node is asked about blocks: only heights that its chain has. */

import { describe, expect, it } from 'vitest';
import type { TrackedBlock } from '#pickaxe/node/blocks/block-index.js';
import { type LedgerView, lookAtBlocks, seekReward } from '#pickaxe/node/blocks/observation.js';
import { madeBlock, madeHeader, PretendNode } from './pretend.ts';

const stop = new AbortController().signal;
const HEAD = 1_000n;

/** A node whose head has this height on each chain, and that answers only what it can know. */
function nodeAt(...chains: number[]) {
  const node = new PretendNode();
  const asked: string[] = [];
  for (const chain of chains) node.headIs(chain, HEAD);
  const view = new Proxy<LedgerView>(node, {
    get: (it, name) => {
      if (name !== 'ancestors') {
        const own = Reflect.get(it, name);
        return typeof own === 'function' ? own.bind(it) : own;
      }
      return async (...args: Parameters<LedgerView['ancestors']>) => {
        const [chain, , from, to] = args;
        asked.push(`${chain}: ${from} to ${to}`);
        if (to > HEAD) throw new Error(`no block of height ${to}`);
        return it.ancestors(...args);
      };
    },
  });
  return { node, view, asked };
}

const blockAt = (height: bigint, chain = 1): TrackedBlock => madeBlock(madeHeader(chain, height));

describe('a node', () => {
  it.each([
    ['at its head', [0n], '1: 1000 to 1000'],
    ['at its head and above', [0n, 1n], '1: 1000 to 1000'],
    ['below, at and above its head', [-1n, 0n, 1n], '1: 999 to 1000'],
    ['below and far above its head', [-1n, 90n], '1: 999 to 999'],
    ['above its head only', [1n, 2n], undefined],
  ])('is not asked above its head about blocks %s', async (_, places, expected) => {
    const { node, view, asked } = nodeAt(1);
    const blocks = places.map((place) => blockAt(HEAD + place));
    for (const { height, hash } of blocks) if (height <= HEAD) node.has(1, height, hash);
    const { looks, fault } = await lookAtBlocks(view, blocks, stop);
    expect(fault).toBeUndefined();
    expect(asked).toEqual(expected === undefined ? [] : [expected]);
    const seen = blocks.map(({ hash }) => looks.get(hash)?.chainHas);
    expect(seen).toEqual(places.map((place) => (place > 0n ? 'not-yet' : 'ours')));
    const depths = blocks.map(({ hash }) => looks.get(hash)).map((look) => look && 'depth' in look && look.depth);
    expect(depths).toEqual(places.map((place) => (place > 0n ? false : Number(-place))));
  });

  it('that has no such chain says nothing about its blocks, and all about those of others', async () => {
    const { view, asked } = nodeAt(1);
    const [known, unknown] = [blockAt(HEAD), blockAt(HEAD, 2)];
    const { looks, fault } = await lookAtBlocks(view, [unknown, known], stop);
    expect([looks.has(known.hash), looks.has(unknown.hash), fault]).toEqual([true, false, undefined]);
    expect(asked).toEqual(['1: 1000 to 1000']);
  });
});

it('whether a node keeps a replaced block is said of those below its head, which can be replaced no more', async () => {
  const { node, view } = nodeAt(1);
  const [below, head, orphaned] = [blockAt(HEAD - 2n), blockAt(HEAD), blockAt(HEAD - 1n)];
  const known = { ...orphaned, standing: { ...orphaned.standing, state: 'orphaned' } } as TrackedBlock;
  for (const { height, hash } of [below, head, orphaned]) node.keeps(1, height, hash);
  const { looks } = await lookAtBlocks(view, [below, head, known], stop);
  expect(looks.get(below.hash)).toMatchObject({ chainHas: 'another', keepsOurs: true });
  for (const { hash } of [head, known]) {
    expect(looks.get(hash)).toMatchObject({ chainHas: 'another' });
    expect(looks.get(hash)).not.toHaveProperty('keepsOurs');
  }
  expect(node.asked.filter((what) => what.startsWith('kept'))).toEqual(['kept 1 998 998']);
});

it('a reward that no node has is no fault', async () => {
  expect(await seekReward(blockAt(HEAD), [nodeAt(1).view, nodeAt(1).view], stop)).toStrictEqual({});
});
