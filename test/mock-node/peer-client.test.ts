/** How a node asks a peer: with TLS, and without it only where the peer has none and has no id that needs one. */

import { type AddressInfo, createServer, type Server } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PeerClient, PeerError } from '#pickaxe/mock-node/p2p/peers.js';
import type { Peer } from '#pickaxe/protocol/ledger/cut.js';
import { eventually } from '../miner/source/follow.ts';

const ID = 'A'.repeat(43);
const REQUEST = { path: '/cut' };

let stop: AbortController;
let client: PeerClient;
beforeEach(() => {
  stop = new AbortController();
  client = new PeerClient('development', 'chainweb', stop.signal);
  onTestFinished(() => stop.abort());
});

/** A server that meets each connection with a function of its first bytes. */
async function peer(answer: (first: Buffer) => string | undefined, id: string | null = null) {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.once('data', (first) => {
      const text = answer(first);
      if (text === undefined) socket.destroy();
      else socket.end(text);
    });
  });
  server.listen(0, '127.0.0.1');
  await eventually(() => expect(server.listening).toBe(true));
  onTestFinished(() => void server.close());
  const address = { hostname: '127.0.0.1', port: (server.address() as AddressInfo).port };
  return { peer: { id, address } satisfies Peer, connections: () => connections };
}

/** The first byte of a TLS handshake. */
const isTls = (first: Buffer) => first[0] === 0x16;
const REFUSED = 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}';
const plain = (first: Buffer) => (isTls(first) ? REFUSED : OK);

describe('a peer', () => {
  it('without an id that speaks no TLS is asked again without it', async () => {
    const { peer: plainPeer, connections } = await peer(plain);
    const { status, body } = await client.ask(plainPeer, REQUEST);
    expect([status, body.toString(), connections()]).toEqual([200, '{}', 2]);
  });

  it('with an id is never asked without TLS', async () => {
    const { peer: plainPeer, connections } = await peer(plain, ID);
    await expect(client.ask(plainPeer, REQUEST)).rejects.toThrow(PeerError);
    expect(connections()).toBe(1);
  });

  it.each([null, ID])('with the id %s that ends the connection is asked once', async (id) => {
    const { peer: broken, connections } = await peer((first) => (isTls(first) ? undefined : OK), id);
    await expect(client.ask(broken, REQUEST)).rejects.toThrow(PeerError);
    expect(connections()).toBe(1);
  });

  it('that fails without TLS, too, is a fault of the peer', async () => {
    const { peer: broken, connections } = await peer((first) => (isTls(first) ? REFUSED : undefined));
    await expect(client.ask(broken, REQUEST)).rejects.toThrow(PeerError);
    expect(connections()).toBe(2);
  });

  it.each(['127.0.0.2', 'example.com', '::', '0.0.0.0'])(
    'at %s is on another machine, and not asked',
    async (hostname) => {
      const { peer: there, connections } = await peer(plain);
      const elsewhere = { ...there, address: { ...there.address, hostname } };
      await expect(client.ask(elsewhere, REQUEST)).rejects.toThrow('reaches only peers on its own machine');
      expect(connections()).toBe(0);
    },
  );
});

describe('a peer that has too many requests', () => {
  const answered = (status: number) => ({ status, headers: {}, body: Buffer.from('') });
  const someone: Peer = { id: null, address: { hostname: '127.0.0.1', port: 1 } };

  it('is asked fifty times, five times a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const ask = vi.spyOn(client, 'ask').mockResolvedValue(answered(429));
    const asked = client.askPatiently(someone, REQUEST);
    await vi.advanceTimersByTimeAsync(199);
    expect(ask).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(ask).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await asked).toEqual(answered(429));
    expect(ask).toHaveBeenCalledTimes(50);
  });

  it.each([200, 404, 428, 430, 503])('is not meant by the status %d', async (status) => {
    const ask = vi.spyOn(client, 'ask').mockResolvedValue(answered(status));
    expect(await client.askPatiently(someone, REQUEST)).toEqual(answered(status));
    expect(ask).toHaveBeenCalledTimes(1);
  });
});

it('a peer’s answer may have 8 MiB', async () => {
  const sized = (bytes: number) => (first: Buffer) =>
    isTls(first)
      ? REFUSED
      : `HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\nconnection: close\r\n\r\n${'x'.repeat(bytes)}`;
  const { peer: long } = await peer(sized(2 ** 23));
  expect((await client.ask(long, REQUEST)).body).toHaveLength(2 ** 23);
  const { peer: longer } = await peer(sized(2 ** 23 + 1));
  await expect(client.ask(longer, REQUEST)).rejects.toThrow('the answer has more than 8388608 bytes');
});

it.each([
  ['chainweb', {}, 'GET /chainweb/0.0/development/cut', undefined],
  ['document', {}, 'GET /ledger/0.0/development/cut', undefined],
  ['chainweb', { method: 'POST', body: '{"a":1}' }, 'POST /chainweb/0.0/development/cut', '{"a":1}'],
] as const)('a request in the dialect %s has its path and type: %j', async (dialect, more, head, body) => {
  const received: string[] = [];
  const { peer: there } = await peer((first) => {
    if (!isTls(first)) received.push(first.toString());
    return plain(first);
  });
  await new PeerClient('development', dialect, stop.signal).ask(there, { ...REQUEST, ...more });
  const [headers, sent] = received[0].split('\r\n\r\n');
  expect(headers).toMatch(new RegExp(`^${head} HTTP/1.1\r\naccept: application/json\r\n`, 'i'));
  expect(headers.includes('content-type: application/json')).toBe(body !== undefined);
  if (body !== undefined) expect(sent).toContain(body);
});
