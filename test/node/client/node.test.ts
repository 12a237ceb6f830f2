/** Cuts, peers, and a node's information about itself. */

import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checkConfig, servedNetwork } from '#pickaxe/node/client/config.js';
import { trustOfPeer, urlOfPeer } from '#pickaxe/node/client/info.js';
import { NodeApi } from '#pickaxe/node/client/node-api.js';
import { peerIdOf, sumOfHeights } from '#pickaxe/protocol/ledger/cut.js';
import { knownGraph } from '#pickaxe/protocol/ledger/graphs.js';
import { cuts } from '../../protocol/ledger/vectors.ts';
import { another, type Identity, selfSigned, signed } from './certificates.ts';
import { apiOf, apiWith, CHAINWEB, errorOf, QUICK, serve } from './server.ts';

const [cut] = cuts;
const id = 'A'.repeat(43);
const origin = { id, address: { hostname: '10.1.2.3', port: 1789 } };
const idOf = ({ cert }: Identity) => peerIdOf(new X509Certificate(cert).raw);

describe('a cut', () => {
  it('is read, at a height if that is asked for', async () => {
    const { api, seen } = await apiWith(() => ({ body: cut }));
    const read = await api.cut({ maxHeight: 12 });
    expect(read.height).toBe(BigInt(cut.height));
    expect(sumOfHeights(read)).toBe(read.height);
    expect(seen[0].path).toBe('/chainweb/0.0/mainnet01/cut?maxheight=12');
  });

  it('of another network is told, where the network is known', async () => {
    const { url } = await serve(() => ({ body: { ...cut, instance: 'test\nnet' } }));
    const error = await errorOf(apiOf({ url: `${url}/secret-key` }).cut());
    expect(error).toMatchObject({ kind: 'other network', network: 'test\nnet', retryable: false });
    expect(error.message).toBe(
      `${url}/… serves the network test net, not mainnet01: check the network or the node URL.`,
    );
    const ofP2p = await errorOf(apiOf({ p2pUrl: `${url}/secret-key`, dialect: 'chainweb' }).cut());
    expect(ofP2p.message).toBe(error.message);
    expect((await apiOf({ url: `${url}/secret-key`, network: '' }).cut()).network).toBe('test\nnet');
    const { url: silent } = await serve(() => ({ body: { ...cut, instance: undefined } }));
    expect((await apiOf({ url: `${silent}/secret-key` }).cut()).network).toBeUndefined();
  });

  it('is published as it was read, with its origin', async () => {
    const { api, seen } = await apiWith((_, before) => (before === 0 ? { body: cut } : { status: 204 }));
    const read = await api.cut();
    await api.putCut({ ...read, origin });
    expect(seen[1]).toMatchObject({ method: 'PUT', path: '/chainweb/0.0/mainnet01/cut' });
    const { hashes, height, weight } = cut;
    expect(JSON.parse(seen[1].body)).toMatchObject({ hashes, height, weight, origin });
    await expect(api.putCut({ ...read, origin: null })).rejects.toThrow(RangeError);
    expect(seen).toHaveLength(2);
  });

  it.each([
    [400, 'Cut is missing an origin entry', 'bad request'],
    [401, 'Unknown peer', 'unauthorized'],
  ] as const)('may be refused: %i %s', async (status, text, kind) => {
    const { api } = await apiWith((_, before) => (before === 0 ? { body: cut } : { status, body: text }));
    const read = await api.cut();
    expect(await errorOf(api.putCut({ ...read, origin }))).toMatchObject({ kind, text });
  });
});

describe('peers', () => {
  it('are added to the network of cuts and to those of mempools', async () => {
    const { api, seen } = await apiWith(() => ({ status: 204 }));
    await api.putPeer(origin);
    await api.putMempoolPeer(5, { ...origin, id: null });
    expect(seen.map(({ method, path, body }) => [method, path.slice(23), JSON.parse(body)])).toEqual([
      ['PUT', '/cut/peer', origin],
      ['PUT', '/chain/5/mempool/peer', { ...origin, id: null }],
    ]);
  });

  it('that the node cannot reach are refused', async () => {
    const text = 'Invalid hostaddress: IsNotReachable (HostAddress …)';
    const { api } = await apiWith(() => ({ status: 400, body: text }));
    expect(await errorOf(api.putPeer(origin))).toMatchObject({ kind: 'bad request', text });
  });

  it.each([
    ['10.1.2.3', 'https://10.1.2.3:1789'],
    ['node.example', 'https://node.example:1789'],
    ['2001:db8::1', 'https://[2001:db8::1]:1789'],
  ])('at %s have a URL', (hostname, url) => {
    expect(urlOfPeer({ id, address: { hostname, port: 1789 } })).toBe(url);
  });

  it('without an id need the certificate of an authority', () => {
    expect(trustOfPeer({ ...origin, id: null })).toEqual({ by: 'authority' });
    expect(trustOfPeer(origin)).toEqual({ by: 'peer id', id });
  });
});

