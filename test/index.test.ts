/** What programs that use the package can do with nothing but its index. */

import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as pickaxe from '#pickaxe/index.js';
import { startNode } from './source/node/node.ts';

const { buildCommand, gasCapability, getDetails, KeyPair, NodeApi, onlyGraph, knownGraph, checkCut } = pickaxe;
const { transferCreate, parseDecimal, formatDecimal } = pickaxe;

it('a program pays coins to somebody, and checks the cut', async () => {
  const pair = new KeyPair('ab'.repeat(32));
  const sender = `k:${pair.publicKey}`;
  const { node, url } = await startNode({ accounts: [{ account: sender, balance: '10', chains: [0] }] });
  const api = new NodeApi({ url, network: 'development' });
  onTestFinished(() => api.close());
  checkCut(await api.cut(), onlyGraph(knownGraph(20)!));
  const guard = { keys: ['cd'.repeat(32)], pred: 'keys-all' };
  const receiver = `k:${guard.keys[0]}`;
  const meta = {
    chainId: '0',
    sender,
    gasLimit: 1500,
    gasPrice: parseDecimal('1e-8'),
    ttl: 600,
    creationTime: Number(api.latestTimeUs() / 1_000_000n) - 15,
  };
  const amount = parseDecimal('2.5');
  const { message, capabilities } = transferCreate({ module: 'coin', sender, receiver, amount, guard });
  const signers = [{ pubKey: pair.publicKey, clist: [...capabilities, gasCapability('coin')] }];
  const common = { networkId: api.network, meta, nonce: 'one' };
  const [requestKey] = await api.send(0, [buildCommand({ ...common, payload: message, signers }, [pair])]);
  node.ledger.advance(0);
  const result = (await api.poll(0, [requestKey])).get(requestKey);
  expect(result?.result.status).toBe('success');
  const read = buildCommand({ ...common, payload: getDetails('coin', receiver), signers: [] }, []);
  const { outcome } = await api.local(0, read);
  expect(outcome).toMatchObject({ status: 'success', data: { account: receiver } });
  const { balance } = (outcome as unknown as { data: { balance: pickaxe.ExactJson } }).data;
  expect(formatDecimal(pickaxe.decimalOf(balance))).toBe('2.5');
});

describe('the programs of docs/library.md about a node', () => {
  const page = readFileSync(new URL('../docs/library.md', import.meta.url), 'utf8');
  const [, chapter] = /^## A node's API\n(.*?)^## /ms.exec(page)!;
  const programs = [...chapter.matchAll(/^```js\n(.*?)^```$/gms)].map(([, text]) => text);
  const secret = 'ab'.repeat(32);
  const { publicKey } = new KeyPair('cd'.repeat(32));

  /** Each is a program of its own, beside this test, as its imports are those of the package. */
  async function run(i: number, url: string): Promise<string> {
    const file = fileURLToPath(new URL(`./library-page-${i}-${process.pid}.mjs`, import.meta.url));
    const here = { 'http://127.0.0.1:1848': url, mainnet01: 'development', "'pickaxe'": "'#pickaxe/index.js'" };
    const text = Object.entries(here).reduce((text, [from, to]) => text.replaceAll(from, to), programs[i]);
    writeFileSync(file, text.replace(/p2pUrl: '[^']+', /, ''));
    onTestFinished(() => rmSync(file, { force: true }));
    const env = { ...process.env, SECRET_KEY: secret, RECEIVER_KEY: publicKey };
    return (await promisify(execFile)(process.execPath, [file], { env })).stdout;
  }

  it('read the cut and the newest blocks', async () => {
    const { node, url } = await startNode({ chains: 3 });
    // The first block of a chain has no miner.
    for (let i = 0; i < 12; i++) for (const chain of [0, 1, 2]) node.ledger.advance(chain);
    const lines = (await run(0, url)).trim().split('\n');
    expect(lines.slice(0, 3)).toEqual(
      [0, 1, 2].map((chain) => expect.stringMatching(new RegExp(`^${chain} \\d+n [\\w-]{43}$`))),
    );
    expect(lines.length).toBeGreaterThan(3);
  });

  it('pay somebody', async () => {
    const account = `k:${new KeyPair(secret).publicKey}`;
    const { node, url } = await startNode({ chains: 3, accounts: [{ account, balance: '10', chains: [0] }] });
    expect(await run(1, url)).toMatch(/^[\w-]{43}\n$/);
    node.ledger.advance(0);
    const { state } = node.ledger.chains.tip(0).payload;
    expect(state.account(`k:${publicKey}`)?.balance).toBe(parseDecimal('2.5'));
    expect(programs).toHaveLength(2);
  });
});

it('a client that no node has answered yet knows no time of the node', async () => {
  const api = new NodeApi({ url: 'http://127.0.0.1:9', network: 'development' });
  onTestFinished(() => api.close());
  expect(() => api.latestTimeUs()).toThrow('ask for something first, such as cut()');
});
