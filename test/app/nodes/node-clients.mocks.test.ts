/** With which options nodes are asked, and what is made of what they say. */

import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { askBalance, earningsTerms, openLedgerViews } from '#pickaxe/app/nodes/ledger-views.js';
import { describeServedNetwork, nodeApi, noNode, openNodeApi } from '#pickaxe/app/nodes/node-clients.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { version } from '#pickaxe/base/system/version.js';
import { readDetails } from '#pickaxe/node/client/ledger-reader.js';
import { NodeApi } from '#pickaxe/node/client/node-api.js';
import { NodeError, type NodeErrorKind } from '#pickaxe/node/http/node-error.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';
import { NoBalance } from '#pickaxe/rig/status/earnings.js';

vi.mock('#pickaxe/node/client/ledger-reader.js');
vi.mock('#pickaxe/node/client/node-api.js');

const [ONE, TWO, P2P] = ['http://one.example:1848', 'http://two.example:1848', 'https://one.example:1789'];
const KEY = 'a'.repeat(64);
const PINNED = { by: 'fingerprint', fingerprints: ['A'.repeat(43)] };

/** What each node answers to the question for its network, by its URL: a network, or a fault. */
const served = new Map<string, string | null | Error>();
const closed: string[] = [];

beforeEach(() => {
  served.clear();
  closed.length = 0;
  vi.mocked(NodeApi)
    .mockReset()
    .mockImplementation(function pretended({ url = '', p2pUrl, network }: { [name: string]: string }) {
      const info = async () => {
        const answer = served.get(url || p2pUrl);
        if (answer instanceof Error) throw answer;
        return answer === null ? {} : { network: answer };
      };
      const cut = async () => ({ heads: new Map([[3, {}]]) });
      return { network, info, cut, close: async () => void closed.push(url || p2pUrl) };
    } as never);
});

const made = () => vi.mocked(NodeApi).mock.calls.map(([options]) => options);
const limits = () => vi.mocked(NodeApi).mock.calls.map(([, context]) => context?.limits);
const fault = (kind: NodeErrorKind, message: string) => new NodeError(kind, message);

function settings(node: Partial<Config['node']>, ledger: Partial<Config['ledger']> = {}) {
  return { node: { ...DEFAULTS.node, ...node }, ledger: { ...DEFAULTS.ledger, ...ledger } };
}

describe('a client of a node', () => {
  const userAgent = `pickaxe/${version}`;
  const fingerprints = [{ origin: P2P, value: 'A'.repeat(43) }] as never;
  const trust = { by: 'authority' };

  it.each([
    [{ url: ONE }, {}, { url: ONE, trust }],
    [{ p2pUrl: P2P }, {}, { p2pUrl: P2P, p2pTrust: PINNED }],
    [{ url: ONE, p2pUrl: P2P }, {}, { url: ONE, trust, p2pUrl: P2P, p2pTrust: PINNED }],
    [{ url: ONE }, { dialect: 'document' }, { url: ONE, trust, dialect: 'document' }],
    [{ url: ONE }, { commandPath: '/api/v1' }, { url: ONE, trust, commandPath: '/api/v1' }],
  ] as const)('of %j with %j has no other options', (node, ledger, expected) => {
    nodeApi(node, 'testnet04', settings({ fingerprints }, ledger));
    expect(made()).toStrictEqual([{ network: 'testnet04', dialect: 'auto', userAgent, ...expected }]);
  });

  it.each<[given: string | undefined, subject: string | undefined, url: string, network: string, asked: number]>([
    ['testnet04', 'mainnet01', ONE, 'testnet04', 0],
    [undefined, 'mainnet01', ONE, 'mainnet01', 0],
    [undefined, undefined, `${ONE}/chainweb/0.0/mainnet01`, '', 0],
    [undefined, undefined, ONE, 'development', 1],
  ])('has the network of the settings (%s), of the subject (%s), of the URL or of the node', async (...row) => {
    const [network, subject, url, expected, asked] = row;
    served.set(ONE, 'development');
    const api = await openNodeApi({ url }, settings(network === undefined ? {} : { network }), {}, subject);
    expect([api.network, closed, made().length]).toEqual([expected, Array(asked).fill(ONE), 1 + asked]);
  });

  it('of a node that names no network cannot be made', async () => {
    served.set(ONE, fault('not found', 'nothing'));
    const says = `${ONE} does not say which network it serves: give it with --network, like --network mainnet01.`;
    await expect(openNodeApi({ url: ONE }, settings({}))).rejects.toThrow(new UsageError(says));
    served.set(P2P, fault('not found', 'nothing'));
    await expect(openNodeApi({ p2pUrl: P2P }, settings({}))).rejects.toThrow(`${P2P} does not say which network`);
    served.set(ONE, fault('unreachable', 'it is away'));
    await expect(openNodeApi({ url: ONE }, settings({}))).rejects.toThrow(NodeError);
    expect(closed).toEqual([ONE, P2P, ONE]);
  });

  it('is named as missing in other words on a rig of a fleet', () => {
    expect([noNode({}).message, noNode({ nats: { ...DEFAULTS.nats, urls: ['nats://a'] } }).message]).toEqual([
      'No node is configured. Name one with --node URL, or write one to a file: pickaxe init',
      'This rig mines for a fleet and has no node of its own: name one with --node URL, or ask at the coordinator.',
    ]);
  });
});

