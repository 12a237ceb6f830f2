/** Which transactions a search in blocks takes for the command, and how far down a chain has work. */

import { describe, expect, it } from 'vitest';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { type BlockReader, findCommand } from '#pickaxe/node/sweep/linked-blocks.js';
import type { SearchRange } from '#pickaxe/node/sweep/sweep-ledger.js';
import { integerToTarget } from '#pickaxe/protocol/chain/target.js';
import { type BlockHeader, blockHash } from '#pickaxe/protocol/ledger/header.js';
import type { PayloadWithOutputs, Proven } from '#pickaxe/protocol/ledger/payload.js';

const KEY = 'A'.repeat(43);
const OTHER = 'B'.repeat(43);
const FIRST_S = 1_700_000_000;
const hashed = new Uint8Array(32);
const bytes = (json: object) => Buffer.from(JSON.stringify(json));

/** A chain of four blocks, the highest first. The first block meets no target, and needs to meet none. */
function chainOf(
  targetAt = (height: bigint): Uint8Array => new Uint8Array(32).fill(height === 0n ? 0 : 255),
): BlockHeader[] {
  const headers: BlockHeader[] = [];
  let parent: Uint8Array = hashed;
  for (let height = 0n; height < 4n; height++) {
    const header: BlockHeader = {
      featureFlags: 0n,
      creationTimeUs: (BigInt(FIRST_S) + 30n * height) * 1_000_000n,
      parent,
      adjacents: [],
      target: targetAt(height),
      payloadHash: hashed,
      chain: 0,
      weight: height,
      height,
      version: 5,
      epochStartUs: 0n,
      nonce: 0n,
    };
    headers.unshift(header);
    parent = blockHash(header);
  }
  return headers;
}

/** @returns what a search finds in a chain whose every block has this transaction */
async function search(what: 'command' | 'step 1', transaction: Uint8Array, output: Uint8Array, chain = chainOf()) {
  return (await searched(what, transaction, output, chain)).found;
}

async function searched(
  what: 'command' | 'step 1',
  transaction: Uint8Array,
  output: Uint8Array,
  chain: readonly BlockHeader[],
  { network, range = {} }: { network: string; range?: SearchRange } = { network: 'mainnet01' },
) {
  const payload = {
    transactions: [transaction],
    outputs: [output],
    minerData: hashed,
    coinbase: hashed,
    transactionsHash: hashed,
    outputsHash: hashed,
    payloadHash: hashed,
  } satisfies PayloadWithOutputs as PayloadWithOutputs as Proven<PayloadWithOutputs>;
  const within = ({
    minHeight = 0,
    maxHeight = 3,
  }: {
    minHeight?: number | bigint;
    maxHeight?: number | bigint;
  } = {}) => chain.filter(({ height }) => height >= minHeight && height <= maxHeight);
  const api: BlockReader = {
    network,
    dialect: async () => 'chainweb',
    headerBranch: async function* (_chain, _bounds, range) {
      yield* within(range);
    },
    blockBranch: async function* (_chain, _bounds, range) {
      for (const header of within(range)) yield { header, payload };
    },
  };
  const branch = { chain: 0, head: { height: 3n, hash: blockHash(chain[0]) } };
  return await findCommand(api, branch, { what, key: KEY, madeS: FIRST_S }, range, NEVER);
}

const outputOf = (reqKey: string, status: string) =>
  bytes({
    reqKey,
    result: status === 'success' ? { status, data: 1 } : { status, error: { message: 'no', type: 'EvalError' } },
    gas: 1,
    txId: 1,
    logs: null,
    metaData: null,
    continuation: null,
    events: [],
  });

describe('the step 1 of a transfer', () => {
  const cont = { pactId: KEY, step: 1, rollback: false, proof: 'p', data: {} };
  const step1 = (message: object) =>
    bytes({
      hash: OTHER,
      sigs: [],
      cmd: JSON.stringify({
        payload: message,
        meta: { chainId: '0', sender: 's', gasLimit: 1, gasPrice: 1e-8, ttl: 100, creationTime: FIRST_S },
        signers: [],
        networkId: 'mainnet01',
        nonce: 'n',
      }),
    });

  it.each<[string, object, boolean]>([
    ['a continuation of this defpact', { cont }, true],
    ['a rollback of it', { cont: { ...cont, rollback: true } }, false],
    ['its first step', { cont: { ...cont, step: 0 } }, false],
    ['a third step', { cont: { ...cont, step: 2 } }, false],
    ['a continuation of another defpact', { cont: { ...cont, pactId: OTHER, data: { of: KEY } } }, false],
    ['code that names it', { exec: { code: `(f "${KEY}")`, data: {} } }, false],
  ])('is %s: %j (%s)', async (_, message, isFound) => {
    const found = await search('step 1', step1(message), outputOf(OTHER, 'success'));
    expect(found?.result.reqKey).toBe(isFound ? OTHER : undefined);
  });

  it('has not come if it has failed, or cannot be read', async () => {
    expect(await search('step 1', step1({ cont }), outputOf(OTHER, 'failure'))).toBeUndefined();
    for (const text of [`"${KEY}"`, `{"cmd": "${KEY}"}`, `{"cmd": 1, "of": "${KEY}"}`, `{ ${KEY}`])
      expect(await search('step 1', Buffer.from(text), outputOf(OTHER, 'success'))).toBeUndefined();
  });
});

it('a command is the one whose result has its request key, whether it has failed or not', async () => {
  for (const status of ['success', 'failure'])
    expect(await search('command', bytes({}), outputOf(KEY, status))).toMatchObject({ height: 0, depth: 3 });
  const named = Buffer.from(outputOf(OTHER, 'success').toString().replace('[]', `["${KEY}"]`));
  expect(await search('command', bytes({}), named)).toBeUndefined();
});

it.each([
  [[1, 1, 1, 1], 3n],
  [[1, 4, 4, 4], 12n],
  [[1, 4, 4, 2], 6n],
  [[1, 4, 2, 4], 6n],
  [[1, 2, 4, 4], 6n],
  [[1, 2, 3, 4], 6n],
])('from a command on, blocks of the difficulties %j count as so many easiest blocks', async (all, hashes) => {
  // The command is in the second block.
  const chain = chainOf((height) => integerToTarget(((1n << 256n) - 1n) / BigInt(all[Number(height)])));
  const { work } = await searched('command', bytes({}), outputOf(KEY, 'success'), chain, {
    network: 'development',
    range: { height: 1 },
  });
  expect(work).toEqual({ hashes, blocks: 7n });
});

describe('of the blocks of a network with work', () => {
  it('all but the first one need it', async () => {
    expect(await search('command', bytes({}), outputOf(KEY, 'success'))).toBeDefined();
    const chain = chainOf();
    chain[0] = { ...chain[0], target: new Uint8Array(32) };
    await expect(search('command', bytes({}), bytes({}), chain)).rejects.toThrow(
      /Block 3 of chain 0 .* no proof of work/,
    );
  });
});
