import { describe, expect, it } from 'vitest';
import { integerToTarget, targetToInteger } from '#pickaxe/protocol/chain/target.js';
import {
  blockWeight,
  cutWeight,
  nextEpoch,
  type TargetRule,
  weightAbove,
} from '#pickaxe/protocol/ledger/difficulty.js';
import { blockHash } from '#pickaxe/protocol/ledger/header.js';
import { LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';
import { branches, difficulty, header, newChain } from './vectors.ts';

describe('the target of the next block', () => {
  it.each(difficulty)('is that of the real block: $rule', (vector) => {
    const block = header(vector.header);
    const rule: TargetRule = vector.rule.includes('legacy') ? 'own-parent' : 'all-parents';
    expect(nextEpoch(header(vector.parent), vector.adjacents.map(header), rule)).toEqual({
      target: block.target,
      epochStartUs: block.epochStartUs,
    });
  });

  const [vector] = difficulty;
  const [parent, adjacents] = [header(vector.parent), vector.adjacents.map(header)];

  it('depends on the rule', () => {
    const { target } = nextEpoch(parent, adjacents, 'own-parent');
    expect(target).not.toEqual(nextEpoch(parent, adjacents, 'all-parents').target);
  });

  it('is right when the epoch took 3600 s on all chains, and at most 2^256 − 1', () => {
    const after = (us: bigint) =>
      [parent, ...adjacents].map((it) => ({ ...it, target: parent.target, creationTimeUs: it.epochStartUs + us }));
    const [own, ...others] = after(3_600_000_000n);
    expect(nextEpoch(own, others).target).toEqual(parent.target);
    const [slow, ...slower] = after(3_600_000_000n * 2n ** 100n);
    expect(targetToInteger(nextEpoch(slow, slower).target)).toBe(2n ** 256n - 1n);
  });

  it('follows an epoch of 12 blocks up to height 120, and of 120 blocks above', () => {
    const at = (height: bigint) => {
      const own = { ...parent, height, creationTimeUs: parent.epochStartUs + 720_000_000n };
      return nextEpoch(own, [{ ...own, chain: 5 }]);
    };
    const same = { target: parent.target, epochStartUs: parent.epochStartUs };
    // 720 s are twice the intended time of 12 blocks, and a fifth of that of 120.
    const of = (factor: (target: bigint) => bigint) => ({
      target: integerToTarget(factor(targetToInteger(parent.target))),
      epochStartUs: parent.epochStartUs + 720_000_000n,
    });
    for (const height of [11n, 23n, 107n, 119n]) expect(at(height)).toEqual(of((target) => 2n * target));
    for (const height of [0n, 10n, 12n, 118n, 120n, 131n, 238n, 240n]) expect(at(height)).toEqual(same);
    for (const height of [239n, 359n]) expect(at(height)).toEqual(of((target) => (target + 4n) / 5n));
  });

  it('is measured from the second block of a chain that begins above height 0', () => {
    const blocks = newChain.map(header);
    const [second, third] = blocks;
    expect(third.epochStartUs).not.toBe(second.epochStartUs);
    for (const [i, block] of blocks.slice(1).entries()) {
      expect(nextEpoch(blocks[i], [])).toEqual({ target: block.target, epochStartUs: block.epochStartUs });
    }
  });

  it('is not computed by the older rule from an epoch without length', () => {
    const still = { ...parent, creationTimeUs: parent.epochStartUs };
    expect(() => nextEpoch(still, adjacents, 'own-parent')).toThrow(LedgerFormatError);
  });
});

describe('weights', () => {
  it('grow by each real block’s difficulty, also on orphans', () => {
    const blocks = Object.values(branches)
      .flat()
      .map((vector) => header(vector.binary));
    const byHash = new Map(blocks.map((block) => [String(blockHash(block)), block]));
    const children = blocks.filter((block) => byHash.has(String(block.parent)));
    expect(children.length).toBeGreaterThan(90);
    for (const block of children) {
      const parent = byHash.get(String(block.parent))!;
      expect(weightAbove(parent, block.target)).toBe(block.weight);
      expect(parent.height).toBe(block.height - 1n);
      expect(nextEpoch(parent, []).target).toEqual(block.target);
    }
  });

  it('of a cut are the sum of its blocks’ weights', () => {
    const [block] = Object.values(branches)[0];
    const one = header(block.binary);
    expect(cutWeight([one, { ...one, weight: 5n }])).toBe(one.weight + 5n);
    expect(cutWeight([])).toBe(0n);
  });

  it('of a block are (2^256 − 1) / target, rounded down', () => {
    expect([0n, 1n, 2n, 3n, 2n ** 256n - 1n].map((target) => blockWeight(integerToTarget(target)))).toEqual([
      2n ** 256n - 1n,
      2n ** 256n - 1n,
      2n ** 255n - 1n,
      (2n ** 256n - 1n) / 3n,
      1n,
    ]);
  });
});
