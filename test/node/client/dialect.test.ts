import { describe, expect, it } from 'vitest';
import { commandPathsOf } from '#pickaxe/node/http/request.js';
import { cuts } from '../../protocol/ledger/vectors.ts';
import { apiOf, CHAINWEB, DOCUMENT, errorOf, type Seen, serve } from './server.ts';

const [cut] = cuts;
const answerCut = ({ path }: Seen) => {
  const instance = path.includes('testnet04') ? 'testnet04' : cut.instance;
  return /\/cut$/.test(path) ? { body: { ...cut, instance } } : undefined;
};

describe('the dialect', () => {
  it.each([
    [CHAINWEB, 'chainweb', '/chainweb/0.0/mainnet01/cut'],
    [DOCUMENT, 'document', '/ledger/0.0/mainnet01/cut'],
    [{}, 'document', '/ledger/0.0/mainnet01/cut'],
  ] as const)('of a URL without a path is that of the headers %o', async (headers, dialect, path) => {
    const { url, seen } = await serve(answerCut, { headers });
    const api = apiOf({ url });
    await api.cut();
    await api.cut();
    expect(await api.dialect()).toBe(dialect);
    expect(seen.map((it) => it.path)).toEqual(['/health-check', path, path]);
  });

  it.each([
    ['/chainweb/0.0/testnet04', 'chainweb', CHAINWEB],
    ['/KEY/chainweb/0.0/testnet04', 'chainweb', DOCUMENT],
    ['/ledger/0.0/testnet04', 'document', CHAINWEB],
  ])('of the path %s is known at once, and the path stays as it is', async (path, dialect, headers) => {
    const { url, seen } = await serve(answerCut, { headers });
    const api = apiOf({ url: url + path });
    await api.cut();
    expect(await api.dialect()).toBe(dialect);
    expect(api.network).toBe('testnet04');
    expect(seen.map((it) => it.path)).toEqual([`${path}/cut`]);
  });

  it('that is set is not asked for', async () => {
    const { url, seen } = await serve(answerCut, { headers: DOCUMENT });
    await apiOf({ url, dialect: 'chainweb' }).cut();
    expect(seen.map((it) => it.path)).toEqual(['/chainweb/0.0/mainnet01/cut']);
  });

  it('is not guessed from a gateway that has no node behind it for a moment', async () => {
    const { url, seen } = await serve((request, before) =>
      before === 0 ? { status: 502, headers: {} } : answerCut(request),
    );
    const api = apiOf({ url });
    await api.cut();
    expect(await api.dialect()).toBe('chainweb');
    expect(seen).toHaveLength(3);
  });

  it('is not guessed when nothing answers', async () => {
    const { url, seen } = await serve(() => ({ status: 503, headers: {} }));
    const api = apiOf({ url });
    expect(await errorOf(api.cut())).toMatchObject({ kind: 'failed', status: 503 });
    expect(new Set(seen.map(({ path }) => path))).toEqual(new Set(['/health-check']));
  });
});

describe('the two sides of a real node', () => {
  const both = async () => {
    const service = await serve(({ path }) => (path.endsWith('/cut') ? { body: cut } : undefined));
    const p2p = await serve(({ path }) => {
      if (path.includes('/peer')) return { body: { items: [], limit: 0, next: null } };
      return path === '/config' ? { body: {} } : undefined;
    });
    return { service, p2p, api: apiOf({ url: service.url, p2pUrl: p2p.url, dialect: 'chainweb' }) };
  };

  it('are asked for what each of them serves', async () => {
    const { service, p2p, api } = await both();
    await api.cut();
    for await (const _ of api.peers());
    for await (const _ of api.mempoolPeers(3));
    await api.config();
    expect(service.seen.map(({ path }) => path)).toEqual(['/chainweb/0.0/mainnet01/cut']);
    expect(p2p.seen.map(({ path }) => path)).toEqual([
      '/chainweb/0.0/mainnet01/cut/peer?limit=512',
      '/chainweb/0.0/mainnet01/chain/3/mempool/peer?limit=512',
      '/config',
    ]);
  });

  it('are not taken for one another', async () => {
    const { service, p2p } = await both();
    const ofService = apiOf({ url: service.url });
    expect(await errorOf(ofService.config())).toMatchObject({
      kind: 'no such side',
      message: expect.stringMatching(/\/config is served by the P2P port .* give the node’s P2P URL, too\.$/),
    });
    const ofP2p = apiOf({ p2pUrl: p2p.url });
    expect(await errorOf(ofP2p.info())).toMatchObject({
      kind: 'no such side',
      message: expect.stringContaining('service URL'),
    });
  });

  it('are one by documents 1 and 2', async () => {
    const { url, seen } = await serve(() => ({ body: { a: 1 } }), { headers: DOCUMENT });
    await apiOf({ url }).config();
    expect(seen.map(({ path }) => path)).toEqual(['/health-check', '/config']);
  });

  it('are at least one', () => {
    expect(() => apiOf({})).toThrow(/URL/);
  });
});

describe('the path of commands', () => {
  it.each([
    ['document', undefined, 'chain/7/flow/api/v1', 'chain/7/flow/spv'],
    ['chainweb', undefined, 'chain/7/pact/api/v1', 'chain/7/pact/spv'],
    ['document', 'chain/<chain>/contracts/', 'chain/7/contracts', 'chain/7/contracts/spv'],
    ['chainweb', '/api/v1', '/api/v1', '/api/v1/spv'],
  ] as const)('%s, %s', (dialect, setting, commands, proofs) => {
    expect(commandPathsOf(dialect, 7, setting)).toEqual({ commands, proofs });
  });
});

it('what a node says about itself in headers is kept, and is safe to show', async () => {
  const { url } = await serve(answerCut, { headers: { ...CHAINWEB, 'x-peer-addr': '127.0.0.1:4711' } });
  const api = apiOf({ url });
  expect([api.nodeVersion, api.seenAs, api.skew]).toEqual([undefined, undefined, undefined]);
  await api.cut();
  expect([api.nodeVersion, api.seenAs]).toEqual(['2.31', '127.0.0.1:4711']);
  expect(api.latestTimeUs()).toBeGreaterThan(0n);
});
