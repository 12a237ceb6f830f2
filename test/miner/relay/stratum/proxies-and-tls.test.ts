import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createSecureContext, connect as tlsConnect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { readProxyHeader } from '#pickaxe/miner/relay/stratum/socket.js';
import { selfSigned } from '../../../node/client/certificates.ts';
import { eventually } from '../../source/follow.ts';
import { ready, serveShares, share, TRUST } from './serving.ts';

describe('behind a proxy', () => {
  const V1 = 'PROXY TCP4 192.0.2.9 192.0.2.1 56324 1917\r\n';
  const V2 = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000209c0000201dc04077d', 'hex');
  const MAPPED = Buffer.from(
    `0d0a0d0a000d0a515549540a21210024${'0'.repeat(20)}ffffc0000205${'0'.repeat(20)}ffffc0000201dc04077d`,
    'hex',
  );
  const LOCAL = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex');

  it.each([
    ['version 1', V1, '192.0.2.9'],
    ['version 2', V2, '192.0.2.9'],
    ['version 1, IPv4 as IPv6', 'PROXY TCP6 ::ffff:c000:0205 ::ffff:c000:0201 56324 1917\r\n', '192.0.2.5'],
    ['version 2, IPv4 as IPv6', MAPPED, '192.0.2.5'],
    ['version 2, the proxy itself', LOCAL, '127.0.0.1'],
    ['version 1, unknown', 'PROXY UNKNOWN\r\n', '127.0.0.1'],
  ])('the client’s address is told by the header: %s', async (_, first, address) => {
    const { logged, client } = await serveShares({ proxies: ['127.0.0.1'] });
    await ready(client({ first }));
    expect(logged).toContain(`session 1 of asic.1 has begun: ${address}, asic/1`);
  });

  it('a connection without a header, or with a wrong one, is refused, and no other', async () => {
    const { logged, client } = await serveShares({ proxies: ['127.0.0.0/8'], limits: { handshakeMs: 60_000 } });
    const [plain, wrong] = [client({ first: '{"id":1}\n' }), client({ first: 'PROXY TCP4 a b c d\r\n' })];
    await Promise.all([plain.closed, wrong.closed]);
    expect(logged.sort()).toEqual([
      '127.0.0.1 was refused: the header of the proxy is wrong: it does not begin like one',
      '127.0.0.1 was refused: the header of the proxy is wrong: its addresses and ports are wrong',
    ]);
    await ready(client({ first: V1 }));
  });

  it('a connection whose header does not come in time is refused', async () => {
    const { logged, client } = await serveShares({ proxies: ['127.0.0.0/8'], limits: { handshakeMs: 50 } });
    await client({ first: V1.slice(0, 9) }).closed;
    expect(logged).toEqual(['127.0.0.1 was refused: the header of the proxy did not come']);
  });

  it('a header may come with the first lines', async () => {
    const { relay, logged } = await serveShares({ proxies: ['127.0.0.1'] });
    const socket = connect(relay.port as number, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(`${V1}{"id":1,"method":"mining.ping","params":[]}\n`);
    const [answer] = await once(socket, 'data');
    expect(answer.toString()).toBe('{"result":"pong","error":null,"id":1}\n');
    socket.destroy();
    await eventually(() => expect(logged).toContain('192.0.2.9 is disconnected: it has closed the connection'));
  });

  it('a header may come in pieces', async () => {
    const server = createServer();
    onTestFinished(() => void server.close());
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    onTestFinished(() => void client.destroy());
    const [served] = (await once(server, 'connection')) as [Socket];
    onTestFinished(() => void served.destroy());
    const address = readProxyHeader(systemClock, served, 60_000);
    for (const piece of [V1.slice(0, 5), V1.slice(5, 40), `${V1.slice(40)}{"id"`]) {
      const before = served.bytesRead;
      client.write(piece);
      await eventually(() => expect(served.bytesRead).toBe(before + piece.length));
    }
    expect(await address).toBe('192.0.2.9');
    expect(served.read().toString()).toBe('{"id"');
  });

  it('bans are for the client’s address, not for the proxy', async () => {
    const { logged, client } = await serveShares({ proxies: ['127.0.0.1'], limits: { banPoints: 5 } });
    const bad = client({ first: `${V1}${'junk\n'.repeat(30)}` });
    await bad.closed;
    expect(logged).toContain('192.0.2.9 is banned for 5 minutes: junk');
    await client({ first: V1 }).closed;
    await ready(client({ first: V1.replace('192.0.2.9', '192.0.2.10') }));
  });

  it('others than the proxy connect as always, and a header of theirs is junk', async () => {
    const { client } = await serveShares({ proxies: ['192.0.2.77'] });
    await ready(client());
    const asic = client({ first: V1 });
    await eventually(() => expect(asic.received).toHaveLength(1));
    expect(asic.received[0].error[1]).toBe('this is no stratum request');
  });
});

describe('with TLS', () => {
  it('mines, also behind a proxy', async () => {
    const secureContext = createSecureContext({ cert: selfSigned.cert, key: selfSigned.key });
    const { logged, client } = await serveShares({ secureContext, proxies: ['127.0.0.1'] });
    const first = 'PROXY TCP4 192.0.2.9 192.0.2.1 1 2\r\n';
    const asic = await ready(client({ first, tls: TRUST }));
    expect((await share(asic)).result).toBe(true);
    expect(logged).toContain('session 1 of asic.1 has begun: 192.0.2.9, asic/1');
  });

  it('bans nobody for health checks, and for clients that hang up in or after the handshake', async () => {
    const secureContext = createSecureContext({ cert: selfSigned.cert, key: selfSigned.key });
    const limits = { banPoints: 5, banPointsPerMinute: 0.001, handshakeMs: 60_000 };
    const { relay, recorded, client } = await serveShares({ secureContext, limits: { ...limits, reportMs: 50 } });
    const port = relay.port as number;
    for (let count = 0; count < 20; count++) {
      const closing = connect(port, '127.0.0.1').on('error', () => {});
      await once(closing, 'connect');
      closing.end();
      await once(closing.resume(), 'close');
      const resetting = connect(port, '127.0.0.1').on('error', () => {});
      await once(resetting, 'connect');
      // The beginning of a ClientHello.
      resetting.write(Buffer.from('160301', 'hex'));
      resetting.resetAndDestroy();
      const hanging = tlsConnect({ port, host: '127.0.0.1', ...TRUST }).on('error', () => {});
      await once(hanging, 'secureConnect');
      hanging.destroy();
      const mistrusting = tlsConnect({ port, host: '127.0.0.1' });
      await once(mistrusting, 'error');
    }
    await ready(client({ tls: TRUST }));
    await eventually(() => expect(recorded.of('relay').at(-1)?.refused).toMatchObject({ handshake: 0, banned: 0 }));
  });

  it('bans those that say again and again what is no TLS', async () => {
    const secureContext = createSecureContext({ cert: selfSigned.cert, key: selfSigned.key });
    const { logged, client } = await serveShares({
      secureContext,
      limits: { banPoints: 5, banPointsPerMinute: 0.001 },
    });
    for (let count = 0; count < 3; count++) await client({ first: 'GET / HTTP/1.1\r\n\r\n' }).closed;
    await eventually(() => expect(logged).toContain('127.0.0.1 is banned for 5 minutes: the handshake of TLS failed'));
  });

  it('refuses clients that do not encrypt', async () => {
    const secureContext = createSecureContext({ cert: selfSigned.cert, key: selfSigned.key });
    const { logged, client } = await serveShares({ secureContext, limits: { handshakeMs: 60_000 } });
    await client({ first: '{"id":1,"method":"mining.ping","params":[]}\n' }).closed;
    expect(logged).toEqual(['127.0.0.1 was refused: the handshake of TLS failed']);
    await ready(client({ tls: TRUST }));
  });

  it('refuses clients that say nothing, and bans none of them', async () => {
    const secureContext = createSecureContext({ cert: selfSigned.cert, key: selfSigned.key });
    const limits = { handshakeMs: 50, banPoints: 1, banPointsPerMinute: 0.001 };
    const { logged, client } = await serveShares({ secureContext, limits });
    for (let count = 0; count < 3; count++) await client().closed;
    expect(new Set(logged)).toEqual(new Set(['127.0.0.1 was refused: the handshake of TLS did not come']));
  });
});

it('a fault of its own ends the connection with which it came, is logged, and no other', async () => {
  const working = createSecureContext(selfSigned);
  let isBroken = true;
  const secureContext = {
    get context() {
      if (isBroken) throw new Error('the key is gone');
      return working.context;
    },
  };
  const { logged, client } = await serveShares({ secureContext: secureContext as typeof working });
  for (const time of [1, 2]) {
    await client().closed;
    expect(logged.filter((line) => line.includes('was refused'))).toEqual(
      Array.from({ length: time }, () => '127.0.0.1 was refused: the key is gone'),
    );
  }
  isBroken = false;
  await ready(client({ tls: TRUST }));
});
