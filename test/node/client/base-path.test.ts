/** At a URL without a path, the mining API is found where the node serves it. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MiningClient } from '#pickaxe/node/client/mining.js';
import { nodeAddress } from '#pickaxe/node/http/url.js';
import { miner } from '../../miner/source/node/node.ts';

/** A work of the network mainnet01. */
const WORK = Buffer.alloc(322);
WORK.writeUInt32LE(5, 36 + 266);

const stop = new AbortController().signal;
const TIME = { 'x-server-timestamp': '1700000000' };
const LEDGER = '/ledger/0.0/mainnet01';
const CHAINWEB = '/chainweb/0.0/mainnet01';

type Respond = (response: ServerResponse) => void;

const missing: Respond = (response) => response.writeHead(404, TIME).end('nothing here');
const status =
  (code: number): Respond =>
  (response) =>
    response.writeHead(code, TIME).end('no');
/** The answer of a gateway for a path that it does not pass on to the node. */
const missingAtGateway: Respond = (response) => response.writeHead(404).end('<html>');

/** A node that answers like one below `at`, and otherwise with `elsewhere`. */
async function clientOf(at: string, { path = '', elsewhere = missing } = {}) {
  const node = { at, answer: undefined as Respond | undefined, seen: [] as string[] };
  const server = createServer((request, response) => {
    const url = request.url!;
    node.seen.push(url);
    if (!url.startsWith(`${node.at}/`)) elsewhere(response);
    else if (node.answer) node.answer(response);
    else response.writeHead(200, TIME).end(url.endsWith('/work') ? WORK : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const client = new MiningClient({ address: nodeAddress(url, 'mainnet01') });
  onTestFinished(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  return { node, client };
}

const REQUESTS: Record<string, (client: MiningClient) => Promise<unknown>> = {
  work: (client) => client.work(miner, stop),
  solved: (client) => client.submit(new Uint8Array(286), stop),
  updates: (client) => client.updates(3, stop),
};

describe.each([
  ['/ledger/0.0', LEDGER, 0],
  ['/chainweb/0.0', CHAINWEB, 1],
])('a node that serves %s alone', (_, at, misses) => {
  it.each(Object.entries(REQUESTS))('is found by the request %s, and then asked at its path alone', async (_, ask) => {
    const { node, client } = await clientOf(at);
    await ask(client);
    expect(node.seen).toHaveLength(1 + misses);
    node.seen.length = 0;
    for (const each of Object.values(REQUESTS)) await each(client);
    expect(node.seen).toEqual([`${at}/mining/work`, `${at}/mining/solved`, `${at}/mining/updates`]);
  });

  it('is found behind a gateway that answers for all other paths', async () => {
    const { node, client } = await clientOf(at, { elsewhere: missingAtGateway });
    await client.work(miner, stop);
    expect(node.seen.at(-1)).toBe(`${at}/mining/work`);
  });

  it('is asked once about a solution whose work it does not know, once its path is known', async () => {
    const { node, client } = await clientOf(at);
    await client.work(miner, stop);
    node.answer = missing;
    node.seen.length = 0;
    expect((await client.submit(new Uint8Array(286), stop)).status).toBe(404);
    expect(node.seen).toEqual([`${at}/mining/solved`]);
  });

  it('is found again when another node is started at its address', async () => {
    const { node, client } = await clientOf(at);
    await client.work(miner, stop);
    node.at = at === LEDGER ? CHAINWEB : LEDGER;
    node.seen.length = 0;
    await client.work(miner, stop);
    await client.submit(new Uint8Array(286), stop);
    expect(node.seen).toEqual([`${at}/mining/work`, `${node.at}/mining/work`, `${node.at}/mining/solved`]);
  });

  it.each([400, 403, 429, 503])('is not asked for work elsewhere after the status %i', async (code) => {
    const { node, client } = await clientOf(at);
    await client.work(miner, stop);
    node.answer = status(code);
    node.seen.length = 0;
    await expect(client.work(miner, stop)).rejects.toMatchObject({ status: code });
    expect(node.seen).toEqual([`${at}/mining/work`]);
  });

  it('says why it refuses, rather than that the other path is missing', async () => {
    const { node, client } = await clientOf(at);
    node.answer = status(403);
    await expect(client.work(miner, stop)).rejects.toMatchObject({ status: 403 });
  });
});

it.each(Object.entries(REQUESTS))('a node that serves neither path gets %s twice each time', async (_, ask) => {
  const { node, client } = await clientOf('/elsewhere');
  for (const times of [1, 2, 3]) {
    await ask(client).catch(() => {});
    expect(node.seen).toHaveLength(2 * times);
  }
});

it('names both paths when there is no mining API', async () => {
  const { client } = await clientOf('/elsewhere');
  await expect(client.work(miner, stop)).rejects.toThrow(`neither below ${LEDGER} nor below ${CHAINWEB} (404: `);
});

it.each([LEDGER, CHAINWEB, '/KEY'])('a URL with the path %s is used as it is', async (path) => {
  const { node, client } = await clientOf('/elsewhere', { path });
  await expect(client.work(miner, stop)).rejects.toThrow(/there is no mining API at \S+ \(404: .*network or the path/);
  expect(node.seen).toEqual([`${path}/mining/work`]);
});
