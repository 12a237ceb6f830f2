import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createSecureContext, connect as tlsConnect } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Ledger } from '#pickaxe/miner/relay/stratum/share-log.js';
import { readProxyHeader } from '#pickaxe/miner/relay/stratum/socket.js';
import { type StratumOptions, StratumRelay } from '#pickaxe/miner/relay/stratum/stratum-server.js';
import { SharedSource } from '#pickaxe/miner/source/following.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import type { WorkSource } from '#pickaxe/miner/source/source.js';
import { FakeSource, makeWork, Recorder } from '../../../fakes.ts';
import { DIALECTS, MockNode } from '../../../mock-node/node.ts';
import { selfSigned } from '../../../node/client/certificates.ts';
import { eventually } from '../../source/follow.ts';
import { miner } from '../../source/node/node.ts';
import { Asic } from './asic.ts';

/** The certificate is for no name. */
const TRUST = { ca: selfSigned.cert, checkServerIdentity: () => undefined };

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type More = Partial<
  Pick<StratumOptions, 'clock' | 'proxies' | 'secureContext' | 'limits' | 'openLedger' | 'shareSeconds'>
>;

/** A relay on a free port. */
async function serve(source: WorkSource, more: More = {}) {
  const recorded = new Recorder();
  const logged: string[] = [];
  const log = (line: string) => void logged.push(line);
  const relay = new StratumRelay({
    source,
    emit: recorded.listen,
    clock: systemClock,
    log: { debug: log, info: log, warn: log },
    listen: { host: '127.0.0.1', port: 0 },
    lane: 7,
    shareSeconds: 10,
    ...more,
  });
  await relay.open();
  const stopping = new AbortController();
  const running = relay.run(stopping.signal);
  const end = async () => {
    stopping.abort();
    await running;
  };
  ends.push(end);
  const client = (options?: ConstructorParameters<typeof Asic>[1]) => {
    const asic = new Asic(relay.port as number, options);
    ends.push(() => asic.end());
    return asic;
  };
  return { relay, recorded, logged, client, end };
}

/** A relay whose work is so hard that only shares are found. */
async function serveShares(more: More = {}) {
  const source = new FakeSource();
  const work = source.work(makeWork(2 ** 60));
  return { ...(await serve(source, more)), source, work };
}

/** Logs in, and waits for the first job. */
async function ready(asic: Asic, ...login: Parameters<Asic['login']>): Promise<Asic> {
  asic.login(...login);
  await eventually(() => expect(asic.job).toBeDefined());
  return asic;
}

/** Mines a share, and waits for its answer. */
async function share(asic: Asic) {
  const id = asic.mine();
  await eventually(() => expect(asic.answerTo(id)).toBeDefined());
  return asic.answerTo(id);
}

describe('a stratum server on a real node', () => {
  it.each(DIALECTS)(
    'has ASICs find blocks, which a node of the dialect %s accepts, and stays beside another consumer',
    async (dialect) => {
      const node = new MockNode({ dialect, difficulty: 2_000, seed: 5 });
      const { url } = await node.start();
      ends.push(() => node.close());
      const source = new SharedSource(new NodeSource({ url, network: 'development', miner }));
      ends.push(() => source.close());
      const { recorded, client } = await serve(source);
      const asics = [client(), client()];
      for (const [index, asic] of asics.entries()) await ready(asic, `asic.${index}`);
      await eventually(() => {
        for (const asic of asics) asic.mine(3_000);
        const verdicts = recorded.of('verdict').filter(({ outcome }) => outcome === 'accepted');
        expect(verdicts.length).toBeGreaterThanOrEqual(3);
      });
      expect(node.ledger.stats).toMatchObject({ rejected: 0 });
      for (const verdict of recorded.of('verdict')) {
        expect(verdict).toMatchObject({ device: 'stratum', isRelay: true, isBlock: true, isShare: false });
        expect(asics.map(({ nonce1 }) => nonce1)).toContain(Number(verdict.nonce & 0xffffn));
      }
    },
  );
});