describe('a peer’s certificate', () => {
  const peerWith = async (identity: Identity, peerId: string | null) => {
    const { url, seen } = await serve(() => ({ body: cut }), { identity, headers: CHAINWEB });
    const peer = { id: peerId, address: { hostname: '127.0.0.1', port: Number(new URL(url).port) } };
    return { api: NodeApi.ofPeer(peer, { network: 'mainnet01' }, QUICK), seen };
  };

  it('must be the one that its id names, no matter who signed it', async () => {
    const { api, seen } = await peerWith(selfSigned, idOf(selfSigned));
    expect((await api.cut()).heads.size).toBe(20);
    await api.close();
    expect(seen).not.toHaveLength(0);
  });

  it.each([
    ['of another peer', another, idOf(selfSigned)],
    ['without an id and an authority', selfSigned, null],
    ['of an authority that nobody knows', signed, null],
  ])('%s gets no request', async (_, identity, peerId) => {
    const { api, seen } = await peerWith(identity, peerId);
    const error = await errorOf(api.cut());
    expect(error).toMatchObject({ kind: 'unreachable', retryable: false });
    if (peerId === null) expect(error.message).toContain('is not trusted');
    else expect(error.message).toContain(`expected ${peerId}, presented ${idOf(identity)}.`);
    await api.close();
    expect(seen).toEqual([]);
  });
});

describe('a node’s information', () => {
  const graph = knownGraph(10)!;
  const info = {
    nodeVersion: 'mainnet01',
    nodeApiVersion: '0.0',
    nodeNumberOfChains: 10,
    nodeChains: graph.map((_, chain) => `${chain}`).toReversed(),
    nodeGraphHistory: [[0, graph.map((neighbours, chain) => [chain, neighbours.toReversed()]).toReversed()]],
    nodePackageVersion: '2.24.1',
  };

  it('is at the host root', async () => {
    const { api, seen } = await apiWith(() => ({ body: info }));
    expect(await api.info()).toEqual({
      network: 'mainnet01',
      apiVersion: '0.0',
      chains: graph.map((_, chain) => chain),
      graphs: [{ fromHeight: 0n, graph }],
    });
    expect(seen[0].path).toBe('/info');
  });

  it('has the newest graph first', async () => {
    const twenty = knownGraph(20)!;
    const pairs = (it: typeof graph) => it.map((neighbours, chain) => [chain, neighbours]);
    const nodeGraphHistory = [
      [0, pairs(graph)],
      [852_054, pairs(twenty)],
    ];
    const { api } = await apiWith(() => ({ body: { ...info, nodeGraphHistory } }));
    const { graphs } = await api.info();
    expect(graphs.map(({ fromHeight }) => fromHeight)).toEqual([852_054n, 0n]);
    expect(graphs[0].graph).toEqual(twenty);
  });

  it.each([
    [{ nodeNumberOfChains: 11 }, /names 10 chains/],
    [{ nodeGraphHistory: [[0, [[1, [2]]]]] }, /has 1 chains, and one is 1/],
    [
      {
        nodeGraphHistory: [
          [
            0,
            [
              [0, [1]],
              [1, []],
            ],
          ],
        ],
      },
      /cannot be a neighbour/,
    ],
    [{ nodeGraphHistory: [[-1, []]] }, /nodeGraphHistory/],
    [{ nodeChains: ['x'] }, /nodeChains\.0: is not a chain/],
    [{ nodeVersion: 3 }, /nodeVersion/],
  ])('may be wrong: %j', async (wrong, why) => {
    const { api } = await apiWith(() => ({ body: { ...info, ...wrong } }));
    expect((await errorOf(api.info())).message).toMatch(why);
  });

  it('about its health is a text', async () => {
    const { api, seen } = await apiWith(() => ({ body: 'Health check OK.\n' }));
    expect(await api.health()).toBe('Health check OK.');
    const { api: talking } = await apiWith(() => ({ body: 'x'.repeat(201) }));
    expect(await talking.health()).toBe(`${'x'.repeat(199)}…`);
    expect(seen[0].path).toBe('/health-check');
  });

  it('about its configuration is an object of any keys', async () => {
    const report = { chainwebVersion: 'mainnet01', minGasPrice: 1e-8, mining: { coordination: { enabled: false } } };
    const { api, seen } = await apiWith(() => ({ body: report }));
    const read = await api.config();
    expect(read.minGasPrice).toMatchObject({ text: '1e-8' });
    expect(servedNetwork(read)).toBe('mainnet01');
    expect(checkConfig(read, 'mainnet01', undefined)).toMatchObject([{ state: 'warning' }]);
    expect(seen[0].path).toBe('/config');
    const { api: other } = await apiWith(() => ({ body: [] }));
    expect((await errorOf(other.config())).message).toMatch(/not an object/);
  });
});
