/** The checks of other nodes' blocks, and the messages for wrong ones. */

import { describe, expect, it } from 'vitest';
import { payloadSize, rootsOf } from '#pickaxe/mock-node/ledger/block-store.js';
import type { MockNodeOptions } from '#pickaxe/mock-node/options.js';
import { integerToTarget } from '#pickaxe/protocol/chain/target.js';
import { weightAbove } from '#pickaxe/protocol/ledger/difficulty.js';
import { type BlockHeader, encodeHeader } from '#pickaxe/protocol/ledger/header.js';
import { LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';
import type { PayloadWithOutputs } from '#pickaxe/protocol/ledger/payload.js';
import { chainsOf, grow, MINER, NOW_US, START_US } from './nodes.ts';

const CHAIN = 4;
const HEIGHT = 5_000_001n;
const encode = (text: string) => new TextEncoder().encode(text);

/** Another node's block, and the receiving node, which already has the neighbours' blocks of the same height. */
function setUp(options: MockNodeOptions = {}) {
  const [theirs, ours] = [chainsOf(options, 7), chainsOf(options, 8)];
  const block = theirs.addRival(CHAIN, NOW_US, MINER);
  const beside = theirs.graph[CHAIN].map((chain) => {
    const { bytes, payload } = theirs.addRival(chain, NOW_US - 1n, MINER);
    return ours.receive(bytes, payload, NOW_US);
  });
  const receive = (header: BlockHeader, payload: PayloadWithOutputs = block.payload) =>
    ours.receive(encodeHeader(header), payload, NOW_US);
  return { ours, theirs, block, beside, receive };
}

/** Makes wrong fields for a valid header. */
type Wrong = (header: BlockHeader, set: ReturnType<typeof setUp>) => Partial<BlockHeader>;

const weightOf = (target: Uint8Array, { ours }: ReturnType<typeof setUp>) => ({
  target,
  weight: weightAbove(ours.tip(CHAIN).header, target),
});

const WRONG: readonly [string, Wrong, RegExp][] = [
  ['a weight that is too high', ({ weight }) => ({ weight: weight + 1n }), /^header\.weight: /],
  ['the weight of its parent', ({ weight }) => ({ weight: weight - 100n }), /^header\.weight: /],
  ['a target of 0', () => ({ target: new Uint8Array(32) }), /^header\.target: must not be 0$/],
  [
    'neighbours of its own height',
    ({ adjacents }, { beside }) => ({
      adjacents: adjacents.map(({ chain }, i) => ({ chain, hash: beside[i].hash })),
    }),
    /^header\.height of the adjacent on chain \d+: is 5000001, but must be 5000000$/,
  ],
  [
    'one neighbour of its own height',
    ({ adjacents }, { beside }) => ({
      adjacents: adjacents.map((it, i) => (i === 2 ? { chain: it.chain, hash: beside[2].hash } : it)),
    }),
    /^header\.height of the adjacent on chain \d+: is 5000001, but must be 5000000$/,
  ],
  ['neighbours in another order', ({ adjacents }) => ({ adjacents: adjacents.toReversed() }), /not in ascending order/],
  ['a neighbour less', ({ adjacents }) => ({ adjacents: adjacents.slice(1) }), /^a parent is not known$/],
  [
    'a chain as neighbour that is none',
    ({ adjacents: [first, ...others] }, { ours }) => {
      const [stranger] = [...ours.graph.keys()].filter((it) => it !== CHAIN && !ours.graph[CHAIN].includes(it));
      return {
        adjacents: [{ chain: stranger, hash: ours.tip(stranger).hash }, ...others].filter((it) => it !== first),
      };
    },
    /^header\.adjacents: /,
  ],
  [
    'a neighbour’s block that nobody knows',
    ({ adjacents: [first, ...others] }) => ({ adjacents: [{ ...first, hash: new Uint8Array(32) }, ...others] }),
    /^a parent is not known$/,
  ],
  ['a parent that nobody knows', () => ({ parent: new Uint8Array(32) }), /^a parent is not known$/],
  ['another height', () => ({ height: HEIGHT + 1n }), /^a parent is not known$/],
  ['another chain', () => ({ chain: 5 }), /^a parent is not known$/],
  ['a chain that does not exist', () => ({ chain: 99 }), /^a parent is not known$/],
  ['another version', () => ({ version: 7 }), /^header\.version: /],
  ['another start of its epoch', ({ epochStartUs }) => ({ epochStartUs: epochStartUs + 1n }), /^header\.epochStart: /],
  ['the time of its parents', () => ({ creationTimeUs: START_US }), /^header\.creationTime: /],
  ['a time in the future', () => ({ creationTimeUs: NOW_US + 1n }), /^header\.creationTime: /],
];

describe('a block of another node is refused with', () => {
  it.each(WRONG)('%s', (_, change, reason) => {
    const set = setUp();
    const wrong = { ...set.block.header, ...change(set.block.header, set) };
    expect(() => set.receive(wrong)).toThrow(LedgerFormatError);
    expect(() => set.receive(wrong)).toThrow(reason);
    const { ours } = set;
    expect([...ours.blocksOf(CHAIN).between(HEIGHT, HEIGHT + 10n)]).toEqual([]);
    expect(ours.heightOf(CHAIN)).toBe(HEIGHT - 1n);
  });

  it('another target than the ledger sets, if it sets them', () => {
    const other = integerToTarget(2n ** 250n);
    const set = setUp();
    expect(set.receive({ ...set.block.header, ...weightOf(other, set) }).header.target).toEqual(other);
    const strict = setUp({ retargets: true });
    expect(() => strict.receive({ ...strict.block.header, ...weightOf(other, strict) })).toThrow(/^header\.target: /);
    expect(strict.receive(strict.block.header).id).toBe(strict.block.id);
  });
});

const PAYLOADS: readonly [string, (right: PayloadWithOutputs) => PayloadWithOutputs, RegExp][] = [
  [
    // Each node writes other logs, so only the roots show the change.
    'other logs',
    (right) => {
      const text = Buffer.from(right.coinbase).toString();
      return { ...right, coinbase: encode(text.replace(/"logs":"[^"]+"/, `"logs":"${'A'.repeat(43)}"`)) };
    },
    /hash/i,
  ],
  [
    'another miner',
    (right) => ({ ...right, minerData: encode('{"account":"k:b","predicate":"keys-all","public-keys":["b"]}') }),
    /hash/i,
  ],
  ['a transaction more', (right) => ({ ...right, transactions: [encode('{}')], outputs: [encode('{}')] }), /hash/i],
  [
    'too many bytes',
    (right) => ({ ...right, transactions: [new Uint8Array(1024 * 1024)] }),
    /^a payload has more than/,
  ],
];

describe('a payload of another node is refused with', () => {
  it.each(PAYLOADS)('%s', (_, change, reason) => {
    const { receive, block, ours } = setUp();
    const right: PayloadWithOutputs = block.payload;
    const wrong = change(right);
    expect(wrong).not.toEqual(right);
    expect(() => receive(block.header, wrong)).toThrow(LedgerFormatError);
    expect(() => receive(block.header, wrong)).toThrow(reason);
    // Roots that fit the wrong payload do not match the header.
    expect(() => receive(block.header, { ...wrong, ...rootsOf(wrong) })).toThrow(LedgerFormatError);
    expect(ours.blocksOf(CHAIN).get(block.id)).toBeUndefined();
    expect(receive(block.header).id).toBe(block.id);
  });
});

it('a payload may have 1 MiB', () => {
  const { receive, block } = setUp();
  const rest = payloadSize(block.payload);
  const withBytes = (bytes: number) => ({ ...block.payload, transactions: [new Uint8Array(bytes - rest)] });
  expect(() => receive(block.header, withBytes(2 ** 20))).toThrow(/hash to/);
  expect(() => receive(block.header, withBytes(2 ** 20 + 1))).toThrow('a payload has more than 1048576 bytes');
});

it('a block that is right is taken beside the own ones, once', () => {
  const { receive, block, ours } = setUp();
  expect(receive(block.header).id).toBe(block.id);
  expect(receive(block.header).id).toBe(block.id);
  expect([...ours.blocksOf(CHAIN).between(HEIGHT, HEIGHT)].map(({ id }) => id)).toEqual([block.id]);
  expect(ours.isCanonical(CHAIN, block.id)).toBe(false);
});

it('orphans have a bound, and there is room again once they are forgotten', () => {
  const chains = chainsOf({ chains: 1, firstHeight: 0 });
  grow(chains, 0);
  const { header, payload } = chains.tip(0);
  const orphan = (nonce: bigint) => chains.addOrphan(encodeHeader({ ...header, nonce }), payload);
  let added = 0;
  while (orphan(BigInt(added) + 1n)) added++;
  expect(added).toBeGreaterThan(2_500);
  expect(added).toBeLessThan(4_500);
  expect([...chains.blocksOf(0).between(1n, 1n)]).toHaveLength(added + 1);
  const other = chainsOf({ chains: 1, firstHeight: 0 }, 9);
  const theirs = other.addRival(0, NOW_US);
  expect(() => chains.receive(theirs.bytes, theirs.payload, NOW_US)).toThrow('too many blocks beside its own');
  // The own chain continues.
  for (let i = 0; i < 501; i++) grow(chains, 0, NOW_US + BigInt(i + 1));
  expect(orphan(0n)).toBeUndefined();
  const { header: tip, payload: latest } = chains.tip(0);
  expect(chains.addOrphan(encodeHeader({ ...tip, nonce: 1n }), latest)).toBeDefined();
});
