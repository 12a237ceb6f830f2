import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leafHash, merklePath, merkleRoot, nodeHash, rootOfPath, sidesOf } from '#pickaxe/protocol/ledger/merkle.js';
import { hashes } from './arbitraries.ts';

const sha = (...parts: Uint8Array[]) => {
  const hash = createHash('sha512-256');
  for (const part of parts) hash.update(part);
  return Uint8Array.from(hash.digest());
};

/** The same tree from below: neighbours are joined level by level, and a last one without a neighbour moves up. */
function rootFromBelow(level: readonly Uint8Array[]): Uint8Array {
  if (level.length === 1) return level[0];
  const above: Uint8Array[] = [];
  for (let i = 0; i < level.length; i += 2) {
    above.push(i + 1 < level.length ? sha(Uint8Array.of(1), level[i], level[i + 1]) : level[i]);
  }
  return rootFromBelow(above);
}

describe('a Merkle tree', () => {
  it('keeps leaves, with their tag, and nodes apart', () => {
    const bytes = Uint8Array.of(7, 8);
    expect(leafHash(0x1234, bytes)).toEqual(sha(Uint8Array.of(0, 0x12, 0x34, 7, 8)));
    const [left, right] = [sha(bytes), sha(new Uint8Array())];
    expect(nodeHash(left, right)).toEqual(sha(Uint8Array.of(1), left, right));
  });

  it('has the hash of nothing without leaves, and a leaf’s own hash with one', () => {
    expect(merkleRoot([])).toEqual(sha());
    expect(merkleRoot([sha(Uint8Array.of(1))])).toEqual(sha(Uint8Array.of(1)));
  });

  it('has the root of the tree that is built from below, and every path leads to it', () => {
    fc.assert(
      fc.property(fc.array(hashes, { minLength: 1, maxLength: 40 }), fc.nat(), (leaves, random) => {
        const root = rootFromBelow(leaves);
        expect(merkleRoot(leaves)).toEqual(root);
        const index = random % leaves.length;
        const path = merklePath(leaves, index);
        expect(rootOfPath(leaves[index], path)).toEqual(root);
        const sides = path.map(({ side }) => (side === 'left' ? 'L' : 'R'));
        expect(sidesOf(index, leaves.length)).toBe(sides.join(''));
      }),
    );
  });

  it('has no path from a leaf that it has not', () => {
    expect(() => merklePath([sha()], 1)).toThrow(RangeError);
    expect(() => merklePath([sha()], -1)).toThrow(RangeError);
  });
});