describe('a stratum server', () => {
  it('says again and again how it does', async () => {
    const { recorded, client } = await serveShares({ limits: { reportMs: 50 } });
    const asic = await ready(client(), 'k:abc.rig1');
    for (let count = 0; count < 3; count++) expect((await share(asic)).result).toBe(true);
    await eventually(() =>
      expect(recorded.of('relay').at(-1)).toMatchObject({
        relay: 'stratum',
        sessions: 1,
        hashesPerSecond: expect.toSatisfy((rate: number) => rate > 0),
        workers: [{ name: 'k:abc.rig1', sessions: 1, accepted: 3, difficulty: expect.closeTo(429.5, 0) }],
      }),
    );
  });

  it('gives each new work to all sessions, and none to a client that only connects', async () => {
    const { source, client } = await serveShares();
    const asics = await Promise.all(Array.from({ length: 20 }, () => ready(client())));
    const idle = client();
    expect(new Set(asics.map(({ nonce1 }) => nonce1)).size).toBe(20);
    const before = asics.map(({ job }) => job.params[1]);
    source.stale();
    source.work(makeWork(2 ** 60));
    await eventually(() => {
      const jobs = asics.map(({ job }) => job.params);
      expect(jobs.every(([, header], index) => header.slice(32, 64) !== before[index].slice(32, 64))).toBe(true);
    });
    expect(asics.every(({ received }) => received.some(({ params }) => params?.[2] === true))).toBe(true);
    expect(idle.received).toEqual([]);
  });

  it('has clients drop their jobs after a New Cut, and not where the work was merely replaced', async () => {
    const { source, client } = await serveShares();
    const asic = await ready(client());
    const clean = () => asic.received.filter(({ method }) => method === 'mining.notify').map(({ params }) => params[2]);
    source.stale();
    source.work(makeWork(2 ** 60));
    await eventually(() => expect(clean()).toEqual([true, true]));
    source.work(makeWork(2 ** 60));
    await eventually(() => expect(clean()).toEqual([true, true, false]));
  });

  it('counts nothing more for a worker whose session has ended', async () => {
    const { recorded, client } = await serveShares({ limits: { reportMs: 50 } });
    const asic = await ready(client(), 'asic.1', 'd=0.0000001');
    for (let count = 0; count < 3; count++) expect((await share(asic)).result).toBe(true);
    const last = () => recorded.of('relay').at(-1)?.workers[0];
    await eventually(() => expect(last()?.hashesPerSecond).toBeGreaterThan(0));
    asic.end();
    await eventually(() => expect(last()).toMatchObject({ sessions: 0, hashesPerSecond: 0, accepted: 3 }));
  });

  it('does not hand out work of which a part of the nonce is fixed, and says so once', async () => {
    const source = new FakeSource();
    const { logged, client } = await serve(source);
    const asic = client();
    asic.login();
    source.work(makeWork(2 ** 60, { nonce1: { value: 1, bytes: 2 } }));
    source.work(makeWork(2 ** 60, { nonce1: { value: 1, bytes: 2 } }));
    const says = 'fake source fixes a part of the nonce, which leaves no room for sessions';
    await eventually(() => expect(logged).toContain(says));
    await eventually(() => expect(asic.answerTo(2)?.result).toBe(true));
    expect(asic.job).toBeUndefined();
    expect(logged.filter((line) => line === says)).toHaveLength(1);
  });

  it.each([
    ['TCP', {}, undefined],
    ['TLS', { secureContext: createSecureContext({ cert: selfSigned.cert, key: selfSigned.key }) }, TRUST],
  ])('tells the ledger at its end how many shares were left out: %s', async (_, more, tls) => {
    let text = '';
    const write = async (bytes: Buffer) => {
      text += bytes.toString();
      return bytes.length;
    };
    const ledger = new Ledger({ write, close: async () => {} }, { clock: systemClock, warn: () => {} });
    const { client, end } = await serveShares({
      ...more,
      openLedger: async () => ledger,
      // Half of the lines are kept for shares that were accepted. The session's own line is one of them.
      limits: { ledgerBurst: 4, ledgerLinesPerSecond: 0 },
    });
    const asic = await ready(client(tls && { tls }));
    for (let id = 100; id < 105; id++) asic.say({ id, method: 'mining.submit', params: ['w', 'ffff', '0'] });
    await eventually(() => expect(asic.answerTo(104)).toBeDefined());
    await end();
    expect(JSON.parse(text.trimEnd().split('\n').at(-1) as string)).toMatchObject({ type: 'left-out', lines: 4 });
  });

  it('ends its connections when it ends, and cannot listen where another does', async () => {
    const { relay, client, end } = await serveShares();
    const asic = await ready(client());
    let closed = 0;
    const close = async () => void closed++;
    const other = new StratumRelay({
      source: new FakeSource(),
      emit: () => {},
      clock: systemClock,
      log: { debug() {}, info() {}, warn() {} },
      listen: { host: '127.0.0.1', port: relay.port as number },
      lane: 0,
      shareSeconds: 10,
      openLedger: async () => new Ledger({ write: async () => 0, close }, { clock: systemClock, warn: () => {} }),
    });
    await expect(other.open()).rejects.toThrow('EADDRINUSE');
    expect(closed).toBe(1);
    await end();
    await asic.closed;
  });
});

