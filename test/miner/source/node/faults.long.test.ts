/** Tests the node source with every fault. None may crash it, make it hang, or lose a solution. */

import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { FaultInput } from '#pickaxe/mock-node/server/faults.js';
import { DIALECTS } from '../../../mock-node/node.ts';
import { selfSigned } from '../../../node/client/certificates.ts';
import { watchedClock } from '../../../watched-clock.ts';
import { eventually, mine, wrongSolution } from '../follow.ts';
import { followNode, miner, nodesOf } from './node.ts';

const workFault = (kind: FaultInput['kind'], more: Partial<FaultInput> = {}): FaultInput[] => [
  { endpoint: 'work', kind, ...more },
];

describe.each(DIALECTS)('on a node of the dialect %s', (dialect) => {
  const startNode = nodesOf(dialect);

  describe('work cannot be had', () => {
    it.each<[FaultInput['kind'], RegExp]>([
      ['drop', /the connection to .* broke/],
      ['unavailable', /is busy \(503 for .*\/mining\/work\)/],
      ['wrong-length', /sent 321 bytes as work; a work record is 322/],
      ['garbage', /bytes as work; a work record is 322/],
      ['captive-portal', /is not a node.*login page or a proxy/],
      ['lost-answer', /the connection to .* broke/],
      ['hang', /did not answer in time/],
    ])('%s: told once, tried again, over when it is over', async (kind, reason) => {
      const { node, url } = await startNode();
      node.server.faults = workFault(kind);
      const { follower, recorder } = followNode(url, kind === 'hang' ? { workTimeoutMs: 100 } : {});
      await eventually(() => expect(node.server.stats.requests.work).toBeGreaterThan(3));
      expect(follower.of('lost')).toHaveLength(1);
      expect(follower.of('lost')[0].reason).toMatch(reason);
      expect(follower.received).toHaveLength(0);
      node.server.faults = [];
      await follower.work();
      const states = recorder
        .of('source')
        .map(({ state }) => state)
        .filter((state) => state !== 'info');
      expect(states).toEqual(['lost', 'connected']);
    });

    it('for another reason than before: the new reason is reported, too', async () => {
      const { node, url } = await startNode();
      node.server.faults = workFault('unavailable');
      const { follower, recorder } = followNode(url);
      const lost = () => recorder.of('source').filter(({ state }) => state === 'lost');
      await eventually(() => expect(lost()).toHaveLength(1));
      node.server.faults = workFault('wrong-length');
      await eventually(() => expect(lost()).toHaveLength(2));
      expect(lost()[1].reason).toMatch(/sent 321 bytes/);
      expect(follower.of('lost')).toHaveLength(1);
      node.server.faults = [];
      await follower.work();
      expect(recorder.of('source').some(({ state }) => state === 'warning')).toBe(false);
    });

    it('the current work stays valid until the node has forgotten it', async () => {
      const { node, url } = await startNode({ streamLimit: 0 });
      const { follower } = followNode(url, { pollMs: 20, expiryMs: 1_500 });
      await follower.work();
      node.server.faults = workFault('drop');
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      const current = follower.received.at(-1)!;
      const expired = () => follower.of('stale').filter(({ works }) => works.includes(current));
      expect(expired()).toHaveLength(0);
      await eventually(() => expect(expired()).toMatchObject([{ reason: 'expired' }]));
      node.server.faults = [];
      await follower.work();
    });

    it('a single broken connection is not an outage', async () => {
      const { node, url } = await startNode({ streamLimit: 0 });
      const { follower, recorder } = followNode(url, { pollMs: 20 });
      await follower.work();
      for (let i = 0; i < 5; i++) {
        node.server.faults = workFault('drop', { times: 1 });
        await eventually(() => expect(node.server.faults[0].times).toBe(0));
        const requests = node.server.stats.requests.work;
        await eventually(() => expect(node.server.stats.requests.work).toBeGreaterThan(requests + 2));
      }
      expect(follower.of('lost')).toHaveLength(0);
      expect(recorder.of('source').filter(({ state }) => state === 'lost')).toHaveLength(0);
    });

    it('a node that is back with the same work says so, with the same object', async () => {
      const { node, url } = await startNode({ streamLimit: 0 });
      node.ledger.pickChain = () => 4;
      const { follower } = followNode(url, { pollMs: 20 });
      const work = await follower.work();
      node.server.faults = workFault('unavailable', { times: 1 });
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      await eventually(() => expect(follower.updates.at(-1)?.kind).toBe('work'));
      expect(follower.received).toHaveLength(2);
      expect(follower.received[1]).toBe(work);
    });

    it('a node that asks for a pause is not asked again before its end', async () => {
      const { node, url } = await startNode();
      node.server.faults = workFault('unavailable', { retryAfterS: 1, times: 1 });
      const { follower } = followNode(url);
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      const lostAtMs = performance.now();
      await follower.work();
      // Timers never fire early by more than a rounding.
      expect(performance.now() - lostAtMs).toBeGreaterThan(900);
    });

    it('a New Cut during a request that hangs is followed by a new request', async () => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      const { follower } = followNode(url, { workTimeoutMs: 300, pollMs: 60_000 });
      const { height } = await follower.work();
      await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
      node.server.faults = workFault('hang', { times: 2 });
      node.ledger.advance(3);
      await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + 1n));
    });

    it('a busy node is asked again soon, unlike a node that refuses', async () => {
      const { node, url } = await startNode();
      node.server.faults = workFault('unavailable', { times: 1 });
      const { follower } = followNode(url, { refusedPauses: { firstMs: 600_000, mostMs: 600_000 } });
      await follower.work();
      expect(follower.of('lost')).toHaveLength(1);
    });

    it('the miner is unknown to the node: the error says what is compared', async () => {
      const miners = [
        { account: miner.publicKeys[0], predicate: miner.predicate, 'public-keys': [...miner.publicKeys] },
      ];
      const { url } = await startNode({ miners });
      const { follower } = followNode(url);
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      const { reason } = follower.of('lost')[0];
      expect(reason).toMatch(/403: "Unauthorized Miner: k:/);
      expect(reason).toMatch(/"k:" followed by a key and the bare key are two different accounts/);
    });

    it('the mining API is disabled, or the network is wrong: the error says both', async () => {
      const disabled = await startNode({ miningEnabled: false });
      const other = await startNode({ network: 'testnet04' });
      for (const { url } of [disabled, other]) {
        const { follower } = followNode(url);
        await eventually(() => expect(follower.of('lost')).toHaveLength(1));
        expect(follower.of('lost')[0].reason).toMatch(
          /no mining API.*neither below \/ledger\/0\.0\/development nor below \/chainweb.*the network is wrong.*mining\.coordination\.enabled/,
        );
      }
    });

    it('nothing listens at first', async () => {
      const { node, url } = await startNode();
      const port = Number(new URL(url).port);
      await node.close();
      const { follower } = followNode(url);
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      expect(follower.of('lost')[0].reason).toMatch(/ECONNREFUSED.*Is the node running/);
      await startNode({ port });
      await follower.work();
    });

    it.each([
      ['no HTTP at all', 'SSH-2.0-OpenSSH\r\n', /does not speak HTTP/],
      ['endless headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`, /broke|does not speak HTTP/],
      ['an endless body', null, /far more than the specification allows|did not answer in time/],
    ])('%s', async (_, greeting, reason) => {
      const server = createServer((socket) => {
        socket.on('error', () => {});
        if (greeting !== null) {
          socket.write(greeting);
          return;
        }
        socket.write('HTTP/1.1 200 OK\r\nx-server-timestamp: 1800000000\r\n\r\n');
        const pour = () => {
          while (socket.writable && socket.write(Buffer.alloc(65_536)));
        };
        socket.on('drain', pour);
        pour();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void server.close());
      const { follower } = followNode(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
        workTimeoutMs: 20_000,
      });
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      expect(follower.of('lost')[0].reason).toMatch(reason);
    });

    it('the node does not speak TLS: the error says so', async () => {
      const { url } = await startNode();
      const { follower } = followNode(url.replace('http:', 'https:'));
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      expect(follower.of('lost')[0].reason).toMatch(/does not speak TLS: use http:\/\//);
    });

    it('the node signs its own certificate: the error says what to do', async () => {
      const record = Buffer.alloc(322, 1);
      // The number of the network development in the header.
      record.writeUInt32LE(1, 36 + 266);
      const server = createHttpsServer({ ...selfSigned }, (_, response) => {
        response.setHeader('x-server-timestamp', '1800000000');
        response.end(record);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => {
        server.close();
        server.closeAllConnections();
      });
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const careful = followNode(url).follower;
      await eventually(() => expect(careful.of('lost')).toHaveLength(1));
      expect(careful.of('lost')[0].reason).toMatch(/certificate .* is not trusted.*--insecure-tls/);
      const trusting = followNode(url, {}, { trust: { by: 'nothing' } }).follower;
      expect((await trusting.work()).header).toEqual(new Uint8Array(record.subarray(36)));
    });

    it('the host does not exist: the error says so', async () => {
      const { follower } = followNode('http://no-such-host.invalid:1848');
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      expect(follower.of('lost')[0].reason).toMatch(/no host of that name|cannot be looked up/);
    });
  });

  describe('a solution cannot be delivered', () => {
    const solvedFault = (kind: FaultInput['kind'], more: Partial<FaultInput> = {}): FaultInput[] => [
      { endpoint: 'solved', kind, ...more },
    ];

    it.each<FaultInput['kind']>(['drop', 'unavailable', 'captive-portal', 'hang'])(
      '%s: it is sent again, and taken once',
      async (kind) => {
        const { node, url } = await startNode();
        const { source, follower } = followNode(url, kind === 'hang' ? { solvedTimeoutMs: 100 } : {});
        const work = await follower.work();
        node.server.faults = solvedFault(kind, { times: 3 });
        expect(await source.submit(mine(work), follower.stop)).toEqual({ outcome: 'accepted', reason: '' });
        expect(node.server.stats.requests.solved).toBe(4);
        expect(node.ledger.stats.submissions).toBe(1);
      },
    );

    it('the answer is lost after the node has accepted it: the verdict is unknown, because the next answer is 404', async () => {
      const { node, url } = await startNode();
      const { source, follower } = followNode(url);
      const work = await follower.work();
      node.server.faults = solvedFault('lost-answer', { times: 1 });
      const verdict = await source.submit(mine(work), follower.stop);
      expect(verdict.outcome).toBe('unknown');
      expect(verdict.reason).toContain('No associated Payload');
      expect(node.ledger.stats.accepted).toBe(1);
    });

    it.each<FaultInput['kind']>(['broken-body', 'endless-body'])(
      '%s: that it was taken is known by the status',
      async (kind) => {
        const { node, url } = await startNode();
        const { source, follower } = followNode(url);
        const work = await follower.work();
        node.server.faults = solvedFault(kind);
        expect(await source.submit(mine(work), follower.stop)).toEqual({ outcome: 'accepted', reason: '' });
        expect(node.server.stats.requests.solved).toBe(1);
      },
    );

    it('a refusal has an endless body: it is still a refusal', async () => {
      const { node, url } = await startNode();
      const { source, follower } = followNode(url, { bodyTimeoutMs: 50 });
      const work = await follower.work();
      node.server.faults = solvedFault('endless-body');
      expect((await source.submit(wrongSolution(work), follower.stop)).outcome).toBe('rejected');
      expect(node.server.stats.requests.solved).toBe(1);
    });

    it('the node is away: the solution is kept, and delivered when it is back', async () => {
      const { node, url } = await startNode();
      const { source, follower, recorder } = followNode(url, { pollMs: 20 });
      const work = await follower.work();
      await node.goAway();
      const pending = source.submit(mine(work), follower.stop);
      await eventually(() => expect(recorder.of('source').some(({ state }) => state === 'lost')).toBe(true));
      await node.comeBack();
      expect(await pending).toEqual({ outcome: 'accepted', reason: '' });
    });

    it('the node does not answer: after a while the miner gets other work', async () => {
      const { node, url } = await startNode();
      const { source, follower } = followNode(url, { solvedAfterMs: 50, solvedTimeoutMs: 60_000 });
      node.ledger.pickChain = () => 3;
      const work = await follower.work();
      node.server.faults = solvedFault('hang');
      const pending = source.submit(mine(work), follower.stop);
      await eventually(() => expect(follower.of('stale').map(({ reason }) => reason)).toContain('solved'));
      expect(node.server.stats.requests.solved).toBe(1);
      node.ledger.pickChain = () => 4;
      await eventually(() => expect(follower.received.at(-1)?.chain).toBe(4));
      await follower.end();
      await pending;
    });

    it('a submission is repeated: the miner gets other work meanwhile', async () => {
      const { node, url } = await startNode();
      const { source, follower } = followNode(url);
      node.ledger.pickChain = () => 3;
      const work = await follower.work();
      node.server.faults = solvedFault('unavailable');
      const pending = source.submit(mine(work), follower.stop);
      await eventually(() => expect(follower.of('stale').map(({ reason }) => reason)).toContain('solved'));
      await eventually(() => expect(follower.received.at(-1)).not.toBe(work));
      node.server.faults = [];
      expect((await pending).outcome).toBe('accepted');
    });

    it('a New Cut comes before any attempt has reached the node: the solution is stale', async () => {
      const { node, url } = await startNode();
      const { source, follower } = followNode(url);
      node.ledger.pickChain = () => 3;
      const work = await follower.work();
      await eventually(() => expect(node.server.streams.openFor(work.chain)).toBe(1));
      node.server.faults = solvedFault('unavailable');
      const pending = source.submit(mine(work), follower.stop);
      await eventually(() => expect(node.server.stats.requests.solved).toBeGreaterThan(0));
      node.ledger.advance(work.chain);
      const verdict = await pending;
      expect(verdict.outcome).toBe('stale');
      expect(verdict.reason).toMatch(/a New Cut came before/);
    });

    it('the work is older than nodes remember: one attempt is still made', async () => {
      const { node, url } = await startNode();
      const { source, follower } = followNode(url, { expiryMs: 1, refreshMs: 60_000, pollMs: 60_000 });
      const work = await follower.work();
      expect(await source.submit(mine(work), follower.stop)).toEqual({ outcome: 'accepted', reason: '' });
      expect(node.ledger.stats.accepted).toBe(1);
    });

    it('the node has forgotten the work meanwhile: the verdict is unknown', async () => {
      const { node, url } = await startNode();
      const limits = { expiryMs: 500, solvedTimeoutMs: 500, refreshMs: 60_000, pollMs: 60_000 };
      const { source, follower } = followNode(url, limits);
      const work = await follower.work();
      node.server.faults = solvedFault('hang');
      const verdict = await source.submit(mine(work), follower.stop);
      expect(verdict.outcome).toBe('unknown');
      expect(verdict.reason).toMatch(/gave up after (one|\d+) attempts?/);
    });

    it('the node will soon forget the work: attempts end then', async () => {
      const { node, url } = await startNode();
      let laterMs = 0;
      const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + laterMs };
      const { source, follower } = followNode(
        url,
        { expiryMs: 600_000, refreshMs: 600_000, pollMs: 600_000, solvedTimeoutMs: 500 },
        {},
        { clock },
      );
      const work = await follower.work();
      node.server.faults = [{ endpoint: 'any', kind: 'hang' }];
      laterMs = 599_500;
      expect((await source.submit(mine(work), follower.stop)).outcome).toBe('unknown');
    });

    it('the miner is told to stop: the submission settles soon', async () => {
      const { node, url } = await startNode();
      const { source, follower } = followNode(url, { submitAfterStopMs: 300 });
      const [work, later] = [await follower.work(), await follower.work()];
      node.server.faults = solvedFault('hang');
      const pending = source.submit(mine(work), follower.stop);
      // Else a busy node could read it once nothing hangs any more, and take it.
      await eventually(() => expect(node.server.stats.requests.solved).toBe(1));
      await follower.end();
      expect((await pending).outcome).toBe('unknown');
      node.server.faults = [];
      expect((await source.submit(mine(later), follower.stop)).outcome).toBe('accepted');
    });
  });

  describe('a sign of life', () => {
    it('a New Cut makes a work request that hangs be sent again', async () => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      const { follower } = followNode(url, { workTimeoutMs: 60_000, hurryMs: 50 });
      const { height } = await follower.work();
      await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
      node.server.faults = workFault('hang', { times: 1 });
      node.ledger.advance(3);
      await eventually(() => expect(node.server.faults[0].times).toBe(0));
      await eventually(() => {
        node.ledger.advance(3);
        expect(follower.received.at(-1)?.height).toBeGreaterThan(height + 1n);
      });
    });

    it('a New Cut ends the pause that the node has asked for', async () => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      const { follower } = followNode(url, { refreshMs: 50 });
      const { height } = await follower.work();
      await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
      node.server.faults = workFault('unavailable', { retryAfterS: 60, times: 1 });
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      node.ledger.advance(3);
      await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + 1n));
    });

    it('while nothing is mined, no node gets a pause of a minute', async () => {
      const { node, url } = await startNode();
      // Two such pauses would take longer than the test waits.
      node.server.faults = workFault('unavailable', { retryAfterS: 600, times: 2 });
      const { follower } = followNode(url, { idlePatienceMs: 50 });
      await follower.work();
      expect(node.server.stats.faults).toBe(2);
    });

    it('work that comes again ends the streams’ pauses', async () => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      const { follower } = followNode(url, { pollMs: 20, streamPauses: { firstMs: 120_000, mostMs: 120_000 } });
      await follower.work();
      await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
      await node.goAway();
      await eventually(() => expect(follower.of('lost')).toHaveLength(1));
      await node.comeBack();
      await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
    });
  });

  it('when a New Cut comes before the node’s work has changed, work is fetched again until it has', async () => {
    const { node, url } = await startNode({ cutLeadMs: 200 });
    node.ledger.pickChain = () => 3;
    const { follower } = followNode(url, { refreshMs: 60_000, pollMs: 60_000 });
    const { height } = await follower.work();
    await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
    node.ledger.advance(3);
    await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + 1n));
  });

  it('after a suspension everything is requested again', async () => {
    const { node, url } = await startNode();
    let sleptMs = 0;
    const clock = { ...systemClock, nowUs: () => systemClock.nowUs() + BigInt(sleptMs) * 1000n };
    const { recorder } = followNode(url, { refreshMs: 600_000, pollMs: 600_000 }, {}, { clock });
    node.ledger.pickChain = () => 3;
    await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
    const { work, updates } = node.server.stats.requests;
    sleptMs = 60_000;
    await eventually(() => {
      expect(node.server.stats.requests.work).toBeGreaterThan(work);
      expect(node.server.stats.requests.updates).toBeGreaterThan(updates);
      expect(recorder.of('source').some(({ reason }) => /suspended for 6\d s/.test(reason))).toBe(true);
    });
  });

  it('after a suspension the old connections are not used', async () => {
    const { node, url } = await startNode({ streamLimit: 0, configServed: false });
    let sleptMs = 0;
    const clock = { ...systemClock, nowUs: () => systemClock.nowUs() + BigInt(sleptMs) * 1000n };
    const limits = { refreshMs: 600_000, pollMs: 600_000, noStreamsPauseMs: 600_000 };
    const { follower, recorder } = followNode(url, limits, {}, { clock });
    await follower.work();
    await eventually(() =>
      expect(recorder.of('source').some(({ reason }) => /no update stream/.test(reason))).toBe(true),
    );
    const { connections } = node.server.stats;
    const { work, updates } = node.server.stats.requests;
    sleptMs = 60_000;
    await eventually(() => {
      expect(node.server.stats.requests.work).toBeGreaterThan(work);
      expect(node.server.stats.requests.updates).toBeGreaterThan(updates);
    });
    expect(node.server.stats.connections).toBeGreaterThanOrEqual(connections + 2);
  });

  it('after a suspension a work request that hangs is sent again', async () => {
    const { node, url } = await startNode({ streamLimit: 0 });
    let sleptMs = 0;
    const clock = { ...systemClock, nowUs: () => systemClock.nowUs() + BigInt(sleptMs) * 1000n };
    const { follower } = followNode(url, { pollMs: 20, workTimeoutMs: 600_000, hurryMs: 600_000 }, {}, { clock });
    await follower.work();
    node.server.faults = workFault('hang', { times: 1 });
    await eventually(() => expect(node.server.faults[0].times).toBe(0));
    const { work } = node.server.stats.requests;
    sleptMs = 60_000;
    await eventually(() => expect(node.server.stats.requests.work).toBeGreaterThan(work));
  });

  it('nothing watches for suspensions once a source has ended', async () => {
    const { clock, intervalsMs } = watchedClock();
    const { url } = await startNode();
    const { follower } = followNode(url, {}, {}, { clock });
    await follower.work();
    expect(intervalsMs()).toContain(500);
    await follower.end();
    expect(intervalsMs()).toEqual([]);
  });

  describe('whether a node answers', () => {
    it('is not asked when it has just answered', async () => {
      const { node, url } = await startNode();
      const { source, follower } = followNode(url, { probeTimeoutMs: 60_000 });
      await follower.work();
      node.server.faults = [{ endpoint: 'any', kind: 'hang' }];
      expect(await source.answers(follower.stop)).toBe(true);
    });

    it('is false where nothing listens', async () => {
      const { node, url } = await startNode();
      await node.close();
      const { source, follower } = followNode(url);
      expect(await source.answers(follower.stop)).toBe(false);
    });
  });

  describe('update streams fail', () => {
    it('after they were open: the chain is polled from then on', async () => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      const { follower } = followNode(url, { burstMs: 1, pollMs: 2_000, refreshMs: 600_000 });
      const { height } = await follower.work();
      await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
      // Once it is known how often there are New Cuts, work is good for ten minutes.
      for (let block = 1n; block <= 3n; block++) {
        node.ledger.advance(3);
        await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + block));
      }
      node.server.faults = [{ endpoint: 'updates', kind: 'unavailable' }];
      node.server.streams.endAll();
      node.ledger.advance(3);
      await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + 4n));
    });

    it('again after a stream was open: people are told again', async () => {
      const { node, url } = await startNode();
      node.ledger.pickChain = () => 3;
      const { recorder } = followNode(url, { noStreamsPauseMs: 20, steadyStreamMs: 0 });
      const told = () => recorder.of('source').filter(({ reason }) => /no update stream/.test(reason));
      await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
      for (const times of [1, 2]) {
        node.server.faults = [{ endpoint: 'updates', kind: 'unavailable', times: 1 }];
        node.server.streams.endAll();
        await eventually(() => expect(told()).toHaveLength(times));
        await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
      }
    });

    it.each<FaultInput['kind']>(['drop', 'unavailable', 'garbage', 'captive-portal', 'hang', 'end-stream'])(
      '%s: the chain is polled, and followed again once that is over',
      async (kind) => {
        const { node, url } = await startNode();
        node.server.faults = [{ endpoint: 'updates', kind }];
        node.ledger.pickChain = () => 3;
        const { follower } = followNode(url, { pollMs: 50, maxStreamMs: 500, noStreamsPauseMs: 50 });
        const { height } = await follower.work();
        node.ledger.advance(3);
        await eventually(() => expect(follower.received.at(-1)?.height).toBe(height + 1n));
        node.server.faults = [];
        await eventually(() => expect(node.server.streams.openFor(3)).toBe(1));
        expect(follower.of('lost')).toHaveLength(0);
      },
    );
  });

  it.each([503, 500, 404, 403, 400, 418])(
    'a key in the node’s path is never shown, whatever the node answers: %i',
    async (status) => {
      const asked = new Set<string>();
      const server = createHttpServer(({ url = '' }, response) => {
        asked.add(url);
        response.writeHead(status, { 'x-server-timestamp': '1700000000' }).end(`no ${url} for you`);
      });
      onTestFinished(() => void server.close().closeAllConnections());
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      for (const path of ['/SECRET/chainweb/0.0/mainnet01', '/v1/SECRET']) {
        const { source, recorder } = followNode(`http://127.0.0.1:${port}${path}`);
        await eventually(() => expect(recorder.of('source').some(({ state }) => state === 'lost')).toBe(true));
        expect(asked).toContain(`${path}/mining/work`);
        expect(JSON.stringify([source.name, recorder.all])).not.toContain('SECRET');
        expect(source.name).toContain('/…');
      }
    },
  );
});
