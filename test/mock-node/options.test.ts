/** Which options a mock node takes: each limit is tried with a value that just fits, and one that does not. */

import { describe, expect, it } from 'vitest';
import { codeOf, graphFor, isNumberOfChains, MAX_CONTRACT_LENGTH, optionsSchema } from '#pickaxe/mock-node/options.js';

const LONGEST_MS = 2 ** 31 - 1;
const TEN_YEARS_MS = 315_360_000_000;
const KEY = 'a'.repeat(64);
const text = (length: number) => 'x'.repeat(length);
const list = (length: number, item: unknown) => Array.from({ length }, () => item);

const MINER = { account: 'k:a', predicate: 'keys-all', 'public-keys': ['a'] };
const miner = (more: object) => ({ miners: [{ ...MINER, ...more }] });
const account = (more: object) => ({ accounts: [{ account: 'a', ...more }] });
const contract = (length: number) => ({ contracts: [{ name: 'c', text: text(length) }] });
const throttling = (name: string, value: number) => ({ throttling: { [name]: value } });

/** Numbers, by their names: the least, the most, and the step to a number that does not fit. */
const NUMBERS: [name: string, least: number, most: number, step: number][] = [
  ['difficulty', 1, 1e300, 0.001],
  ['firstHeight', 0, Number.MAX_SAFE_INTEGER, 1],
  ['firstBlockAgeMs', 1, TEN_YEARS_MS, 1],
  ['firstBlockTimeMs', 0, Number.MAX_SAFE_INTEGER, 1],
  ['workLimit', 1, 100_000, 1],
  ['workLifetimeMs', 0, LONGEST_MS, 1],
  ['cutLeadMs', 0, LONGEST_MS, 1],
  ['rivalMs', 0, LONGEST_MS, 1],
  ['refreshMs', 0, LONGEST_MS, 1],
  ['clockSkewMs', -LONGEST_MS, LONGEST_MS, 1],
  ['blockGasLimit', 1, Number.MAX_SAFE_INTEGER, 1],
  ['listenMs', 0, LONGEST_MS, 1],
  ['port', 0, 65_535, 1],
  ['p2pPort', 0, 65_535, 1],
  ['controlPort', 0, 65_535, 1],
  ['streamMs', 0, LONGEST_MS, 1],
  ['streamLimit', 0, 10_000, 1],
  ['cutBurst', 1, 100, 1],
];
/** Numbers that have no limit of their own above. */
const UNLIMITED = ['difficulty', 'firstHeight', 'firstBlockTimeMs', 'blockGasLimit'];

/** Options with one part that just fits, and with one that does not. */
const BOUNDS: [what: string, fits: object, exceeds: object][] = [
  ...NUMBERS.map(([name, least, , step]): [string, object, object] => [
    `${name}, the least`,
    { [name]: least },
    { [name]: least - step },
  ]),
  ...NUMBERS.filter(([name]) => !UNLIMITED.includes(name)).map(([name, , most, step]): [string, object, object] => [
    `${name}, the most`,
    { [name]: most },
    { [name]: most + step },
  ]),
  ...NUMBERS.filter(([name]) => name !== 'difficulty').map(([name]): [string, object, object] => [
    `${name}, whole`,
    { [name]: 2 },
    { [name]: 2.5 },
  ]),
  ['a fraction of a hash', { difficulty: 1.5 }, { difficulty: Number.NaN }],
  ['the seed', { seed: -7 }, { seed: 0.5 }],
  ['the reward', { reward: '0.0' }, { reward: '-0.1' }],
  ['the reward’s word', { reward: 'table' }, { reward: 'tables' }],
  ['the price of gas', { minGasPrice: '0' }, { minGasPrice: '-1' }],
  ['the status of a solution', { acceptedStatus: 204 }, { acceptedStatus: 201 }],
  ['the usual status of a solution', { acceptedStatus: 200 }, { acceptedStatus: 199 }],
  ['a miner’s account', miner({ account: text(256) }), miner({ account: text(257) })],
  ['a miner without an account', miner({ account: 'a' }), miner({ account: '' })],
  ['a miner’s keys', miner({ 'public-keys': list(16, 'a') }), miner({ 'public-keys': list(17, 'a') })],
  ['a miner without keys', miner({ 'public-keys': ['a'] }), miner({ 'public-keys': [] })],
  ['a miner’s key', miner({ 'public-keys': [text(128)] }), miner({ 'public-keys': [text(129)] })],
  ['a miner’s empty key', miner({ 'public-keys': ['a'] }), miner({ 'public-keys': [''] })],
  ['a miner’s predicate', miner({ predicate: 'keys-2' }), miner({ predicate: 'keys-3' })],
  ['the miners', { miners: list(100, MINER) }, { miners: list(101, MINER) }],
  ['an account', account({ account: text(256) }), account({ account: text(257) })],
  ['an account without a name', account({ account: 'a' }), account({ account: '' })],
  ['an account’s balance', account({ balance: '0' }), account({ balance: '-0.1' })],
  ['an account’s keys', account({ keys: list(16, KEY) }), account({ keys: list(17, KEY) })],
  ['an account’s key', account({ keys: [KEY] }), account({ keys: [`${KEY}a`] })],
  ['an account’s key in capitals', account({ keys: [KEY] }), account({ keys: [KEY.toUpperCase()] })],
  ['an account’s chain', account({ chains: [0] }), account({ chains: [-1] })],
  ['the accounts', { accounts: list(1_000, { account: 'a' }) }, { accounts: list(1_001, { account: 'a' }) }],
  ['a contract', contract(1_048_576), contract(1_048_577)],
  [
    'the contracts',
    { contracts: list(100, { name: 'c', text: '' }) },
    { contracts: list(101, { name: 'c', text: '' }) },
  ],
  ...['global', 'mempool', 'putPeer'].flatMap((name): [string, object, object][] => [
    [`the least rate, ${name}`, throttling(name, 0.001), throttling(name, 0.0009)],
    [`the highest rate, ${name}`, throttling(name, 1_000_000), throttling(name, 1_000_001)],
  ]),
];

