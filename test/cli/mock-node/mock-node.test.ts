/** `pickaxe mock-node` in this process: what it says, and how a user tells it to be wrong. */

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isFault } from '#pickaxe/base/finding.js';
import { run } from '#pickaxe/cli/run.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { devAccounts } from '#pickaxe/mock-node/dev-accounts.js';
import { MAX_CONTRACT_LENGTH } from '#pickaxe/mock-node/options.js';
import { NodeApi } from '#pickaxe/node/client/node-api.js';
import { basePathOf } from '#pickaxe/node/http/url.js';
import { withNonce } from '#pickaxe/protocol/chain/work.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { examineNode } from '#pickaxe/rig/survey/examine-node.js';
import { Folder } from '../../app/config/folder.ts';
import { alice, bob, commandOf, toBob } from '../../mock-node/execution/bank.ts';
import { mockNodeArgs, type OtherOptions } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { pickaxeIn } from '../in-process.ts';
import { pretendedIo } from '../pretended-io.ts';

const KEY = 'ab'.repeat(32);
const folder = new Folder();
afterAll(() => folder.remove());

/** Runs the command until `end` is called, with what it logs on stderr. */
async function startMockNode(dialect: Dialect, args: readonly string[] = [], options: OtherOptions = {}) {
  let logged = '';
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    logged += text;
    return true;
  });
  const stop = new AbortController();
  const line = mockNodeArgs(dialect, ['--log-level', 'info', ...args], { chains: 4, ...options });
  const ended = pickaxeIn(folder.path, line, {}, { stop: stop.signal });
  const end = () => {
    stop.abort();
    return ended;
  };
  onTestFinished(async () => {
    await end();
    stderr.mockRestore();
  });
  const said = (pattern: RegExp) => vi.waitFor(() => expect(logged).toMatch(pattern), { ...PATIENCE, interval: 5 });
  await said(/curl http/);
  const urlIn = (pattern: RegExp) => pattern.exec(logged)![1];
  const tell = async (instruction: object) =>
    (await fetch(urlIn(/curl (http\S+)/), { method: 'POST', body: JSON.stringify(instruction) })).status;
  const ask = async (side: string, path = 'cut') =>
    (await fetch(`${side}${basePathOf(dialect, 'development')}/${path}`)).status;
  return { ended, end, said, urlIn, tell, ask, logged: () => logged };
}

it('says where it is and what it is told, and counts at its end', async () => {
  const { end, said, urlIn, tell, ask, logged } = await startMockNode('chainweb', [], { p2p: 'plain' });
  const [url, p2pUrl] = [urlIn(/mock node at (http\S+),/), urlIn(/each other is at (http\S+)/)];
  expect([await ask(url), await ask(p2pUrl)]).toEqual([200, 200]);
  expect(logged()).toContain(`mock node at ${url}, network development, difficulty 50000000\n`);
  expect(logged()).toContain(`pickaxe mine --node ${url} --network development --public-key ${'0'.repeat(64)}\n`);
  const faults = [{ endpoint: 'cut', kind: 'status', status: 404 }];
  expect(await tell({ do: 'faults', faults })).toBe(200);
  expect([await ask(url), await ask(p2pUrl)]).toEqual([404, 404]);
  await said(/was told: faults/);
  await said(/fault status on cut/);
  expect(await end()).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(logged()).toContain('0 accepted (0 orphaned), 0 rejected, 0 stale\n');
});

it('says once which fault of its own lets commands fail, and goes on', async () => {
  const { end, said, logged } = await startMockNode('chainweb', ['--log-level', 'debug'], { rivalMs: 50 });
  const enforce = vi.spyOn(NATIVES.get('enforce')!, 'apply').mockImplementation(() => {
    throw new TypeError('enforce is broken');
  });
  onTestFinished(() => enforce.mockRestore());
  await said(/ERROR: mock\s+internal error, please report it: TypeError: enforce is broken/);
  await said(/block of a rival on chain \d height \d+\n[\s\S]*block of a rival on chain \d height \d+\n/);
  expect(logged().split('enforce is broken')).toHaveLength(2);
  expect((await end()).code).toBe(0);
});

it('says what it does for miners and other miners', async () => {
  const { end, said, urlIn, logged } = await startMockNode('chainweb', ['--log-level', 'debug'], { rivalMs: 300 });
  const url = urlIn(/mock node at (http\S+),/);
  await said(/block of a rival on chain \d height \d+\n/);
  const key = 'a1'.repeat(32);
  const miner = { account: `k:${key}`, predicate: 'keys-all', publicKeys: [key] } as const;
  const { work, findings } = await examineNode({ url, network: 'development', miner });
  expect(findings.filter(isFault)).toEqual([]);
  const { chain, height } = work!;
  expect(logged()).toContain(`gave work of chain ${chain} height ${height} to k:${key}\n`);
  await said(/stream for chain \d, 1 open\n/);
  const headers = { 'content-type': 'application/octet-stream', accept: 'application/json' };
  const body = Buffer.from(withNonce(work!.header, 7n));
  await fetch(`${url}${basePathOf('chainweb', 'development')}/mining/solved`, { method: 'POST', headers, body });
  await said(new RegExp(`(rejected|stale) chain ${chain} height ${height} nonce 7 .`));
  await end();
  expect(logged()).toMatch(/mock +0 accepted \(0 orphaned\), (1 rejected, 0|0 rejected, 1) stale\n$/);
});

