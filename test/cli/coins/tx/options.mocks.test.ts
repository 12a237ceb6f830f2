/** What the commands of `pickaxe tx` make of their options, and what they use by default. */

import { beforeEach, expect, it, vi } from 'vitest';
import { runTxBuild } from '#pickaxe/cli/coins/tx/build.js';
import { runTxLocal, runTxPoll, runTxSpv } from '#pickaxe/cli/coins/tx/poll.js';
import { runTxPrivate, runTxSend } from '#pickaxe/cli/coins/tx/send.js';
import { runTxShow } from '#pickaxe/cli/coins/tx/show.js';
import { runTxAddSig, runTxCombine, runTxSign } from '#pickaxe/cli/coins/tx/sign.js';
import { inNewFolders, pickaxe } from '../../in-folder.ts';

vi.mock('#pickaxe/cli/coins/tx/build.js');
vi.mock('#pickaxe/cli/coins/tx/poll.js');
vi.mock('#pickaxe/cli/coins/tx/send.js');
vi.mock('#pickaxe/cli/coins/tx/show.js');
vi.mock('#pickaxe/cli/coins/tx/sign.js');

inNewFolders();

const COMMANDS: readonly ((...given: never[]) => number | Promise<number>)[] = [
  ...[runTxBuild, runTxSign, runTxAddSig, runTxCombine, runTxShow],
  ...[runTxLocal, runTxPoll, runTxSpv, runTxPrivate, runTxSend],
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
  const asks = /^(local|send|private|poll|listen|spv)/.test(line);
  const node = asks ? ['--node', 'http://127.0.0.1:9', '--network', 'development'] : [];
  const { code } = await pickaxe(['tx', ...line.split(' '), ...node]);
  expect(code).toBe(7);
  const [[...given]] = calls;
  const values = given.slice(0, files.length);
  expect(values).toEqual(files);
  expect(given[files.length]).toMatchObject(options);
});
