/** The oldest blocks of a mock node: nodes with the same options and seed must begin with the same ones. */

import { expect, it } from 'vitest';
import { ChainState } from '#pickaxe/mock-node/execution/chain-state.js';
import { NO_TRANSACTIONS } from '#pickaxe/mock-node/execution/transactions.js';
import { makeChains, makeFirstBlocks } from '#pickaxe/mock-node/ledger/first-blocks.js';
import { graphFor, type MockNodeOptions, optionsSchema } from '#pickaxe/mock-node/options.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { blockHash } from '#pickaxe/protocol/ledger/header.js';
import { payloadWithOutputsToJson } from '#pickaxe/protocol/ledger/payload.js';

const NOW_US = 1_700_000_000_000_000n;
const stateOf = () => new ChainState();

it('have the same parents, which nobody knows, and the height as their weight', () => {
  const target = targetForDifficulty(7);
  const first = { graph: graphFor(4), version: 9, height: 11n, timeUs: 13n, target, stateOf };
  const blocks = makeFirstBlocks(first, seededRandom(1));
  const parents = blocks.map(({ header }) => header.parent);
  expect(new Set(parents.map((parent) => Buffer.from(parent).toString('hex'))).size).toBe(4);
  for (const [chain, { header, hash, payload }] of blocks.entries()) {
    expect(header).toEqual({
      featureFlags: 0n,
      creationTimeUs: 13n,
      parent: parents[chain],
      adjacents: first.graph[chain].map((other) => ({ chain: other, hash: parents[other] })),
      target,
      payloadHash: payload.payloadHash,
      chain,
      weight: 11n,
      height: 11n,
      version: 9,
      epochStartUs: 13n,
      nonce: 0n,
    });
    expect(blockHash(header)).toEqual(hash);
  }
  expect(makeFirstBlocks(first, seededRandom(1)).map(({ id }) => id)).toEqual(blocks.map(({ id }) => id));
});

it('pay nobody', () => {
  const first = { graph: graphFor(1), version: 9, height: 1n, timeUs: 1n, target: targetForDifficulty(7), stateOf };
  const [{ payload }] = makeFirstBlocks(first, seededRandom(1));
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
  expect(text(payload.minerData)).toBe('{"account":"NoMiner","predicate":"keys-all","public-keys":[]}');
  expect(text(payload.coinbase)).toBe(
    '{"gas":0,"result":{"status":"success","data":"NO_COINBASE"},"reqKey":"bm8gcGFyZW50","logs":null,' +
      '"metaData":null,"continuation":null,"txId":null}',
  );
  expect(payloadWithOutputsToJson(payload)).toMatchObject({ transactions: [] });
});

it.each<[options: MockNodeOptions, timeUs: bigint, height: bigint, version: number]>([
  [{}, NOW_US - 30_000_000n, 5_000_000n, 1],
  [{ firstBlockAgeMs: 1, firstHeight: 0 }, NOW_US - 1_000n, 0n, 1],
  [{ firstBlockTimeMs: 5, firstBlockAgeMs: 1, network: 'testnet04' }, 5_000n, 5_000_000n, 7],
])('of a node with the options %j have their time and height', (options, timeUs, height, version) => {
  const settings = optionsSchema.parse({ difficulty: 3, ...options });
  const context = { transactions: NO_TRANSACTIONS, random: seededRandom(1), stateOf, nowUs: NOW_US };
  const { header } = makeChains(settings, context).tip(0);
  expect(header).toMatchObject({ creationTimeUs: timeUs, epochStartUs: timeUs, height, version });
  expect(header.target).toEqual(targetForDifficulty(3));
});