it('ends after the time that it is given', async () => {
  const { ended, urlIn } = await startMockNode('document', ['--duration', '0.05'], {});
  expect(urlIn(/mock node at (http\S+),/)).toBeDefined();
  expect(await ended).toMatchObject({ code: 0 });
});

it('has faults from the beginning, on both of its ports', async () => {
  const faults = '[{"endpoint":"cut","side":"p2p","kind":"status","status":429}]';
  const { urlIn, ask } = await startMockNode('document', ['--faults', faults], { p2p: 'plain' });
  const statuses = [await ask(urlIn(/mock node at (http\S+),/)), await ask(urlIn(/each other is at (http\S+)/))];
  expect(statuses).toEqual([200, 429]);
});

it('ends when a port is taken, and names it', async () => {
  const { urlIn } = await startMockNode('chainweb');
  const { port } = new URL(urlIn(/curl (http\S+)/));
  const io = pretendedIo();
  expect(await run(mockNodeArgs('chainweb', ['--control-port', port]), io)).toBe(2);
  expect(io.stderr).toMatch(new RegExp(`^error: The mock node cannot listen: .*port ${port} is in use`));
});

it('says what is wrong with a fault', async () => {
  const args = mockNodeArgs('chainweb', ['--faults', '[{"endpoint":"cut","kind":"sleepy"}]']);
  const { code, stderr } = await pickaxeIn(folder.path, args);
  expect([code, stderr]).toEqual([2, expect.stringContaining('kind')]);
});

it('runs files of contract code, in their order, and gives accounts coins', async () => {
  folder.write('first.pact', '(module first G (defcap G () false) (defun one () 1))');
  folder.write('second.pact', '(enforce (= 1 (first.one)) "the first file has run")');
  const given = {
    accounts: [{ account: 'bob', balance: '2.0', keys: [KEY] }],
    contracts: [{ name: 'x', text: '1' }],
  };
  const loaded = ['--load', 'first.pact', '--load', 'second.pact'];
  const funded = ['--fund', `k:${KEY}=1.5`, '--fund', `k:${KEY.replace('a', 'c')}=3`];
  const { urlIn } = await startMockNode('chainweb', [...loaded, ...funded], given);
  // The mock node still runs, so this line cannot wait for its end.
  const balance = async (account: string) => {
    const io = pretendedIo({ now: Date.now() });
    const node = urlIn(/mock node at (http\S+),/);
    expect(await run(['balance', '--node', node, '--network', 'development', '--account', account], io)).toBe(0);
    return io.stdout;
  };
  expect(await balance(`k:${KEY}`)).toContain('6.0');
  expect(await balance(`k:${KEY.replace('a', 'c')}`)).toContain('12.0');
  expect(await balance('bob')).toContain('8.0');
});

it.each([
  ['(module m G (defcap G () true))\n  (m.f)\n', /: bad\.pact:2:3: /],
  ['(+ 1', /: bad\.pact:1:\d+: /],
  ['(fold (lambda (a b) (length (enumerate 1 1000))) 0 (enumerate 1 100000))', /: bad\.pact:1:.* steps/],
  [`"${'x'.repeat(MAX_CONTRACT_LENGTH)}"`, /--load bad\.pact has more than 1048576 characters/],
])('a file that fails is wrong usage, with its place: %#', async (text, says) => {
  folder.write('bad.pact', text);
  const { code, stdout, stderr } = await pickaxeIn(folder.path, mockNodeArgs('chainweb', ['--load', 'bad.pact']));
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(says)]);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

it.each([
  [['--load', 'missing.pact'], '--load missing.pact cannot be read: there is no such file'],
  [['--load', '.'], '--load . cannot be read: it is a directory'],
  [['--fund', 'bob=1.0'], '--fund bob=1.0 is not ACCOUNT=AMOUNT'],
  [['--fund', `k:${KEY}`], 'is not ACCOUNT=AMOUNT'],
  [['--fund', `k:${KEY}=-1.0`], 'is not ACCOUNT=AMOUNT'],
  [['--fund', `k:${KEY}=1.0000000000001`], 'at most 12 decimal places'],
  [['--fund', `k:${KEY.toUpperCase()}=1.0`], 'is not ACCOUNT=AMOUNT'],
  [['--fund', `k:${KEY}=1.0`, '--fund', `k:${KEY}=2.0`], `account k:${KEY}: `],
  [['--fund', `k:${KEY}=1.0`], 'accounts', { accounts: 5 as never }],
])('%j is wrong usage', async (args, says, options: OtherOptions = {}) => {
  const { code, stderr } = await pickaxeIn(folder.path, mockNodeArgs('chainweb', args, options));
  expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
});

