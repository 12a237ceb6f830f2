/** Tests the client on the mock node, in both dialects, with one port and with two. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { NodeApi } from '#pickaxe/node/client/node-api.js';
import { buildCommand } from '#pickaxe/protocol/ledger/command/build.js';
import { type CoinCall, detailsOf, getDetails, transferCrosschain } from '#pickaxe/protocol/ledger/command/coin.js';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { checkCut } from '#pickaxe/protocol/ledger/cut.js';
import { ONE } from '#pickaxe/protocol/ledger/decimal.js';
import { distance, knownGraph, onlyGraph } from '#pickaxe/protocol/ledger/graphs.js';
import { blockHash } from '#pickaxe/protocol/ledger/header.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { checkSpvProof, parseSpvProof } from '#pickaxe/protocol/ledger/spv-proof.js';
import { MockNode, type MockNodeOptions } from '../../mock-node/node.ts';
import { allOf, apiOf, errorOf, QUICK } from './server.ts';

const CHAINS = 10;
const graph = knownGraph(CHAINS)!;
const pair = new KeyPair('2a'.repeat(32));
const account = `k:${pair.publicKey}`;

async function start({ dialect, ...options }: MockNodeOptions) {
  const accounts = [{ account, balance: '100.0' }];
  const node = new MockNode({ dialect, difficulty: 1, chains: CHAINS, seed: 3, accounts, ...options });
  onTestFinished(() => node.close());
  const { url, p2pUrl } = await node.start();
  const p2pTrust = { by: 'peer id', id: node.identity?.peerId ?? '' } as const;
  const api = apiOf({ url, network: 'development', ...(p2pUrl !== undefined && { p2pUrl, p2pTrust }) });
  return { node, api };
}

/** Adds this number of blocks to every chain. */
function grow(node: MockNode, blocks: number): void {
  for (let i = 0; i < blocks; i++) for (const chain of graph.keys()) node.ledger.advance(chain);
}

describe.each([
  ['in the words of the documents, strictly, on one port', { dialect: 'document', strict: true }],
  ['as real nodes do, on two ports with TLS', { dialect: 'chainweb', p2p: 'tls' }],
] as const)('the mock node answers %s:', (_, options) => {
  it('cuts, blocks, hashes, headers and payloads', async () => {
    const { node, api } = await start(options);
    grow(node, 3);
    const cut = await api.cut();
    checkCut(cut, onlyGraph(graph));
    const head = cut.heads.get(4)!;
    const blocks = await allOf(api.blocks(4));
    const hashes = await allOf(api.hashes(4));
    expect(blocks.map(({ header }) => blockHash(header))).toEqual(hashes);
    expect(hashes.at(-1)).toEqual(head.hash);
    expect(await allOf(api.blockBranch(4, { upper: [head.hash] }))).toEqual(blocks.toReversed());
    const lower = [hashes[1]];
    expect(await allOf(api.hashBranch(4, { upper: [head.hash], lower }))).toEqual(hashes.slice(2).toReversed());
    expect(await allOf(api.hashes(4, { minHeight: head.height + 1n }))).toEqual([]);
    expect(await allOf(api.headers(4))).toEqual(blocks.map(({ header }) => header));
    expect(await api.header(4, head.hash)).toEqual(blocks.at(-1)!.header);
    const places = blocks.map(({ header: { payloadHash, height } }) => ({ payloadHash, height }));
    const payloads = await api.payloads(4, [{ payloadHash: head.hash, height: 0 }, ...places]);
    expect(payloads[0]).toBeUndefined();
    for (const [i, { payload }] of blocks.entries()) {
      expect(payload).toMatchObject(payloads[i + 1]!);
      expect(await api.payloadWithOutputs(4, payload.payloadHash)).toEqual(payload);
    }
    expect(await errorOf(api.payload(4, head.hash))).toMatchObject({
      kind: 'not found',
      key: encodeBase64url(head.hash),
    });
  });

  it('what it is', async () => {
    const { api } = await start(options);
    expect(await api.info()).toMatchObject({ network: 'development', graphs: [{ graph }] });
    expect(await api.health()).not.toBe('');
    expect(await api.config()).toHaveProperty(`${options.dialect === 'document' ? 'ledger' : 'chainweb'}Version`);
    expect(await api.dialect()).toBe(options.dialect);
  });

  it('peers', async () => {
    const { node, api } = await start(options);
    const other = await start({ dialect: 'chainweb', p2p: 'tls' });
    const peer = { id: other.node.identity!.peerId, address: { hostname: '127.0.0.1', port: other.node.p2p!.port } };
    await api.putPeer(peer);
    await api.putMempoolPeer(2, peer);
    expect(await allOf(api.peers())).toContainEqual(peer);
    expect(await allOf(api.mempoolPeers(2))).toContainEqual(peer);
    const gone = { ...peer, address: { ...peer.address, port: 1 } };
    expect(await errorOf(api.putPeer(gone))).toMatchObject({ kind: 'bad request' });
    const ofPeer = NodeApi.ofPeer(peer, { network: 'development' }, QUICK);
    expect((await ofPeer.cut()).heads.size).toBe(CHAINS);
    await ofPeer.close();
    const { origin } = await api.cut();
    expect(origin?.id).toBe(node.identity?.peerId);
  });

  it('commands, up to a transfer between chains', async () => {
    const { node, api } = await start(options);
    const commandOf = ({ message, capabilities }: CoinCall, signs = true) => {
      const meta = { chainId: '3', sender: account, gasLimit: 2000, gasPrice: 10_000n, ttl: 600 };
      const creationTime = Math.floor(Date.now() / 1000) - 15;
      const clist = [{ name: 'coin.GAS', args: [] }, ...capabilities];
      const signers = signs ? [{ pubKey: pair.publicKey, clist }] : [];
      const payload = {
        networkId: 'development',
        payload: message,
        signers,
        nonce: 'n',
        meta: { ...meta, creationTime },
      };
      return buildCommand(payload, signs ? [pair] : []);
    };
    const read = await api.local(3, commandOf({ message: getDetails('coin', account), capabilities: [] }, false));
    expect(detailsOf(read.outcome, account)?.balance).toBe(100n * ONE);
    const guard = { keys: [pair.publicKey], pred: 'keys-all' };
    const payment = { module: 'coin', sender: account, receiver: account, amount: ONE, guard, targetChain: 7 };
    const command = commandOf(transferCrosschain(payment));
    const [key] = await api.send(3, [command]);
    expect(await api.poll(3, [key])).toEqual(new Map());
    expect(await errorOf(api.proof(3, key, 7))).toMatchObject({ refusal: { wait: true } });
    const recorded = api.listen(3, key);
    grow(node, 2 + distance(graph, 3, 7));
    expect((await recorded)?.result.status).toBe('success');
    const result = (await api.poll(3, [key])).get(key)!;
    const proof = parseSpvProof(await api.proof(3, key, 7));
    const height = BigInt(result.metaData!.blockHeight!) + BigInt(distance(graph, 3, 7));
    const roots = await allOf(api.hashes(7, { minHeight: height, maxHeight: height }));
    expect(() => checkSpvProof(proof, { chain: 7, hash: roots[0] })).not.toThrow();
    expect(await api.send(3, [command])).toEqual([key]);
  });
});
