/** What a sweep reads about an account: it belongs to the newest block of the chain, and to no other. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NodeApi } from '#pickaxe/node/client/node-api.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { DIALECTS } from '../../mock-node/node.ts';
import { ACCOUNT, NEVER, World } from '../../node/sweep/world.ts';

describe.each(DIALECTS)('on a node of the dialect %s', (dialect) => {
  it.each([
    ['an account', ACCOUNT, parseDecimal('91.5')],
    ['an account that does not exist', 'nobody', undefined],
  ])('%s is read at the newest block', async (_, account, balance) => {
    const world = await World.make({}, dialect);
    const { ledger } = world.node;
    for (let round = 0; round < 2; round++) {
      const look = await world.ledger.look(1, account, NEVER);
      const { height, creationTimeUs } = ledger.chains.tip(1).header;
      expect(look.details?.balance).toBe(balance);
      expect(look).toMatchObject({ height: Number(height), timeS: Number(creationTimeUs / 1_000_000n) });
      ledger.advance(1);
    }
  });
});

it.each([
  ['nothing', undefined],
  ['neither height nor time', {}],
  ['no time', { blockHeight: 1_000 }],
  ['no height', { blockTime: 1_000_000 }],
  ['the height 0', { blockHeight: 0, blockTime: 1_000_000 }],
  ['the time 0', { blockHeight: 1_000, blockTime: 0 }],
])('an account is read at the newest block even if the node says %s of it', async (_, metaData) => {
  const world = await World.make();
  const ask = NodeApi.prototype.local;
  const local = vi.spyOn(NodeApi.prototype, 'local').mockImplementation(async function (this: NodeApi, ...asked) {
    const { outcome, result } = await ask.apply(this, asked);
    const { metaData: _, ...rest } = result!;
    return { outcome, result: { ...rest, ...(metaData && { metaData }) } } as never;
  });
  onTestFinished(() => local.mockRestore());
  const look = await world.ledger.look(1, ACCOUNT, NEVER);
  const { height, creationTimeUs } = world.node.ledger.chains.tip(1).header;
  expect(local).toHaveBeenCalled();
  expect(look).toMatchObject({ height: Number(height), timeS: Number(creationTimeUs / 1_000_000n) });
});
