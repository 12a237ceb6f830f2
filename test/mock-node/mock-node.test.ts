/** Properties of a mock node that concern every client, and its options. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { MockNode as DefaultNode } from '#pickaxe/mock-node/mock-node.js';
import { basePathOf } from '#pickaxe/node/http/url.js';
import { eventually } from '../miner/source/follow.ts';
import { chainBytes, MINER, miningOf } from './mining.ts';
import { DIALECTS, MockNode, type MockNodeOptions } from './node.ts';

const startMining = miningOf('document');

/** The header with a node's version, which is another one in each dialect. */
const VERSIONS = { document: 'x-ledger-node-version', chainweb: 'x-chainweb-node-version' } as const;

describe('every answer', () => {
  it('has the headers of a node', async () => {
    const { ask, getWork, updates, url } = await startMining();
    for (const { headers } of [
      await getWork(),
      await getWork('{'),
      await getWork(MINER, { accept: 'text/html' }),
      await ask('/nonsense'),
      await ask('/mining/work', { method: 'POST' }),
      await ask('/config', {}, url),
      await updates(chainBytes(0)),
      await updates(new Uint8Array(3)),
    ]) {
      expect(headers['x-server-timestamp']).toMatch(/^\d{10}$/);
      expect(headers['x-peer-addr']).toMatch(/^127\.0\.0\.1:\d+$/);
      expect(headers['x-ledger-node-version']).toBe('2.24.1');
    }
  });

  it.each([
    [{}, [200, 200]],
    [{ dialect: 'document' }, [200, 404]],
    [{ dialect: 'chainweb' }, [404, 200]],
  ] as const)(
    'of a node with the options %j is at both paths or at one, and at no other network’s',
    async (options, statuses) => {
      const node = new DefaultNode({ network: 'testnet04', ...options });
      onTestFinished(() => node.close());
      const { url } = await node.start();
      const answersOf = async (network: string) =>
        await Promise.all(
          DIALECTS.map(async (dialect) => {
            const { status, headers } = await fetch(`${url}${basePathOf(dialect, network)}/cut`);
            const own = Object.values(VERSIONS).filter((name) => headers.has(name));
            return { status, own };
          }),
        );
      const own = DIALECTS.map((dialect) => [VERSIONS['dialect' in options ? options.dialect : dialect]]);
      expect(await answersOf('testnet04')).toEqual(statuses.map((status, i) => ({ status, own: own[i] })));
      expect(await answersOf('mainnet01')).toEqual(own.map((names) => ({ status: 404, own: names })));
    },
  );

  it.each([
    ['document', 'flow', 'pact'],
    ['chainweb', 'pact', 'flow'],
  ] as const)('of a node of the dialect %s to commands is at its own path alone', async (dialect, own, other) => {
    const { ask } = await miningOf(dialect)();
    const statusOf = async (path: string) =>
      (await ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).status;
    for (const path of ['api/v1/local', 'api/v1/poll', 'spv']) {
      const statuses = [await statusOf(`/chain/0/${own}/${path}`), await statusOf(`/chain/0/${other}/${path}`)];
      expect([path, ...statuses]).toEqual([path, 400, 404]);
    }
  });
});

describe('a request', () => {
  it.each([
    ['/mining/work', 'POST'],
    ['/mining/solved', 'GET'],
    ['/mining/updates', 'POST'],
    ['/chain/0/block', 'PUT'],
  ] as const)('to %s by %s is refused because of its method', async (path, method) => {
    const { ask, node } = await startMining();
    const { status, headers, body } = await ask(path, { method, headers: { 'content-type': 'text/html' } });
    expect([status, body.toString()]).toEqual([405, 'Method Not Allowed']);
    expect(headers['content-type']).toBe('text/plain;charset=utf-8');
    expect(node.ledger.stats.workIssued).toBe(0);
  });

  it('is refused for what it accepts before it is refused for what it sends', async () => {
    const { getWork } = await startMining();
    expect((await getWork(MINER, { accept: 'text/html', 'content-type': 'text/html' })).status).toBe(406);
  });
});

describe('rivals and options', () => {
  it('advance chains at random', async () => {
    const { node } = await startMining({ rivalMs: 2 });
    await eventually(() => expect(node.ledger.stats.rivalBlocks).toBeGreaterThan(20));
  });

  it('are checked', () => {
    const dialect = 'document';
    for (const chains of [0, 2, 5, 21, 22]) expect(() => new MockNode({ dialect, chains })).toThrow(/number of chains/);
    expect(() => new MockNode({ dialect, typo: 1 } as MockNodeOptions)).toThrow(/Unrecognized key: \\"typo\\"/);
    const node = new MockNode({ dialect });
    expect(() => {
      node.server.faults = [{ endpoint: 'work', kind: 'typo' as 'drop' }];
    }).toThrow('Invalid option: expected one of');
  });

  it('include a clock that is off', async () => {
    const { ask } = await startMining({ clockSkewMs: -3_600_000 });
    const { headers } = await ask('/chain/0/block');
    const behindS = Date.now() / 1000 - Number(headers['x-server-timestamp']);
    expect(behindS).toBeGreaterThan(3_500);
    expect(behindS).toBeLessThan(3_700);
  });
});
