/** Tests `pickaxe mock-node`: what it says, and how a user tells it to be wrong. */

import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { MAX_CONTRACT_LENGTH } from '#pickaxe/mock-node/options.js';
import { basePathOf } from '#pickaxe/node/http/url.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { Folder } from '../../app/config/folder.ts';
import { mockNodeArgs, type OtherOptions } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { pickaxeIn } from '../in-process.ts';
import { MAIN, start } from '../pickaxe.ts';

const KEY = 'ab'.repeat(32);
const folder = new Folder();
afterAll(() => folder.remove());

async function startMockNode(dialect: Dialect, args: readonly string[] = [], options: OtherOptions = {}) {
  const run = start(mockNodeArgs(dialect, args, options), {}, MAIN, folder.path);
  onTestFinished(() => void run.child.kill('SIGKILL'));
  const said = (pattern: RegExp) => vi.waitFor(() => expect(run.stderr).toMatch(pattern), PATIENCE);
  await said(/curl http/);
  const urlIn = (pattern: RegExp) => pattern.exec(run.stderr)![1];
  const tell = async (instruction: object) => {
    const answer = await fetch(urlIn(/curl (http\S+)/), { method: 'POST', body: JSON.stringify(instruction) });
    return { status: answer.status, json: await answer.json() };
  };
  const ask = async (side: string) => (await fetch(`${side}${basePathOf(dialect, 'development')}/cut`)).status;
  return { run, said, urlIn, tell, ask };
}

it('is told faults while it runs, on both of its ports, and goes on at SIGHUP without a terminal', async () => {
  const { run, said, urlIn, tell, ask } = await startMockNode('chainweb', [], { p2p: 'plain' });
  const [url, p2pUrl] = [urlIn(/mock node at (http\S+),/), urlIn(/each other is at (http\S+)/)];
  expect([await ask(url), await ask(p2pUrl)]).toEqual([200, 200]);
  if (process.platform !== 'win32') run.child.kill('SIGHUP');
  const faults = [{ endpoint: 'cut', kind: 'status', status: 404 }];
  expect(await tell({ do: 'faults', faults })).toEqual({ status: 200, json: {} });
  expect([await ask(url), await ask(p2pUrl)]).toEqual([404, 404]);
  await said(/was told: faults/);
  await said(/fault status on cut/);
  run.child.kill('SIGTERM');
  expect(await run.code).toBe(0);
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
  const { code, stderr } = await pickaxeIn(folder.path, mockNodeArgs('chainweb', ['--control-port', port]));
  expect([code, stderr]).toEqual([2, expect.stringContaining(`port ${port} is in use`)]);
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
  const { code, stdout } = await pickaxeIn(folder.path, [
    ...['balance', '--node', urlIn(/mock node at (http\S+),/), '--network', 'development', '--account', `k:${KEY}`],
  ]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('30.0')]);
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