it.each([
  [['--faults', '[{'], '--faults is not valid JSON: [{'],
  [['--options', 'x'], '--options is not valid JSON: x'],
])('%j is no JSON', async (args, says) => {
  const { code, stderr } = await pickaxeIn(folder.path, ['mock-node', ...args]);
  expect([code, stderr]).toEqual([2, `error: ${says}\n`]);
});

it('with --dev prints accounts with coins, and a first command that works', async () => {
  const printed: string[] = [];
  const line = mockNodeArgs('chainweb', ['--dev'], { chains: 4, port: 0 });
  const stop = new AbortController();
  const io = { ...pretendedIo({ now: Date.now(), stop: stop.signal }), out: (text: string) => void printed.push(text) };
  const ended = run(line, io);
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  await vi.waitFor(() => expect(printed).toHaveLength(1), { ...PATIENCE, interval: 5 });
  const [, code, url] = /Try it: pickaxe tx local --code '(.*)' --chain 0 --node (\S+)\n$/.exec(printed[0])!;
  expect(printed[0]).toContain('never send real coins to them');
  for (const { account, secretKey } of devAccounts())
    expect(printed[0]).toContain(`account     ${account}\nsecret key  ${secretKey}\n`);
  const asked = pretendedIo({ now: Date.now() });
  expect(await run(['tx', 'local', '--code', code, '--chain', '3', '--node', url], asked)).toBe(0);
  expect(asked.stdout).toMatch(/^data +1000$/m);
});

describe('--state', () => {
  const accounts = [{ account: alice, balance: '100.0' }, { account: bob }];
  const startSaved = async (args: readonly string[] = []) => {
    const node = await startMockNode('chainweb', ['--state', 'a.state', '--mine-on-send', ...args], { accounts });
    const api = new NodeApi({ url: node.urlIn(/mock node at (http\S+),/), network: 'development' });
    onTestFinished(() => api.close());
    return { ...node, api };
  };

  it('keeps what commands have done, which the log says in a line each', async () => {
    const { api, end, logged } = await startSaved();
    const commands = [commandOf(0, toBob('1.0')), commandOf(0, toBob('1000.0'))];
    const results = [];
    for (const command of commands) results.push(await api.send(0, [command]));
    const found = await api.poll(0, results.flat());
    expect(await end()).toEqual({ code: 0, stdout: '', stderr: '' });
    const lines = commands.map(({ hash }) =>
      new RegExp(`command ${hash.slice(0, 10)}… on chain 0 height 500000\\d, .*`).exec(logged()),
    );
    expect(lines.map((line) => line?.[0].replace(/.*, /, ''))).toEqual([
      '169 gas: success "Write succeeded"',
      '1000 gas: failure Insufficient funds',
    ]);
    expect(readdirSync(folder.path).filter((name) => name.startsWith('a.state'))).toEqual(['a.state']);
    const next = await startSaved();
    expect(await next.api.poll(0, results.flat())).toEqual(found);
    expect((await next.end()).code).toBe(0);
  });

  it.each([
    [
      '{',
      [],
      /^error: --state a\.state: it is not a complete state of a mock node \(.*\)\. To begin anew, delete the file\.\n$/,
    ],
    [
      undefined,
      ['--network', 'testnet04'],
      /^error: --state a\.state: it is the state of a node with another option "network"\. /,
    ],
  ])('a file that holds %j is wrong usage', async (text, args, says) => {
    rmSync(join(folder.path, 'a.state'), { force: true });
    if (text === undefined) await (await startSaved()).end();
    else folder.write('a.state', text);
    const { code, stderr } = await pickaxeIn(folder.path, [
      ...mockNodeArgs('chainweb', args, { chains: 4, accounts }),
      '--state',
      'a.state',
    ]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
  });

  it('a folder is no such file', async () => {
    const { code, stderr } = await pickaxeIn(folder.path, [...mockNodeArgs('chainweb'), '--state', '.']);
    expect([code, stderr]).toEqual([2, 'error: --state . cannot be read: it is a directory.\n']);
  });

  it('a state that cannot be written is said once, and fails', async () => {
    const { end, logged } = await startMockNode('chainweb', ['--state', 'nowhere/a.state']);
    expect((await end()).code).toBe(1);
    expect(logged().split(/WARN.*the state is not saved: ENOENT/)).toHaveLength(2);
  });
});
