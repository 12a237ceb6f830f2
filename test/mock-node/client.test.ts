/** Pickaxe's own client, which checks every hash and every root, against the mock node in both dialects. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { ProofRefusedError, SendRefusedError } from '#pickaxe/node/client/commands.js';
import { NodeApi } from '#pickaxe/node/client/node-api.js';
import { isAlreadyCompleted } from '#pickaxe/protocol/ledger/command/results.js';
import { checkCut } from '#pickaxe/protocol/ledger/cut.js';
import { onlyGraph } from '#pickaxe/protocol/ledger/graphs.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { rewardOf } from '#pickaxe/protocol/ledger/reward.js';
import { checkSpvProof, parseSpvProof } from '#pickaxe/protocol/ledger/spv-proof.js';
import { arrival, banksOf, bob, commandOf, toBob, toChain } from './execution/bank.ts';
import type { OtherOptions } from './node.ts';

const startBank = banksOf('chainweb');

const CASES: readonly (OtherOptions & { readonly dialect: Dialect })[] = [
  { dialect: 'document', strict: true },
  { dialect: 'chainweb', p2p: 'plain' },
  { dialect: 'chainweb', chains: 3 },
];

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function startClient({ dialect, ...options }: (typeof CASES)[number]) {
  const bank = await banksOf(dialect)(options);
  bank.grow(3);
  const { network } = bank.node.ledger.settings;
  const p2p = bank.p2pUrl === undefined ? {} : { p2pUrl: bank.p2pUrl };
  const url = new URL(bank.baseUrl).href;
  const api = new NodeApi({ url, network, ...p2p, ...(!bank.p2pUrl && { p2pUrl: url }) });
  onTestFinished(() => api.close());
  return { ...bank, api };
}

describe.each(CASES)('with %o, the client', (options) => {
  it('reads cuts, hashes, headers, blocks and payloads', async () => {
    const { api, node, tip } = await startClient(options);
    const { graph } = node.ledger.chains;
    const cut = await api.cut();
    expect(() => checkCut(cut, onlyGraph(graph))).not.toThrow();
    const block = tip(1);
    const { header } = block;
    expect(await all(api.hashes(1))).toHaveLength(4);
    expect(await all(api.hashBranch(1, { upper: [block.hash], lower: [] }))).toHaveLength(4);
    const blocks = await all(api.blocks(1, { minHeight: header.height }));
    expect(blocks.map((each) => each.header)).toEqual([header]);
    const { account, reward } = rewardOf(header, await api.payloadWithOutputs(1, header.payloadHash));
    expect([account.slice(0, 2), reward! > 0n]).toEqual(['k:', true]);
    const [payload] = await api.payloads(1, [{ payloadHash: header.payloadHash, height: header.height }]);
    expect(payload?.payloadHash).toEqual(header.payloadHash);
    expect(await api.header(1, block.hash)).toEqual(header);
    expect(await all(api.headers(1))).toHaveLength(4);
    expect(await all(api.peers())).toEqual([]);
    expect(await all(api.mempoolPeers(1))).toEqual([]);
    expect(await api.config()).toMatchObject({ allowReadsInLocal: false });
    expect(await api.health()).toBe('Health check OK.');
    expect(await api.dialect()).toBe(options.dialect);
  });

  it('sends coins, also to another chain', async () => {
    const { api, node } = await startClient(options);
    const { chains } = node.ledger;
    const command = commandOf(0, toBob('1.0'));
    expect((await api.local(0, command, { preflight: true })).outcome.status).toBe('success');
    expect(await api.send(0, [command])).toEqual([command.hash]);
    await expect(api.send(0, [{ ...command, sigs: [] }])).rejects.toThrow(SendRefusedError);
    const first = commandOf(0, toChain(2, '2.0'));
    await api.send(0, [first]);
    node.ledger.advance(0);
    const results = await api.poll(0, [command.hash, first.hash]);
    expect([...results.values()].map(({ result }) => result.status)).toEqual(['success', 'success']);
    expect((await api.listen(0, first.hash))?.reqKey).toBe(first.hash);

    await expect(api.proof(0, first.hash, 2)).rejects.toThrow(ProofRefusedError);
    node.ledger.advanceTo(2, chains.heightOf(0) + 1n);
    const proof = await api.proof(0, first.hash, 2);
    expect(() => checkSpvProof(parseSpvProof(proof), { chain: 2, hash: chains.tip(2).hash })).not.toThrow();
    const steps = [1, 2].map(() => commandOf(2, arrival(first.hash, proof)));
    await api.send(2, steps);
    node.ledger.advance(2);
    const ends = await api.poll(
      2,
      steps.map(({ hash }) => hash),
    );
    const [done, again] = steps.map(({ hash }) => ends.get(hash)!);
    expect([done.result.status, isAlreadyCompleted(again.result)]).toEqual(['success', true]);
    expect(chains.tip(2).payload.state.account(bob)?.balance).toBe(2n * 10n ** 12n);
  });
});

describe.each(['document', 'new'] as const)('with the stand-alone server’s answers (%s), the client', (standAlone) => {
  it('sends coins, and gets their results and proofs', async () => {
    const { node, url } = await startBank({ standAlone, listenMs: 10, listenTimeout: 'object' });
    const { chains } = node.ledger;
    const api = new NodeApi({ url, network: 'development', commandPath: '/api/v1' });
    onTestFinished(() => api.close());
    const command = commandOf(0, toChain(2, '2.0'));
    const tried = await api.local(0, command, { preflight: true });
    expect([tried.outcome.status, tried.result?.gas]).toEqual(['success', expect.any(Number)]);
    expect((await api.local(0, command)).outcome.status).toBe('success');
    expect(await api.send(0, [command])).toEqual([command.hash]);
    expect(await api.listen(0, command.hash)).toBeUndefined();
    node.ledger.advance(0);
    expect((await api.poll(0, [command.hash])).get(command.hash)?.reqKey).toBe(command.hash);
    expect((await api.listen(0, command.hash))?.result.status).toBe('success');
    await expect(api.proof(0, command.hash, 2)).rejects.toThrow(ProofRefusedError);
    node.ledger.advanceTo(2, chains.heightOf(0) + 1n);
    const proof = await api.proof(0, command.hash, 2);
    expect(() => checkSpvProof(parseSpvProof(proof), { chain: 2, hash: chains.tip(2).hash })).not.toThrow();
  });
});

describe('the client', () => {
  it('trusts the certificate that a cut names, and no other', async () => {
    const { node, p2p, url } = await startBank({ p2p: 'tls' });
    const { network } = node.ledger.settings;
    const service = new NodeApi({ url, network });
    onTestFinished(() => service.close());
    const { origin } = await service.cut();
    const peer = NodeApi.ofPeer(origin!, { network });
    onTestFinished(() => peer.close());
    expect((await peer.cut()).origin).toEqual(origin);
    const stranger = NodeApi.ofPeer({ ...origin!, id: 'A'.repeat(43) }, { network });
    onTestFinished(() => stranger.close());
    await expect(stranger.cut()).rejects.toThrow();
    expect((await p2p('/cut')).status).toBe(200);
  });

  it.each(['short-pages', 'endless-pages'] as const)('reads everything in spite of %s', async (kind) => {
    const { api, node, tip } = await startClient({ dialect: 'document' });
    node.server.faults = [{ endpoint: 'any', kind }];
    expect(await all(api.hashes(1))).toHaveLength(4);
    expect(await all(api.hashBranch(1, { upper: [tip(1).hash], lower: [] }))).toHaveLength(4);
    expect(await all(api.blocks(1))).toHaveLength(4);
  });
});
