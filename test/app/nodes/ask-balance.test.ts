import { describe, expect, it } from 'vitest';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { askBalance } from '#pickaxe/app/nodes/ledger-views.js';
import { NoBalance } from '#pickaxe/rig/status/earnings.js';
import { nodesOf } from '../../miner/source/node/node.ts';

const startNode = nodesOf('chainweb');

const key = 'ab'.repeat(32);
const account = `k:${key}`;
const NOWHERE = 'http://127.0.0.1:9';
const accounts = [
  { account, balance: '91234567890123.123456789012', chains: [0] },
  { account, balance: '0.000000000001', chains: [3] },
];

const running = new AbortController().signal;
const ask = (urls: readonly string[], miner: object = {}, stop = running) => {
  const node = { ...DEFAULTS.node, urls, network: 'development' };
  return askBalance({ node, ledger: DEFAULTS.ledger, miner: { ...DEFAULTS.miner, publicKeys: [key], ...miner } }, stop);
};

describe('the balance that a rig’s nodes tell', () => {
  it('is exact on each chain and in all, and says where the account does not exist', async () => {
    const { url } = await startNode({ chains: 4, accounts });
    const told = (chain: number, balance: string, exists: boolean) => ({ chain, balance, exists, fault: null });
    expect(await ask([url])).toEqual({
      account,
      node: url,
      total: '91234567890123.123456789013',
      chains: [
        told(0, '91234567890123.123456789012', true),
        told(1, '0.0', false),
        told(2, '0.0', false),
        told(3, '0.000000000001', true),
      ],
    });
  });

  it('is that of the account that is configured, if one is', async () => {
    const { url } = await startNode({ accounts: [{ account: 'shared', balance: '2.0', keys: [key] }] });
    expect(await ask([url], { account: 'shared' })).toMatchObject({ account: 'shared', total: '40.0' });
  });

  it('has no total when a chain did not answer, and says why', async () => {
    const { node, url } = await startNode({ chains: 4, accounts });
    node.server.faults = [{ endpoint: 'local', kind: 'status', status: 400, text: 'no', times: 1 }];
    const { total, chains } = await ask([url]);
    const failed = chains.filter(({ fault }) => fault !== null);
    expect([total, failed]).toEqual([
      null,
      [{ chain: expect.any(Number), balance: null, exists: null, fault: expect.stringContaining('(400: "no")') }],
    ]);
  });

  it('comes from the next node when one cannot tell', async () => {
    const failing = await startNode({ chains: 4, accounts });
    failing.node.server.faults = [{ endpoint: 'local', kind: 'unavailable' }];
    const { url } = await startNode({ chains: 4, accounts });
    const { node, total } = await ask([NOWHERE, failing.url, url]);
    expect([node, total]).toEqual([url, '91234567890123.123456789013']);
  });

  it('is not told without saying of each node why', async () => {
    const { node, url } = await startNode({ chains: 4, accounts });
    node.server.faults = [{ endpoint: 'cut', kind: 'status', status: 500, text: 'broken' }];
    const fault = await ask([NOWHERE, url]).catch((error) => error);
    expect(fault).toBeInstanceOf(NoBalance);
    expect(fault.message).toMatch(/^cannot reach http:\/\/127\.0\.0\.1:9 .*; http:\/\/\S+\/cut .*500/);
  });

  it('is not asked for any longer when it is not wanted any more', async () => {
    const { node, url } = await startNode({ chains: 4, accounts });
    node.server.faults = [{ endpoint: 'local', kind: 'hang' }];
    const reason = new Error('enough');
    await expect(ask([url], {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    const stopping = new AbortController();
    const asking = ask([url], {}, stopping.signal);
    setImmediate(() => stopping.abort(reason));
    await expect(asking).rejects.toBe(reason);
  });
});
