/** How a node asks a peer: with TLS, and without it only where the peer has none and has no id that needs one. */

import { type AddressInfo, createServer, type Server } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
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
