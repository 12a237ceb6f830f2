/** A mock node as every client sees it, and its options. */

import { describe, expect, it } from 'vitest';
import { MockNode } from '#pickaxe/mock-node/mock-node.js';
import type { MockNodeOptions } from '#pickaxe/mock-node/options.js';
import { eventually } from '../source/follow.ts';
import { chainBytes, MINER, startMining } from './mining.ts';

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
      await updates(chainBytes(99)),
    ]) {
      expect(headers['x-server-timestamp']).toMatch(/^\d{10}$/);
      expect(headers['x-peer-addr']).toMatch(/^127\.0\.0\.1:\d+$/);
      expect(headers['x-ledger-node-version']).toBe('2.24.1');
    }
  });

  it('is served under both paths, and for no other network', async () => {
    const { url, getWork } = await startMining({ network: 'testnet04' });
    expect((await getWork(MINER, {}, `${url}/ledger/0.0/testnet04`)).status).toBe(200);
    expect((await getWork(MINER, {}, `${url}/chainweb/0.0/testnet04`)).status).toBe(200);
    expect((await getWork(MINER, {}, `${url}/ledger/0.0/mainnet01`)).status).toBe(404);
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
    for (const chains of [0, 2, 5, 21, 22]) expect(() => new MockNode({ chains })).toThrow(/number of chains/);
    expect(() => new MockNode({ typo: 1 } as MockNodeOptions)).toThrow(/Unrecognized key: \\"typo\\"/);
    const node = new MockNode();
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
