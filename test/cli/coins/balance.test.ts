import { describe, expect, it } from 'vitest';
import { BalanceReport } from '#pickaxe/cli/coins/balance.js';
import { expectShape } from '../../expect-shape.ts';
import { nodesOf } from '../../miner/source/node/node.ts';
import { serve } from '../../node/client/server.ts';
import { pickaxe } from '../in-process.ts';

const startNode = nodesOf('chainweb');

const key = 'a1'.repeat(32);
const account = `k:${key}`;
const accounts = [
  { account, balance: '12.5', chains: [0] },
  { account, balance: '0.000000000001', chains: [3] },
];

describe('pickaxe balance', () => {
  it('prints what the miner has on each chain, and in all', async () => {
    const { url } = await startNode({ chains: 4, accounts });
    const { code, stdout } = await pickaxe('balance', '--node', url, '--public-key', key);
    expect(stdout.split('\n')).toEqual([
      `account  ${account}`,
      'chain 0  12.5',
      'chain 1  no account',
      'chain 2  no account',
      'chain 3   0.000000000001',
      'total    12.500000000001',
    ]);
    expect(code).toBe(0);
  });

  it('prints JSON, of any account, and says when no chain has it', async () => {
    const { url } = await startNode({ accounts });
    const { code, stdout, stderr } = await pickaxe(
      'balance',
      'nobody',
      '--json',
      '--node',
      url,
      '--network',
      'development',
    );
    const chains = Array.from({ length: 20 }, (_, chain) => ({ chain, balance: null, fault: null }));
    expectShape(BalanceReport, JSON.parse(stdout));
    expect(JSON.parse(stdout)).toEqual({
      account: 'nobody',
      token: 'coin',
      network: 'development',
      chains,
      total: '0.0',
    });
    expect([code, stderr]).toEqual([0, 'No chain of development has the account nobody. Is its name right?\n']);
  });

  it('tells an account without coins from none', async () => {
    const { url } = await startNode({ chains: 3, accounts: [{ account, balance: '0.0', chains: [2] }] });
    const { code, stdout, stderr } = await pickaxe('balance', account, '--node', url);
    const rows = [`account  ${account}`, 'chain 0  no account', 'chain 1  no account', 'chain 2  0.0', 'total    0.0'];
    expect([code, stdout.split('\n'), stderr]).toEqual([0, rows, '']);
    const none = await pickaxe('balance', `k:${'b2'.repeat(32)}`, '--node', url);
    expect([none.code, none.stderr]).toEqual([
      0,
      expect.stringMatching(/^No chain of .* Its first coins create it\.\n$/),
    ]);
  });

  it('prints every digit of a token that has more decimal places than coins', async () => {
    const heads = { 0: { height: 5, hash: 'A'.repeat(43) }, 1: { height: 5, hash: 'A'.repeat(43) } };
    const amounts = ['0.000000000000000001', '1234.5'];
    const { url } = await serve(({ path }) => {
      if (path.endsWith('/cut')) return { body: { origin: null, height: 10, weight: 'A'.repeat(43), hashes: heads } };
      const decimal = amounts[Number(/chain\/(\d)/.exec(path)?.[1])];
      const result = { status: 'success', data: { decimal } };
      return {
        body: { gas: 0, result, reqKey: 'A'.repeat(43), logs: null, metaData: null, continuation: null, txId: null },
      };
    });
    const args = ['balance', account, '--token', 'free.fine', '--node', url, '--network', 'development'];
    const { code, stdout, stderr } = await pickaxe(...args);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.split('\n')).toEqual([
      `account  ${account}`,
      'chain 0     0.000000000000000001',
      'chain 1  1234.5',
      'total    1234.500000000000000001',
    ]);
  });

  it('knows no total, and fails, when a chain was not read', async () => {
    const { node, url } = await startNode({ chains: 4, accounts });
    node.server.faults = [{ endpoint: 'local', kind: 'status', status: 400, text: 'no', times: 1 }];
    const text = await pickaxe('balance', account, '--node', url);
    expect(text.stdout).toMatch(/^chain \d {2}not read$/m);
    expect(text.stdout).toMatch(/^total {4}not known$/m);
    expect([text.code, text.stderr]).toEqual([1, expect.stringMatching(/^error: chain \d: .* \(400: "no"\)\.\n$/)]);
    node.server.faults = [{ endpoint: 'local', kind: 'status', status: 400, text: 'no' }];
    const json = await pickaxe('balance', account, '--node', url, '--json');
    expectShape(BalanceReport, JSON.parse(json.stdout));
    const { chains, total } = JSON.parse(json.stdout);
    expect([json.code, total, chains.length]).toEqual([1, null, 4]);
    expect(chains[1]).toEqual({ chain: 1, balance: null, fault: expect.stringContaining('400') });
  });

  it.each([
    [3, 3, []],
    [4, 3, ['error: 1 more chain was not read.']],
    [10, 3, ['error: 7 more chains were not read.']],
  ])('of %i chains that were not read says of %i why', async (chains, most, more) => {
    const { node, url } = await startNode({ chains });
    node.server.faults = [{ endpoint: 'local', kind: 'status', status: 400, text: 'no' }];
    const { code, stderr } = await pickaxe('balance', account, '--node', url);
    const errors = Array.from({ length: most }, (_, chain) => expect.stringMatching(`^error: chain ${chain}: .*400`));
    expect([code, stderr.trim().split('\n')]).toEqual([1, [...errors, ...more]]);
  });

  it('wants to know whose balance, and from which node', async () => {
    const nobody = await pickaxe('balance', '--node', 'http://127.0.0.1:9', '--network', 'development');
    expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringMatching(/Say whose balance/)]);
    const nowhere = await pickaxe('balance', account);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringMatching(/No node is configured/)]);
  });
});
