/** The mempool protocol: waiting commands, as nodes exchange them. */

import { describe, expect, it } from 'vitest';
import { commandJson } from '#pickaxe/protocol/ledger/command/command.js';
import { banksOf, bob, coins, commandOf, toBob } from '../execution/bank.ts';
import type { OtherOptions } from '../node.ts';

interface Pending {
  readonly hashes: readonly string[];
  readonly highwaterMark: readonly [number, number];
}

async function startPool(options: OtherOptions = {}) {
  const bank = await banksOf('chainweb')({ p2p: 'plain', ...options });
  const pool = (name: string, body?: unknown) => {
    const method = name === 'insert' ? 'PUT' : 'POST';
    return bank.p2p(`/chain/0/mempool/${name}`, { method, ...(body !== undefined && { body }) });
  };
  const pending = async (query = '') => (await pool(`getPending${query}`)).plain as Pending;
  return { ...bank, pool, pending };
}

describe('the memory pool of a chain', () => {
  it('has what was sent and is in no block yet', async () => {
    const { node, send, pool, pending, p2p } = await startPool();
    const command = commandOf(0, toBob('1.0'));
    const nobody = 'A'.repeat(43);
    expect((await pending()).hashes).toEqual([]);
    await send(0, command);
    expect((await pending()).hashes).toEqual([command.hash]);
    expect((await pool('member', [command.hash, nobody])).plain).toEqual([true, false]);
    const found = (await pool('lookup', [nobody, command.hash])).plain;
    expect(found).toEqual([{ tag: 'Missing' }, { tag: 'Pending', contents: commandJson(command) }]);
    expect((await p2p('/chain/1/mempool/getPending', { method: 'POST' })).plain).toMatchObject({ hashes: [] });
    node.ledger.advance(0);
    expect((await pool('member', [command.hash])).plain).toEqual([false]);
    node.ledger.reorganise(node.ledger.chains.tip(0));
    expect((await pending()).hashes).toEqual([]);
    expect(node.ledger.chains.tip(0).payload.transactions).toHaveLength(1);
  });

  it('tells somebody who asks again only what has come since', async () => {
    const { send, pending } = await startPool();
    const [first, second] = [commandOf(0, toBob('1.0')), commandOf(0, toBob('2.0'))];
    await send(0, first);
    const [nonce, next] = (await pending()).highwaterMark;
    expect((await pending(`?nonce=${nonce}&since=${next}`)).hashes).toEqual([]);
    await send(0, second);
    expect((await pending(`?nonce=${nonce}&since=${next}`)).hashes).toEqual([second.hash]);
    // Another nonce belongs to another mempool, so all commands are new.
    expect((await pending(`?nonce=${nonce + 1}&since=${next}`)).hashes).toEqual([first.hash, second.hash]);
    expect((await pending(`?since=${next}`)).hashes).toEqual([first.hash, second.hash]);
  });

  it('takes commands of other nodes, and leaves out what is wrong without a word', async () => {
    const { node, pool, pending, balance } = await startPool();
    const command = commandOf(0, toBob('1.0'));
    const forged = { ...commandOf(0, toBob('2.0')), sigs: [{ sig: '00'.repeat(64) }] };
    const answer = await pool('insert', [forged, command].map(commandJson));
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect((await pending()).hashes).toEqual([command.hash]);
    node.ledger.advance(0);
    expect(await balance(0, bob)).toBe(coins('2.0'));
  });

  it('refuses what is no command, and what is no request key', async () => {
    const { pool, pending } = await startPool();
    const wrong = await pool('insert', [commandJson(commandOf(0, toBob('1.0'))), '{}']);
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringMatching(/^DecodeException "/)]);
    expect((await pending()).hashes).toEqual([]);
    for (const [name, body] of [
      ['insert', {}],
      ['member', ['x']],
      ['lookup', [7]],
      ['lookup', '['],
      ['getPending?nonce=x', undefined],
      ['getPending?since=1.5', undefined],
    ] as const) {
      expect([name, (await pool(name, body)).status]).toEqual([name, 400]);
    }
  });

  it('is served on the P2P side only', async () => {
    const { ask } = await startPool();
    expect((await ask('/chain/0/mempool/getPending', { method: 'POST' })).status).toBe(404);
  });
});
