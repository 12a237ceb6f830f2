import { describe, expect, it } from 'vitest';
import {
  type AccountReader,
  LedgerReader,
  readDetails,
  readLocal,
  readTokenBalances,
} from '#pickaxe/node/client/ledger-reader.js';
import { NodeApi } from '#pickaxe/node/client/node-api.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { formatTokenAmount } from '#pickaxe/protocol/ledger/decimal.js';
import { encodeBase64url, LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';
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

describe('the blocks of a node', () => {
  const hashOf = (number: number) => new Uint8Array(32).fill(number);
  const textOf = (number: number) => encodeBase64url(hashOf(number));
  const stop = new AbortController().signal;

  /** A reader of a node that answers each request for hashes with these. */
  function readerOf(hashes: readonly number[], payload: () => Promise<never> = () => Promise.reject(new Error())) {
    const asked: unknown[] = [];
    async function* all(...request: unknown[]) {
      asked.push(request.slice(0, -1));
      for (const number of hashes) yield hashOf(number);
    }
    const api = {
      network: 'mainnet01',
      cut: async () => ({ heads: new Map([[3, { height: 7n, hash: hashOf(9) }]]) }),
      hashBranch: all,
      hashes: all,
      payloadWithOutputs: payload,
    } as unknown as ConstructorParameters<typeof LedgerReader>[0];
    return { reader: new LedgerReader(api, 'http://one'), asked };
  }

  it('have heads', async () => {
    const { reader } = readerOf([]);
    expect([reader.node, reader.network]).toEqual(['http://one', 'mainnet01']);
    expect(await reader.heads(stop)).toEqual(new Map([[3, { height: 7n, hash: textOf(9) }]]));
  });

  it('have one ancestor at each height, from the highest down', async () => {
    const { reader, asked } = readerOf([3, 2, 1]);
    expect(await reader.ancestors(5, textOf(9), 10n, 12n, stop)).toEqual(
      new Map([
        [12n, textOf(3)],
        [11n, textOf(2)],
        [10n, textOf(1)],
      ]),
    );
    expect(asked).toEqual([[5, { upper: [Uint8Array.from(hashOf(9))] }, { minHeight: 10n, maxHeight: 12n }]]);
    for (const to of [11n, 13n]) {
      await expect(reader.ancestors(5, textOf(9), 10n, to, stop)).rejects.toThrow(
        `http://one gave 3 ancestors of chain 5 where there must be ${to - 9n}`,
      );
    }
  });

  it('are ten at a height at most', async () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
    const { reader, asked } = readerOf(numbers(20));
    expect(await reader.keptHashes(5, 10n, 11n, stop)).toEqual(new Set(numbers(20).map(textOf)));
    expect(asked).toEqual([[5, { minHeight: 10n, maxHeight: 11n }]]);
    await expect(readerOf(numbers(21)).reader.keptHashes(5, 10n, 11n, stop)).rejects.toMatchObject({
      kind: 'not understood',
      message: 'http://one gave more than 20 blocks of chain 5',
    });
  });

  it('may lack a payload, and all other errors stay errors', async () => {
    const payloadAfter = (error: Error) =>
      readerOf([], () => Promise.reject(error)).reader.payloadWithOutputs(5, hashOf(1), 7n, stop);
    expect(await payloadAfter(new NodeError('not found', 'no'))).toBeUndefined();
    for (const error of [new NodeError('refused', 'no'), Object.assign(new Error('no'), { kind: 'not found' })]) {
      await expect(payloadAfter(error)).rejects.toBe(error);
    }
  });
});

it.each([
  ['15 seconds before the node’s time', { leastUs: 0n, mostUs: 0n }, 1_700_000_000_999_999n, 1_699_999_985],
  ['at 0 where the node’s time is not known', undefined, 1_700_000_000_999_999n, 0],
  ['at 0 where the node’s clock is near it', { leastUs: 0n, mostUs: 0n }, 14_000_000n, 0],
])('a command that reads is dated %s', async (_, skew, latestUs, creationTime) => {
  const sent: { cmd: string }[] = [];
  const api = {
    network: 'x',
    skew,
    latestTimeUs: () => latestUs,
    local: async (_chain: number, command: { cmd: string }) => void sent.push(command),
  } as unknown as AccountReader;
  await readLocal(api, 'x', 3, { exec: { code: '1', data: null } });
  const { meta, signers, networkId } = JSON.parse(sent[0].cmd);
  expect([meta, signers, networkId]).toEqual([
    { chainId: '3', sender: '', gasLimit: 10_000, gasPrice: 1e-8, ttl: 600, creationTime },
    [],
    'x',
  ]);
});
