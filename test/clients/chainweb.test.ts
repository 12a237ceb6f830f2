/**
 * Tests that the network's own package `chainweb`, unchanged, reads the chains of the mock node in the words of real
 * nodes.
 */

import chainweb from 'chainweb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { headerToJson } from '#pickaxe/protocol/ledger/header.js';
import { encodeBase64url, stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { eventually } from '../miner/source/follow.ts';
import { alice, banksOf, bob, commandOf, toBob } from '../mock-node/execution/bank.ts';
import type { OtherOptions } from '../mock-node/node.ts';

const NETWORK = 'development';

async function startChains(options: OtherOptions = {}) {
  const bank = await banksOf('chainweb')(options);
  bank.grow(4);
  const { chains } = bank.node.ledger;
  return { ...bank, chains, host: new URL(bank.baseUrl).origin };
}

describe('the package chainweb', () => {
  it('reads the cut', async () => {
    const { host, chains, node } = await startChains();
    const { graph } = chains;
    const cut = await chainweb.cut.current(NETWORK, host);
    expect(cut.instance).toBe(NETWORK);
    expect(Object.keys(cut.hashes)).toHaveLength(graph.length);
    for (const chain of graph.keys()) {
      const { header, hash } = chains.tip(chain);
      expect(cut.hashes[chain]).toEqual({ height: Number(header.height), hash: encodeBase64url(hash) });
    }
    expect(await chainweb.cut.peers(NETWORK, host)).toEqual([]);
    const peer = { id: null, address: { hostname: '127.0.0.1', port: 1789 } };
    node.peers.add('cut', peer);
    expect(await chainweb.cut.peers(NETWORK, host)).toEqual([peer]);
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

  it('reads ranges of heights, in ascending order and without orphans', async () => {
    const { host, chains, node } = await startChains();
    const top = chains.heightOf(1);
    const orphan = chains.blocksOf(1).canonical(top - 1n)!;
    node.ledger.reorganise(orphan);
    const range = [1, Number(top) - 2, Number(top), NETWORK, host] as const;
    const ids = [2n, 1n, 0n].map((back) => chains.blocksOf(1).canonical(top - back)!.id);
    expect((await chainweb.header.range(...range)).map(({ hash }) => hash)).toEqual(ids);
    const blocks = await chainweb.block.range(...range);
    expect(blocks.map(({ header }) => header.hash)).toEqual(ids);
    expect(blocks.map(({ payload }) => payload.payloadHash)).toEqual(
      ids.map((id) => encodeBase64url(chains.blocksOf(1).get(id)!.header.payloadHash)),
    );
    const ofOrphan = await chainweb.header.blockHash(1, orphan.id, NETWORK, host);
    expect(ofOrphan.hash).toBe(orphan.id);
    expect(ids).not.toContain(orphan.id);
  });

  it('reads branches, down to where another one leaves them', async () => {
    const { host, chains, node } = await startChains();
    const top = chains.heightOf(1);
    const left = chains.blocksOf(1).canonical(top)!;
    node.ledger.reorganise(chains.blocksOf(1).canonical(top - 1n)!);
    const branch = async (upper: string[], lower: string[], count: number | null = null) => {
      const headers = await chainweb.internal.branch(1, upper, lower, null, null, count, 'json', NETWORK, host);
      return headers.map(({ hash }) => hash);
    };
    const { tip } = chains.blocksOf(1);
    const own = [...chains.blocksOf(1).ancestry(tip)].map(({ id }) => id).toReversed();
    expect(await branch([tip.id], [])).toEqual(own);
    expect(await branch([tip.id], [left.id])).toEqual(own.slice(-2));
    expect(await branch([left.id], [tip.id])).toHaveLength(2);
    expect(await branch([tip.id, left.id], [])).toHaveLength(own.length + 2);
    expect(await branch([tip.id], [], 2)).toEqual(own.slice(-2));
    const stranger = 'A'.repeat(43);
    await expect(branch([stranger], [])).rejects.toMatchObject({ response: { status: 404 } });
  });

  it('follows headers, blocks, transactions and events by streams', async () => {
    const { host, chains, node, send, grow } = await startChains({ headerStream: true });
    const found = {
      headers: [] as number[],
      blocks: [] as string[],
      transactions: [] as string[],
      events: [] as string[],
    };
    const streams = [
      chainweb.header.stream(1, [0, 1], ({ height }) => void found.headers.push(height), NETWORK, host),
      chainweb.block.stream(1, [0], ({ payload }) => void found.blocks.push(payload.payloadHash), NETWORK, host),
      chainweb.transaction.stream(1, [0], ({ output }) => void found.transactions.push(output.reqKey), NETWORK, host),
      chainweb.event.stream(1, [0], ({ name }) => void found.events.push(name), NETWORK, host),
    ];
    onTestFinished(() => {
      for (const stream of streams) stream.close();
    });
    await eventually(() => expect(node.server.streams.open).toBe(4));
    const command = commandOf(0, toBob('1.5'));
    await send(0, command);
    grow(3);
    const top = chains.heightOf(0);
    const [first, second] = [top - 2n, top - 1n].map((height) => chains.blocksOf(0).canonical(height)!);
    await eventually(() => {
      expect(found).toEqual({
        headers: [Number(top) - 2, Number(top) - 2, Number(top) - 1, Number(top) - 1],
        blocks: [first, second].map(({ header }) => encodeBase64url(header.payloadHash)),
        transactions: [command.hash],
        events: ['TRANSFER', 'TRANSFER'],
      });
    });
  });

  it('asks again when the node is asked too often', async () => {
    const { host, node } = await startChains();
    node.server.faults = [{ endpoint: 'cut', kind: 'status', status: 429, times: 1 }];
    expect((await chainweb.cut.current(NETWORK, host)).instance).toBe(NETWORK);
    expect(node.server.stats.requests.cut).toBe(2);
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
    const [first] = await chainweb.transaction.recent(0, 0, 3, NETWORK, host);
    expect(first).toEqual(transaction);
    const range = [0, Number(header.height) - 2, Number(header.height), NETWORK, host] as const;
    expect(await chainweb.transaction.range(...range)).toEqual([transaction]);
    expect(await chainweb.transaction.blockHash(0, encodeBase64url(hash), NETWORK, host)).toEqual([transaction]);
    expect(await chainweb.event.range(...range)).toEqual(events);
  });
});
