import { describe, expect, it } from 'vitest';
import { BlockChecks } from '#pickaxe/cli/commands/ledger/check-blocks.js';
import { LedgerFormatError } from '#pickaxe/ledger/errors.js';
import { payloadWithOutputsFromJson } from '#pickaxe/ledger/payload.js';
import type { Block } from '#pickaxe/node/api/blocks.js';
import { exact, wholeBlocks } from '../node/api/rows.ts';
import { blockAbove, EASIEST } from './easy-chain.ts';

const genesis = blockAbove(undefined);
const first = blockAbove(genesis.header);
const second = blockAbove(first.header);
const check = (...blocks: readonly Block[]) => {
  const checks = new BlockChecks();
  for (const block of blocks) checks.check(block);
  return checks.checked;
};

describe('blocks are verified', () => {
  it('upwards, downwards, with an orphan beside them, and of the live network', () => {
    const orphan = blockAbove(first.header, { nonce: 8n });
    expect(check(genesis, first, second, orphan)).toBe(4);
    expect(check(second, first, genesis)).toBe(3);
    const real = wholeBlocks.map(({ header, payload }) => ({
      header,
      payload: payloadWithOutputsFromJson(exact(payload)),
    }));
    expect(check(...real)).toBe(real.length);
  });

  it.each([
    ['a hash above the target', { target: new Uint8Array(32).fill(1, 0, 1) }, /proof-of-work hash/],
    ['another weight', { weight: 3n }, /its weight is 3, but must be/],
    ['another height', { height: 5n }, /its height is 5/],
    ['a time not after its parent’s', { creationTimeUs: 30_000_000n }, /not newer than its parent/],
    ['neighbours of no known network', { adjacents: [{ chain: 9, hash: EASIEST }] }, /adjacents of chain 0/],
    ['a payload whose reward is another block’s', { parent: EASIEST }, /coinbase\.reqKey holds/],
  ] as const)('and refused with %s', (_, changes, why) => {
    const wrong = blockAbove(genesis.header, changes);
    const near = { ...genesis, header: { ...genesis.header } };
    expect(() => check(near, wrong)).toThrow(LedgerFormatError);
    expect(() => check(near, wrong)).toThrow(why);
    expect(() => check(near, wrong)).toThrow(/^block [\w-]{43} of height \d+: /);
  });
});
