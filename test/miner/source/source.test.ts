import { expect, it } from 'vitest';
import { creationTimeFor, namedNetwork } from '#pickaxe/miner/source/source.js';
import { HEADER_OFFSET, viewOf } from '#pickaxe/protocol/chain/bytes.js';
import { creationTimeOf } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';

/** @param version the number of the network */
function headerOf(version: number): Uint8Array {
  const header = new Uint8Array(286);
  viewOf(header).setUint32(HEADER_OFFSET.version, version, true);
  return header;
}

it('no network is named where the user names none', () => {
  expect(namedNetwork(undefined)).toBeUndefined();
});

it.each([
  ['mainnet01', 5, undefined],
  ['mainnet01', 7, 'testnet04'],
  ['testnet04', 7, undefined],
  ['testnet04', 5, 'mainnet01'],
  ['a-network-of-my-own', 7, undefined],
])('work for %s with the number %d is of another network: %s', (name, version, other) => {
  const network = namedNetwork(name);
  expect(network?.name).toBe(name);
  expect(network?.otherThan(headerOf(version))).toBe(other);
});

it.each([
  ['a while ago', true, 10_000_000n, 8_500_000n],
  ['just now', true, 1_500_000n, 0n],
  ['later than the source’s clock says', true, -5n, 0n],
  ['a while ago, and must keep its time', false, 10_000_000n, 0n],
])('a work that was made %s is searched with the right time', (_, rollTime, agoUs, laterUs) => {
  const work = makeWork(100, { rollTime });
  const madeUs = creationTimeOf(work.header);
  expect(creationTimeFor(work, { latestTimeUs: () => madeUs + agoUs }) - madeUs).toBe(laterUs);
});
