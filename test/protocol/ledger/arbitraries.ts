/** Random values for property tests of the ledger's formats. */

import fc from 'fast-check';
import type { BlockHeader } from '#pickaxe/protocol/ledger/header.js';

export const hashes = fc.uint8Array({ minLength: 32, maxLength: 32 });
const u32s = fc.nat({ max: 2 ** 32 - 1 });
const u64s = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const times = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });

/** Headers with 0 … 5 adjacents on any chains. */
export const blockHeaders: fc.Arbitrary<BlockHeader> = fc.record({
  featureFlags: u64s,
  creationTimeUs: times,
  parent: hashes,
  adjacents: fc
    .uniqueArray(fc.record({ chain: u32s, hash: hashes }), { maxLength: 5, selector: ({ chain }) => chain })
    .map((adjacents) => adjacents.sort((a, b) => a.chain - b.chain)),
  target: hashes,
  payloadHash: hashes,
  chain: u32s,
  weight: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  height: u64s,
  version: u32s,
  epochStartUs: times,
  nonce: u64s,
});

/** The bytes of transactions and outputs can be anything. */
export const contents = fc.uint8Array({ maxLength: 80 });

/** Any JSON texts, and texts of a valid object in which one field is replaced. */
export function almost(right: object): fc.Arbitrary<string> {
  const replaced = fc
    .tuple(fc.constantFrom(...Object.keys(right)), fc.jsonValue())
    .map(([key, value]) => JSON.stringify({ ...right, [key]: value }));
  return fc.oneof(fc.json(), replaced);
}
