/** What the commands of `pickaxe tx`, and `pickaxe sweep`, make of their options, and what they use by default. */

import { beforeEach, expect, it, vi } from 'vitest';
import { inSession } from '#pickaxe/cli/coins/sweep/coin-session.js';
import { runTxBuild } from '#pickaxe/cli/coins/tx/build.js';
import { runTxLocalCode } from '#pickaxe/cli/coins/tx/code.js';
import { runTxLocal, runTxPoll, runTxSpv } from '#pickaxe/cli/coins/tx/poll.js';
import { runTxPrivate, runTxSend } from '#pickaxe/cli/coins/tx/send.js';
import { runTxShow } from '#pickaxe/cli/coins/tx/show.js';
import { runTxAddSig, runTxCombine, runTxSign } from '#pickaxe/cli/coins/tx/sign.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { inNewFolders, KEY, pickaxe } from '../../in-folder.ts';

vi.mock('#pickaxe/cli/coins/sweep/coin-session.js', async (load) => ({
  ...(await load<object>()),
  inSession: vi.fn(),
}));
vi.mock('#pickaxe/cli/coins/tx/build.js');
vi.mock('#pickaxe/cli/coins/tx/code.js', async (load) => ({ ...(await load<object>()), runTxLocalCode: vi.fn() }));
vi.mock('#pickaxe/cli/coins/tx/poll.js');
vi.mock('#pickaxe/cli/coins/tx/send.js');
vi.mock('#pickaxe/cli/coins/tx/show.js');
vi.mock('#pickaxe/cli/coins/tx/sign.js');

inNewFolders();

const COMMANDS: readonly ((...given: never[]) => number | Promise<number>)[] = [
  ...[runTxBuild, runTxSign, runTxAddSig, runTxCombine, runTxShow],
  ...[runTxLocal, runTxLocalCode, runTxPoll, runTxSpv, runTxPrivate, runTxSend],
];
const calls: unknown[][] = [];

beforeEach(() => {
  calls.length = 0;
  for (const command of COMMANDS) {
    vi.mocked(command)
      .mockReset()
      .mockImplementation(async (...given) => {
        calls.push(given);
        return 7;
      });
  }
});

const NODE = ['--node', 'http://127.0.0.1:9', '--network', 'development'];
/** Whether the results of nodes are proven is another function, which this cannot compare. */
const PROVE = { prove: expect.any(Function) };
const ASKED = { chain: null, json: false, timeoutMs: 600_000, once: false };
const POLL = { ...ASKED, pauseMs: 5_000, confirmationDepth: 0, ...PROVE };
const SPV = { ...ASKED, pauseMs: 30_000 };