describe('the limit of', () => {
  it.each(BOUNDS)('%s', (_, fits, exceeds) => {
    expect([optionsSchema.safeParse(fits).success, optionsSchema.safeParse(exceeds).success]).toEqual([true, false]);
  });

  it('a contract is known to the command line', () => {
    expect(MAX_CONTRACT_LENGTH).toBe(1_048_576);
  });
});

it.each([
  [{ chains: 22 }, 'The number of chains must be 1, 3, or an even number from 4 to 20'],
  [{ reward: '-1' }, 'An amount must be a decimal such as 2.5'],
  [account({ balance: 'much' }), 'An amount must be a decimal such as 2.5'],
  [account({ keys: ['a'] }), 'A key must be 64 lower-case hex digits'],
])('%j is refused with a remedy', (options, message) => {
  const issues = optionsSchema.safeParse(options).error!.issues;
  const texts = issues.flatMap((issue) => (issue.code === 'invalid_union' ? issue.errors.flat() : [issue]));
  expect(texts.map((issue) => issue.message)).toContain(message);
});

it('a node without options is one of a network of twenty chains, as it is on the real one', () => {
  expect(optionsSchema.parse({})).toEqual({
    network: 'development',
    chains: 20,
    difficulty: 1_000_000,
    retargets: false,
    firstHeight: 5_000_000,
    firstBlockAgeMs: 30_000,
    reward: 'table',
    outputEvents: true,
    lateSolutions: 'orphan',
    checksProofOfWork: true,
    workLimit: 1_200,
    workLifetimeMs: 300_000,
    cutLeadMs: 0,
    neighbourCuts: false,
    rivalMs: 0,
    refreshMs: 0,
    clockSkewMs: 0,
    accounts: [],
    contracts: [],
    gasStation: false,
    contractDialect: 5,
    minGasPrice: '0.00000001',
    blockGasLimit: 150_000,
    mineOnSend: false,
    listenMs: 180_000,
    listenTimeout: '504',
    port: 0,
    host: '127.0.0.1',
    p2p: 'same port',
    p2pPort: 0,
    bootstrap: false,
    dialect: 'both',
    strict: false,
    standAlone: 'document',
    miners: [],
    miningEnabled: true,
    configServed: true,
    acceptedStatus: 200,
    streamMs: 240_000,
    headerStream: false,
    streamLimit: 2_000,
    throttled: 'p2p',
    throttling: { global: 50, mempool: 20, putPeer: 11 },
    throttleRetryAfter: false,
    cutBurst: 2,
  });
  expect(optionsSchema.parse(account({})).accounts).toEqual([{ account: 'a', balance: '0.0', pred: 'keys-all' }]);
});

it('a network has 1, 3, or an even number of chains from 4 to 20', () => {
  const numbers = Array.from({ length: 30 }, (_, chains) => chains).filter(isNumberOfChains);
  expect(numbers).toEqual([1, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
  const made = numbers.filter((chains) => ![1, 3, 10, 20].includes(chains));
  for (const chains of made) {
    const around = Array.from({ length: chains }, (_, i) => [i + 1, i + chains / 2, i + chains - 1]);
    const expected = around.map((each) => each.map((chain) => chain % chains).sort((a, b) => a - b));
    expect(graphFor(chains)).toEqual(expected);
  }
});

it('a network has its own number in headers, or a made-up one', () => {
  expect((['mainnet01', 'testnet04', 'development', 'test-singleton'] as const).map(codeOf)).toEqual([5, 7, 1, 9]);
});

it.each([3, 6, '5', 'new'])('the contract language has no dialect %j', (contractDialect) => {
  expect(optionsSchema.safeParse({ contractDialect }).success).toBe(false);
});
