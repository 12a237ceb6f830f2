/** What programs that use the package can do with its index alone. */

import { expect, it, onTestFinished } from 'vitest';
import * as pickaxe from '#pickaxe/index.js';
import { nodesOf } from './miner/source/node/node.ts';

const startNode = nodesOf('chainweb');

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

it('a client that no node has answered yet knows no time of the node', async () => {
  const api = new NodeApi({ url: 'http://127.0.0.1:9', network: 'development' });
  onTestFinished(() => api.close());
  expect(() => api.latestTimeUs()).toThrow('ask for something first, such as cut()');
});