it.each([
  ['build r.yaml', ['r.yaml'], { unsigned: false, local: false }],
  ['build r.yaml -a', ['r.yaml'], { signed: true, unsigned: false, local: false }],
  [
    'build r.yaml -u --allow-file a --allow-file b',
    ['r.yaml'],
    { unsigned: true, local: false, allowFile: ['a', 'b'] },
  ],
  ['build r.yaml -l', ['r.yaml'], { unsigned: false, local: true }],
  ['sign f k1 k2', ['f', ['k1', 'k2']], { yes: false }],
  ['sign f k1 -y', ['f', ['k1']], { yes: true }],
  ['add-sig f k1 k2', ['f', ['k1', 'k2']], { local: false, yes: false }],
  ['add-sig f k1 -l -y', ['f', ['k1']], { local: true, yes: true }],
  ['combine a b', [['a', 'b']], { local: false }],
  ['combine a -l', [['a']], { local: true }],
  ['show f', ['f'], { json: false }],
  ['show f --json', ['f'], { json: true }],
  ['local f', ['f'], { chain: null, json: false, preflight: false, signatureVerification: true }],
  [
    'local f --chain 0 --json --preflight --rewind-depth 0 --no-signature-verification',
    ['f'],
    { chain: 0, json: true, preflight: true, rewindDepth: 0, signatureVerification: false },
  ],
  ['local --code 1', [], { code: '1', data: null, chain: null, json: false }],
  [
    'local --code 1 --data {} --chain 0 --json --rewind-depth 2',
    [],
    { code: '1', data: '{}', chain: 0, json: true, rewindDepth: 2 },
  ],
  ['send f', ['f'], { chain: null, json: false, yes: false, ...PROVE }],
  ['send f --chain 0 --json -y', ['f'], { chain: 0, json: true, yes: true, ...PROVE }],
  ['private f', ['f'], { chain: null, json: false }],
  ['private f --chain 0 --json', ['f'], { chain: 0, json: true }],
  ['poll f', ['f'], POLL],
  ['listen f', ['f'], POLL],
  [
    'poll f --chain 0 --json --timeout 2m --once --confirmation-depth 6',
    ['f'],
    { ...POLL, chain: 0, json: true, timeoutMs: 120_000, once: true, confirmationDepth: 6 },
  ],
  ['spv f --target-chain 0', ['f'], { ...SPV, targetChain: 0 }],
  [
    'spv f --target-chain 1 --chain 0 --json --timeout 90 --once',
    ['f'],
    { ...SPV, targetChain: 1, chain: 0, json: true, timeoutMs: 90_000, once: true },
  ],
])('tx %s', async (line, files, options) => {
  const node = /^(local|send|private|poll|listen|spv)/.test(line) ? NODE : [];
  const { code } = await pickaxe(['tx', ...line.split(' '), ...node]);
  expect(code).toBe(7);
  const [[...given]] = calls;
  const values = given.slice(0, files.length);
  expect(values).toEqual(files);
  expect(given[files.length]).toMatchObject(options);
});

const MOVING = { json: false, yes: false, resume: false, trustNodes: false, timeout: 3600 };
const ALL = '--json -y --resume --trust-nodes --timeout 2m --gas-price 0.5 --gas-station g --to-chain 0';
const MOVED = {
  ...{ json: true, yes: true, resume: true, trustNodes: true, timeout: 120 },
  ...{ gasPrice: parseDecimal('0.5'), gasStation: 'g', toChain: 0 },
};
const KEPT = { keep: parseDecimal('0.001'), min: parseDecimal('0.01') };

it.each([
  ['tx transfer', 'transfer', MOVING],
  [
    `tx transfer --to bob --amount 0.000000000001 --chain 0 --receiver-predicate keys-any --receiver-key ${KEY} ${ALL}`,
    'transfer',
    {
      ...MOVED,
      ...{ to: 'bob', amount: parseDecimal('0.000000000001'), chain: 0 },
      ...{ receiverKey: [KEY], receiverPredicate: 'keys-any' },
    },
  ],
  ['sweep', 'sweep', { ...MOVING, ...KEPT }],
  [
    `sweep --keep 0 --min 1.5 --guard-key ${KEY} --guard-key ${KEY} ${ALL}`,
    'sweep',
    { ...MOVED, keep: parseDecimal('0'), min: parseDecimal('1.5'), guardKey: [KEY, KEY] },
  ],
])('%s', async (line, kind, options) => {
  vi.mocked(inSession).mockReset().mockResolvedValue(7);
  const { code } = await pickaxe([...line.split(' '), ...NODE, '--account', `k:${KEY}`]);
  expect(code).toBe(7);
  const [[, given]] = vi.mocked(inSession).mock.calls;
  expect(given).toMatchObject({ kind, account: `k:${KEY}`, pairs: [] });
  const names = Object.keys(options);
  expect(Object.fromEntries(Object.entries(given.options).filter(([name]) => names.includes(name)))).toEqual(options);
});

it.each(['tx transfer --amount', 'sweep --keep', 'sweep --min', 'sweep --gas-price'])(
  '%s takes an amount',
  async (line) => {
    vi.mocked(inSession).mockReset().mockResolvedValue(7);
    const codes = ['0.0000000000001', '123456789012345678901', '-1', '1.', '1e3', '12345678901234567890.5'].map(
      async (amount) => {
        const given = [...line.split(' '), amount, ...NODE, '--account', `k:${KEY}`];
        return (await pickaxe(given)).code;
      },
    );
    expect(await Promise.all(codes)).toEqual([2, 2, 2, 2, 2, 7]);
  },
);
