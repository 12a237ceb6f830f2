/** URLs with TLS to ports without it, and the reverse. The answers are those in the sources of each kind of server. */

import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { BY_AUTHORITY } from '#pickaxe/base/net/tls-trust.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { parsePoolUrl } from '#pickaxe/base/text/addresses.js';
import { openConnection } from '#pickaxe/miner/source/pool/pool-source.js';
import { MiningClient } from '#pickaxe/node/client/mining.js';
import { nodeLimits } from '#pickaxe/node/http/request-limits.js';
import { nodeAddress } from '#pickaxe/node/http/url.js';
import { miner } from '../../miner/source/node/node.ts';

const never = new AbortController().signal;
const http = (status: string) =>
  Buffer.from(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`, 'latin1');
const NGINX = http('400 Bad Request');
const WARP = http('426 Upgrade Required');
/** A TLS record with a fatal alert, protocol version. */
const OPENSSL = Buffer.from('15030100020246', 'hex');
const NOTHING = Buffer.alloc(0);

/** A server that answers the first bytes of each connection and closes it. @returns `HOST:PORT` */
async function server(answer: Buffer): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function nodeAt(url: string): MiningClient {
  const options = { clock: systemClock, userAgent: 'test', trust: BY_AUTHORITY, limits: nodeLimits };
  const client = new MiningClient({ address: nodeAddress(url, 'development'), ...options });
  onTestFinished(() => client.close());
  return client;
}

it.each([
  ['nginx', 'http', NGINX, 'should the URL begin with https://?'],
  ['Warp', 'http', WARP, 'should the URL begin with https://?'],
  ['OpenSSL', 'http', OPENSSL, 'should the URL begin with https://?'],
  ['a server that closes', 'http', NOTHING, 'Should the URL begin with https://?'],
  ['a plain server', 'https', NGINX, 'use http:// instead of https://'],
  ['a plain server that closes', 'https', NOTHING, 'Should the URL begin with http://?'],
])('a node’s URL for %s that begins with %s:// is explained', async (_, scheme, answer, hint) => {
  const client = nodeAt(`${scheme}://${await server(answer)}`);
  await expect(client.work(miner, never)).rejects.toThrow(hint);
});

it.each([
  ['speaks plain stratum', Buffer.from('{"id":null,"error":[20,"not a request",null]}\n')],
  ['closes', NOTHING],
])('a pool’s URL with TLS for a port that %s is explained', async (_, answer) => {
  const address = parsePoolUrl(`stratum+ssl://${await server(answer)}`)!;
  const options = { trust: BY_AUTHORITY, timeoutMs: 60_000, mustBePublic: false, clock: systemClock };
  await expect(openConnection(address, options, never)).rejects.toThrow('use stratum+tcp:// instead of stratum+ssl://');
});
