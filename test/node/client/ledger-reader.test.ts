import { describe, expect, it } from 'vitest';
import { type AccountReader, readDetails, readTokenBalances } from '#pickaxe/node/client/ledger-reader.js';
import { NodeApi } from '#pickaxe/node/client/node-api.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { formatTokenAmount } from '#pickaxe/protocol/ledger/decimal.js';
import { LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';
import { nodesOf } from '../../miner/source/node/node.ts';

const startNode = nodesOf('chainweb');

const key = 'ab'.repeat(32);
const account = `k:${key}`;
const coins = { account, module: 'coin' };

describe('balances', () => {
  it('are exact on every chain, and undefined where the account does not exist', async () => {
    const { url } = await startNode({
      accounts: [
        { account, balance: '91234567890123.123456789012', chains: [0, 2] },
        { account, balance: '0.1', chains: [5] },
      ],
    });
    const api = new NodeApi({ url, network: 'development' });
    try {
      const readings = await readTokenBalances(api, (await api.cut()).heads.keys(), coins);
      expect(readings.map(({ chain }) => chain)).toEqual([...Array(20).keys()]);
      const values = readings.map((reading) =>
        'value' in reading ? reading.value && formatTokenAmount(reading.value) : reading.error,
      );
      const rich = '91234567890123.123456789012';
      expect(values.slice(0, 6)).toEqual([rich, undefined, rich, undefined, undefined, '0.1']);
    } finally {
      await api.close();
    }
  });

  it('are asked for on at most 20 chains at once, and on each once', async () => {
    let open = 0;
    let most = 0;
    const asked: number[] = [];
    const api: AccountReader = {
      network: 'x',
      skew: undefined,
      latestTimeUs: () => 0n,
      local: async (chain) => {
        asked.push(chain);
        most = Math.max(most, ++open);
        await new Promise(setImmediate);
        open--;
        return { outcome: { status: 'success', data: { decimal: '1.0' } }, warnings: [] };
      },
    };
    const readings = await readTokenBalances(api, Array(50).keys(), coins);
    expect(readings.map(({ chain }) => chain)).toEqual([...Array(50).keys()]);
    expect([most, asked.length]).toEqual([20, 50]);
  });

  it('are never 0 for another failure than a missing account', async () => {
    const failures = ['row not found: somebody else', 'Gas limit (10000) exceeded'];
    const api: AccountReader = {
      network: 'x',
      skew: undefined,
      latestTimeUs: () => 0n,
      local: async (chain) => {
        if (chain === 2) throw new NodeError('failed', 'The node failed.');
        return { outcome: { status: 'failure', error: { message: failures[chain] } }, warnings: [] };
      },
    };
    const readings = await readTokenBalances(api, [0, 1, 2], coins);
    expect(readings).toEqual([
      { chain: 0, error: expect.any(LedgerFormatError) },
      { chain: 1, error: expect.objectContaining({ message: expect.stringContaining(failures[1]) }) },
      { chain: 2, error: expect.any(NodeError) },
    ]);
  });
});

describe('details', () => {
  it('tell whose signatures an account needs', async () => {
    const { url } = await startNode({
      chains: 4,
      accounts: [{ account: 'shared', keys: [key], pred: 'keys-any', chains: [3] }],
    });
    const api = new NodeApi({ url, network: 'development' });
    try {
      const readings = await readDetails(api, [0, 3], { account: 'shared', module: 'coin' });
      expect(readings).toEqual([
        { chain: 0, value: undefined },
        { chain: 3, value: expect.objectContaining({ balance: 0n, keyset: { keys: [key], pred: 'keys-any' } }) },
      ]);
    } finally {
      await api.close();
    }
  });
});
