/** Tests that every connection over TCP allows for slow handshakes, also to a host with several addresses. */

import { Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { TCP_CONNECTING } from '#pickaxe/base/net/connecting.js';
import { BY_AUTHORITY } from '#pickaxe/base/net/tls-trust.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { parsePoolUrl } from '#pickaxe/base/text/addresses.js';
import { connectTo } from '#pickaxe/fleet/nats/nats-client.js';
import { openConnection } from '#pickaxe/miner/source/pool/pool-source.js';
import { MiningClient } from '#pickaxe/node/client/mining.js';
import { nodeLimits } from '#pickaxe/node/http/request-limits.js';
import { nodeAddress } from '#pickaxe/node/http/url.js';
import { NOTICES, type Notice } from '#pickaxe/rig/notify/notices.js';
import { Webhook } from '#pickaxe/rig/notify/webhook.js';
import { pickaxe } from '../../cli/in-process.ts';
import { listeningLog } from '../../rig/pauses/fakes.ts';

const never = new AbortController().signal;

const pool = (url: string) =>
  openConnection(
    parsePoolUrl(url)!,
    { trust: BY_AUTHORITY, timeoutMs: 5_000, mustBePublic: false, clock: systemClock },
    never,
  );

const node = async (url: string) => {
  const address = nodeAddress(url, 'development');
  const client = new MiningClient({
    address,
    clock: systemClock,
    userAgent: 'test',
    trust: BY_AUTHORITY,
    limits: nodeLimits,
  });
  onTestFinished(() => client.close());
  await client.config(never);
};

const webhook = async (url: string) => {
  const { log } = listeningLog();
  const limits = { timeoutMs: 5_000, retryAfterMs: [], waiting: 1, endMs: 5_000 };
  const hook = new Webhook({ url: new URL(url), events: new Set(NOTICES), log, limits });
  hook.send({ type: 'block', timeMillis: 1, rig: 'rig', text: 'a block' } as Notice);
  await hook.end();
};

// Nothing listens on port 1.
const PLACES = {
  'a pool': () => pool('stratum+tcp://127.0.0.1:1'),
  'a pool with TLS': () => pool('stratum+ssl://127.0.0.1:1'),
  'a node': () => node('http://127.0.0.1:1'),
  'a node with TLS': () => node('https://127.0.0.1:1'),
  'a NATS server': () => connectTo('nats://127.0.0.1:1', { name: 'rig', inbox: '_INBOX' } as never, never),
  'a webhook': () => webhook('http://127.0.0.1:1/'),
  'a miner, for its status': () => pickaxe('stats', '--http', '127.0.0.1:1'),
};

it.each(Object.entries(PLACES))('%s', async (_, connect) => {
  const connected = vi.spyOn(Socket.prototype, 'connect');
  onTestFinished(() => connected.mockRestore());
  await connect().catch(() => {});
  const options = connected.mock.calls.map(([given]) => (Array.isArray(given) ? given[0] : given));
  expect(options.length).toBeGreaterThan(0);
  for (const each of options) expect(each).toMatchObject(TCP_CONNECTING);
});