describe('a client that costs too much', () => {
  it('is disconnected for a flood, and its address is banned for a while after many; other sessions go on', async () => {
    const limits = { lineBurst: 20, linesPerSecond: 1, banPoints: 15, banPointsPerMinute: 1, banMs: 700 };
    const { logged, client } = await serveShares({ limits });
    const honest = await ready(client());
    for (let count = 0; count < 2; count++) {
      const flood = client();
      flood.say('{"id":1,"method":"mining.ping"}\n'.repeat(100));
      await flood.closed;
      expect(flood.received.length).toBeLessThanOrEqual(20);
    }
    expect(logged).toContain('127.0.0.1 is banned for 1 minutes: flood');
    const refused = client();
    await refused.closed;
    expect(logged).toContain('127.0.0.1 was refused: banned');
    expect((await share(honest)).result).toBe(true);
    await eventually(async () => {
      const later = client();
      later.login();
      await eventually(() => expect(later.job !== undefined || later.socket.destroyed).toBe(true));
      expect(later.job).toBeDefined();
    });
  });

  it('is disconnected for a flood of good shares, and neither banned nor in the way of others', async () => {
    const limits = { lineBurst: 20, linesPerSecond: 0.001, banPoints: 5, banPointsPerMinute: 0.001 };
    const { logged, recorded, client } = await serveShares({ limits: { ...limits, reportMs: 50 } });
    for (let count = 0; count < 3; count++) {
      const asic = await ready(client());
      await eventually(() => {
        if (!asic.socket.destroyed) asic.mine();
        expect(asic.socket.destroyed).toBe(true);
      });
    }
    const ended = '127.0.0.1 is disconnected: flood';
    await eventually(() => expect(logged.filter((line) => line === ended)).toHaveLength(3));
    expect(logged.filter((line) => line.includes('banned'))).toEqual([]);
    await ready(client());
    await eventually(() => expect(recorded.of('relay').at(-1)?.refused).toMatchObject({ flood: 3, banned: 0 }));
  });

  it('is not read when its address has used up its lines, gets its jobs, and one that sends few goes on', async () => {
    const limits = { addressLineBurst: 50, addressLinesPerSecond: 0.001, reservedLinesPerSecond: 0.001 };
    const { client, source } = await serveShares({ limits });
    const honest = await ready(client());
    const greedy = await ready(client());
    for (let count = 0; count < 100; count++) greedy.say({ id: 1_000 + count, method: 'mining.ping', params: [] });
    await eventually(() => expect(greedy.answerTo(1_000 + 50)).toBeDefined());
    expect((await share(honest)).result).toBe(true);
    const late = await ready(client());
    expect((await share(late)).result).toBe(true);
    const { job } = greedy;
    source.work(makeWork(2 ** 60));
    await eventually(() => expect(greedy.job).not.toBe(job));
    expect(greedy.answerTo(1_099)).toBeUndefined();
    expect(greedy.socket.destroyed).toBe(false);
  });

  it('is read again when its address has lines again, and all that it has sent is answered in order', async () => {
    const limits = { addressLineBurst: 10, addressLinesPerSecond: 200, reservedLineBurst: 2 };
    const { client } = await serveShares({ limits });
    const clients = await Promise.all([ready(client()), ready(client())]);
    for (const each of clients) {
      for (let count = 0; count < 90; count++) each.say({ id: 1_000 + count, method: 'mining.ping', params: [] });
    }
    for (const each of clients) {
      await eventually(() => expect(each.answerTo(1_089)).toBeDefined());
      const ids = each.received.map(({ id }) => id).filter((id) => id >= 1_000);
      expect(ids).toEqual(Array.from({ length: 90 }, (_, count) => 1_000 + count));
      expect((await share(each)).result).toBe(true);
    }
  });

  it('is refused when the server is full, and makes room for others then when it brings nothing', async () => {
    let skippedMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skippedMs };
    const { logged, recorded, client, end } = await serveShares({ clock, limits: { connections: 2, reportMs: 50 } });
    const [idle, later] = [await ready(client()), await ready(client())];
    await client().closed;
    const refused = () => recorded.of('relay').at(-1)?.refused;
    await eventually(() => expect(refused()).toMatchObject({ full: 1, idle: 0 }));
    skippedMs = 151_000;
    await client().closed;
    await idle.closed;
    await eventually(() => expect(refused()).toMatchObject({ full: 2, idle: 1 }));
    await ready(client());
    expect(later.socket.destroyed).toBe(false);
    await end();
    expect(logged).toContain('refused: full 2, idle 1; from 127.0.0.1');
  });

  it.each([
    ['a line that does not end', 'x'.repeat(5_000), 'a line is longer than 4096 bytes'],
    ['junk', 'GET / HTTP/1.1\r\n'.repeat(20), 'junk'],
    ['bytes that are no text', Buffer.alloc(400, '\u0000\n', 'latin1'), 'junk'],
  ])('is disconnected for %s', async (_, bytes, reason) => {
    const { logged, client } = await serveShares();
    const asic = client({ first: bytes });
    await asic.closed;
    expect(logged).toContain(`127.0.0.1 is disconnected: ${reason}`);
  });

  it('is disconnected when it does not read, and what waits for it is bounded', async () => {
    const { logged, client } = await serveShares({ limits: { pendingBytes: 20_000, lineBurst: 1e9 } });
    const slow = await ready(client());
    slow.socket.pause();
    // Each answer echoes the long id; the system's own buffers take some megabytes of them.
    const asks = `{"id":"${'x'.repeat(4_000)}","method":"mining.ping"}\n`.repeat(50);
    await eventually(() => {
      if (!slow.socket.destroyed) slow.say(asks);
      expect(logged).toContain('127.0.0.1 is disconnected: it does not read');
    });
    expect(logged.filter((line) => line.startsWith('127.0.0.1 is disconnected'))).toHaveLength(1);
  });

  it('is disconnected when it does not log in', async () => {
    const { logged, client } = await serveShares({ limits: { loginMs: 50 } });
    await client().closed;
    expect(logged).toContain('127.0.0.1 is disconnected: no login');
  });

  it('is disconnected at once when it begins TLS on a port that has none', async () => {
    const { relay, recorded } = await serveShares();
    const socket = connect(relay.port as number, '127.0.0.1');
    ends.push(() => socket.destroy());
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]));
    socket.resume();
    await once(socket, 'end');
    await eventually(() =>
      expect(recorded.of('relay').at(-1)?.refused).toMatchObject({ handshake: 1, timeout: 0, banned: 0 }),
    );
  });

  it('is refused when its address has too many connections, until one of them ends', async () => {
    const { client } = await serveShares({ limits: { connectionsPerAddress: 2 } });
    const first = await ready(client());
    await ready(client());
    await client().closed;
    first.end();
    await eventually(async () => {
      const next = client();
      next.login();
      await eventually(() => expect(next.job !== undefined || next.socket.destroyed).toBe(true));
      expect(next.job).toBeDefined();
    });
  });
});

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
    ends.push(() => socket.destroy());
    socket.write(`${V1}{"id":1,"method":"mining.ping","params":[]}\n`);
    const [answer] = await once(socket, 'data');
    expect(answer.toString()).toBe('{"result":"pong","error":null,"id":1}\n');
    socket.destroy();
    await eventually(() => expect(logged).toContain('192.0.2.9 is disconnected: it has closed the connection'));
  });

  it('a header may come in pieces', async () => {
    const server = createServer();
    ends.push(() => server.close());
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    ends.push(() => client.destroy());
    const [served] = (await once(server, 'connection')) as [Socket];
    ends.push(() => served.destroy());
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

it('a relay whose source throws, which it may not, ends and frees its port', async () => {
  const source = new FakeSource();
  const log = { debug() {}, info() {}, warn() {} };
  const listen = { host: '127.0.0.1', port: 0 };
  const relay = new StratumRelay({
    source,
    clock: systemClock,
    emit: () => {},
    log,
    listen,
    lane: 7,
    shareSeconds: 10,
  });
  await relay.open();
  const { port } = relay;
  const fault = source.fail();
  await expect(relay.run(new AbortController().signal)).rejects.toBe(fault);
  const socket = connect(port as number, '127.0.0.1');
  await expect(once(socket, 'connect')).rejects.toThrow('ECONNREFUSED');
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
