/** A pool whose work is of another network than the one that the user has named. */

import { expect, it } from 'vitest';
import { namedNetwork } from '#pickaxe/miner/source/source.js';
import { HEADER_OFFSET, viewOf } from '#pickaxe/protocol/chain/bytes.js';
import { eventually } from '../follow.ts';
import { MockPool } from './mock-pool.ts';
import { followPool, GREETING, jobLine, makeHeader, targetLine } from './pool.ts';

/** Of a connection to a pool whose job has the number of testnet04. */
async function followTestnet(network: string | undefined) {
  const header = makeHeader();
  viewOf(header).setUint32(HEADER_OFFSET.version, 7, true);
  const pool = await MockPool.start([...GREETING, targetLine(1e6), jobLine('1', header, 'true')]);
  return { header, ...followPool(pool.url, {}, { network: namedNetwork(network) }) };
}

it.each([undefined, 'testnet04', 'a-network-of-my-own'])(
  'is mined on where the network %s is named',
  async (network) => {
    const { header, follower } = await followTestnet(network);
    expect((await follower.work()).header).toEqual(header);
  },
);

it.each(['mainnet01', 'development'])('gives no work where the network %s is named', async (network) => {
  const { follower, recorder } = await followTestnet(network);
  const why = `the pool cannot be used: it gives work of another network (testnet04) than ${network}, and nothing is mined for it.`;
  await eventually(() => {
    const reasons = recorder.of('source').map(({ reason }) => reason);
    expect(reasons).toContainEqual(expect.stringContaining(why));
  });
  expect(follower.received).toEqual([]);
});