describe('without a network in the settings, the error tells', () => {
  const FAILED = 'No network is configured. Give it with --network, like --network mainnet01. Asking for it failed: ';
  const named = `No network is configured. ${TWO} serves testnet04: if that is the one you mean, add --network testnet04.`;

  it.each<[what: string, one: string | null | Error, two: string | null | Error, expected: string]>([
    ['the second node', 'a b', 'testnet04', named],
    [
      'nothing',
      null,
      fault('not found', ''),
      `${FAILED}${ONE} does not say which one it serves; ${TWO} does not say which one it serves.`,
    ],
    [
      'the faults',
      fault('broken', 'one is broken.'),
      new UsageError('is it two?'),
      `${FAILED}one is broken; is it two?`,
    ],
  ])('what the nodes answer: %s', async (_, one, two, expected) => {
    served.set(ONE, one).set(TWO, two);
    expect(await describeServedNetwork(settings({ urls: [ONE, TWO] }, { peerUrl: P2P }))).toBe(expected);
    expect(closed).toEqual([ONE, TWO]);
    expect(made().map(({ p2pUrl }) => p2pUrl)).toEqual([undefined, undefined]);
  });

  it('which nodes do not answer within five seconds; a mistake of the program is none of theirs', async () => {
    served.set(ONE, new TypeError('x is undefined'));
    await expect(describeServedNetwork(settings({ urls: [ONE] }))).rejects.toThrow(TypeError);
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
    onTestFinished(() => timeout.mockRestore());
    expect(await describeServedNetwork(settings({ urls: [ONE] }))).toBe(`${FAILED}${ONE} does not answer.`);
    expect(timeout.mock.calls).toEqual([[5_000]]);
  });
});

describe('the account', () => {
  const config = (urls: readonly string[], account?: string) => ({
    ...settings({ urls: [...urls], network: 'development' }),
    miner: { ...DEFAULTS.miner, publicKeys: [KEY], ...(account !== undefined && { account }) },
  });
  const found = (chain: number, balance?: string) =>
    ({ chain, value: balance === undefined ? undefined : { balance: parseDecimal(balance) } }) as never;

  it('has a balance on each chain, and a sum if each chain has told', async () => {
    vi.mocked(readDetails).mockResolvedValueOnce([found(0, '1.5'), found(1), found(2, '2.25')]);
    const one = { chain: 0, balance: '1.5', exists: true, fault: null };
    expect(await askBalance(config([ONE]), NEVER)).toEqual({
      ...{ account: `k:${KEY}`, node: ONE, total: '3.75' },
      chains: [one, { chain: 1, balance: '0.0', exists: false, fault: null }, { ...one, chain: 2, balance: '2.25' }],
    });
    expect(vi.mocked(readDetails).mock.lastCall?.slice(2)).toEqual([{ account: `k:${KEY}`, module: 'coin' }, NEVER]);
    const failed = { chain: 4, error: new LedgerFormatError('odd\nanswer') } as never;
    vi.mocked(readDetails).mockResolvedValueOnce([found(0, '1.5'), failed]);
    expect(await askBalance(config([ONE], 'alice'), NEVER)).toEqual({
      ...{ account: 'alice', node: ONE, total: null },
      chains: [one, { chain: 4, balance: null, exists: null, fault: 'odd answer' }],
    });
    expect(limits()).toEqual(Array(2).fill({ attempts: 1, answerTimeoutMs: 3_000, mostAnswerBytes: 262_144 }));
    expect(closed).toEqual([ONE, ONE]);
  });

  it('has none if each node fails, with the reason of each', async () => {
    const fails = [new LedgerFormatError('odd'), fault('broken', 'two is\nbroken'), new UsageError('no file')];
    for (const error of fails.slice(0, 2)) vi.mocked(readDetails).mockRejectedValueOnce(error);
    vi.mocked(readDetails).mockResolvedValueOnce([{ chain: 0, error: fails[2] } as never]);
    const asked = askBalance(config([ONE, TWO, 'http://three']), NEVER);
    await expect(asked).rejects.toThrow(new NoBalance(`${ONE}: odd; two is broken; http://three: no file.`));
    expect(closed).toEqual([ONE, TWO, 'http://three']);
    vi.mocked(readDetails).mockRejectedValueOnce(new TypeError('x is undefined'));
    await expect(askBalance(config([ONE, TWO]), NEVER)).rejects.toThrow(TypeError);
  });
});

it('views of ledgers have the names of the sources, and are all closed', async () => {
  const { views, close } = openLedgerViews(settings({ urls: [ONE, TWO, ONE], network: 'development' }));
  expect(views).toHaveLength(3);
  expect(limits()).toEqual(Array(3).fill({ mostAnswerBytes: 4_194_304 }));
  await close();
  expect(closed).toEqual([ONE, TWO, ONE]);
});

it('rewards are known of the networks of the table, unless the settings name another one', () => {
  const coins = (network: string | undefined, number: number) =>
    earningsTerms({ node: settings(network === undefined ? {} : { network }).node, power: {} }).coinsAt!(number, 1n);
  const known = coins('mainnet01', 5);
  expect(known).toBeGreaterThan(0);
  expect([coins(undefined, 5), coins('testnet04', 5), coins(undefined, 99)]).toEqual([known, undefined, undefined]);
});
