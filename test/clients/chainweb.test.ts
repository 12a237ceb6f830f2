/** Tests that the network's own package `chainweb`, unchanged, reads the chains of the mock node in the words of real nodes. */

import chainweb from 'chainweb';
import { describe, expect, it } from 'vitest';
import { encodeBase64url } from '#pickaxe/ledger/base64url.js';
import { stringifyExactJson } from '#pickaxe/ledger/exact-json.js';
import { headerToJson } from '#pickaxe/ledger/header-json.js';
import { alice, bob, commandOf, startBank, toBob } from '../mock-node/contract/bank.ts';

const NETWORK = 'development';

async function startChains() {
  const bank = await startBank({ dialect: 'chainweb' });
  bank.grow(4);
  const { chains } = bank.node.ledger;
  return { ...bank, chains, host: new URL(bank.baseUrl).origin };
}

describe('the package chainweb', () => {
  it('reads the cut', async () => {
    const { host, chains } = await startChains();
    const { graph } = chains;
    const cut = await chainweb.cut.current(NETWORK, host);
    expect(cut.instance).toBe(NETWORK);
    expect(Object.keys(cut.hashes)).toHaveLength(graph.length);
    for (const chain of graph.keys()) {
      const { header, hash } = chains.tip(chain);
      expect(cut.hashes[chain]).toEqual({ height: Number(header.height), hash: encodeBase64url(hash) });
    }
    expect(await chainweb.cut.peers(NETWORK, host)).toEqual([]);
  });

  it('reads headers by height, by hash, and the most recent ones', async () => {
    const { host, chains } = await startChains();
    const { header, hash } = chains.tip(1);
    const written = JSON.parse(stringifyExactJson(headerToJson(header, 'chainweb', NETWORK)));
    const byHash = await chainweb.header.blockHash(1, encodeBase64url(hash), NETWORK, host);
    expect(byHash).toEqual(written);
    expect(await chainweb.header.height(1, Number(header.height), NETWORK, host)).toEqual(written);
    const recent = await chainweb.header.recent(1, 0, 3, NETWORK, host);
    expect(recent.map(({ height }) => height)).toEqual([2, 1, 0].map((back) => Number(header.height) - back));
    expect(recent[1].hash).toBe(recent[2].parent);
  });

  it('reads blocks, their transactions and events', async () => {
    const { host, chains, run } = await startChains();
    const command = commandOf(0, toBob('1.5'));
    await run(0, command);
    const { header, hash } = chains.tip(0);
    const block = await chainweb.block.blockHash(0, encodeBase64url(hash), NETWORK, host);
    expect(block.payload.payloadHash).toBe(encodeBase64url(header.payloadHash));
    expect(await chainweb.block.height(0, Number(header.height), NETWORK, host)).toEqual(block);
    const [transaction, ...others] = await chainweb.transaction.height(0, Number(header.height), NETWORK, host);
    expect(others).toEqual([]);
    expect(transaction.transaction).toMatchObject({ hash: command.hash, sigs: command.sigs });
    expect(transaction.output.reqKey).toBe(command.hash);
    const events = await chainweb.event.height(0, Number(header.height), NETWORK, host);
    expect(events).toContainEqual(expect.objectContaining({ name: 'TRANSFER', params: [alice, bob, 1.5] }));
  });
});
