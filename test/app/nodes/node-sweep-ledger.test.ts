/**
 * What a sweep reads about an account, which belongs to the newest block of the chain, and of a command, which other
 * nodes must have in the same block.
 */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NodeApi } from '#pickaxe/node/client/node-api.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { alice, commandOf, toNewBob } from '../../mock-node/execution/bank.ts';
import { DIALECTS } from '../../mock-node/node.ts';
import { json, lyingNode } from '../../node/sweep/lying-node.ts';
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

describe('a command that the first node has in a block', () => {
  /** @returns a search for the command on the first node and others, and what makes nodes that stop at this height */
  async function sent() {
    const world = await World.make({ accounts: [{ account: alice, balance: '100.0' }] });
    const { ledger } = world.node;
    const command = commandOf(1, toNewBob('1.0'));
    const madeS = Number(ledger.chains.tip(1).header.creationTimeUs / 1_000_000n);
    const stopped = async () => {
      const cut = await (await fetch(`${world.url}/chainweb/0.0/development/cut`)).text();
      return lyingNode(world.url, ({ path }) => (path.endsWith('/cut') ? { status: 200, body: cut } : undefined));
    };
    const before = await stopped();
    expect(await world.ledger.send(1, command, NEVER)).toEqual({ kind: 'taken' });
    ledger.advance(1);
    const height = Number(ledger.chains.tip(1).header.height);
    ledger.advance(1);
    const above = await stopped();
    ledger.advance(1);
    ledger.advance(1);
    const search = (...others: string[]) =>
      world
        .ledgerOf([world.url, ...others])
        .search(1, { what: 'command', key: command.hash, madeS }, { height }, NEVER);
    return { world, height, before, above, search };
  }

  it('is as deep as on the node with the fewest blocks above it', async () => {
    const { world, above, search } = await sent();
    const alike = await lyingNode(world.url, () => undefined);
    const depthOf = async (...others: string[]) => {
      const { found, evidence } = await search(...others);
      return [found?.depth, evidence.work === 'none' && evidence.nodes];
    };
    expect(await depthOf()).toEqual([3, 1]);
    expect(await depthOf(alike)).toEqual([3, 2]);
    expect(await depthOf(above, alike)).toEqual([1, 2]);
    expect(await depthOf(alike, above)).toEqual([1, 2]);
    expect(await depthOf('http://127.0.0.1:1')).toEqual([3, 1]);
  });

  it('is believed once another node has reached its height', async () => {
    const { height, before, above, search } = await sent();
    await expect(search(before)).rejects.toThrow(`${before} has not reached height ${height} of chain 1`);
    expect((await search(before, above)).found?.depth).toBe(1);
  });

  it('is not believed if any other node has another block there', async () => {
    const { world, height, above, search } = await sent();
    const other = await lyingNode(world.url, async ({ path }, truth) => {
      if (!path.includes('/hash/branch')) return undefined;
      const page = JSON.parse((await truth()).body);
      return json({ ...page, items: page.items.map(() => 'A'.repeat(43)) });
    });
    for (const others of [[other], [above, other]]) {
      await expect(search(...others)).rejects.toThrow(`${other} has another block at height ${height} of chain 1`);
    }
  });
});
