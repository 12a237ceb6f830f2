import { once } from 'node:events';
import { connect } from 'node:net';
import { createSecureContext } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Ledger } from '#pickaxe/miner/relay/stratum/share-log.js';
import { StratumRelay } from '#pickaxe/miner/relay/stratum/stratum-server.js';
import { SharedSource } from '#pickaxe/miner/source/following.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { FakeSource, makeWork } from '../../../fakes.ts';
import { DIALECTS, MockNode } from '../../../mock-node/node.ts';
import { selfSigned } from '../../../node/client/certificates.ts';
import { eventually } from '../../source/follow.ts';
import { miner } from '../../source/node/node.ts';
import { ready, serve, serveShares, share, TRUST } from './serving.ts';

describe('a stratum server on a real node', () => {
  it.each(DIALECTS)(
    'has ASICs find blocks, which a node of the dialect %s accepts, and stays beside another consumer',
    async (dialect) => {
      const node = new MockNode({ dialect, difficulty: 2_000, seed: 5 });
      const { url } = await node.start();
      onTestFinished(() => node.close());
      const source = new SharedSource(new NodeSource({ url, network: 'development', miner }));
      onTestFinished(() => source.close());
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
