/** Document 1's queries on a chain with many blocks, as read by a client that checks everything. */

import { describe, expect, it } from 'vitest';
import { checkCut, cutFromJson } from '#pickaxe/protocol/ledger/cut.js';
import { knownGraph, onlyGraph } from '#pickaxe/protocol/ledger/graphs.js';
import { blockHash, type Dialect, headerFromJson, parseHeader } from '#pickaxe/protocol/ledger/header.js';
import { type ExactJson, encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { payloadWithOutputsFromJson, provePayload } from '#pickaxe/protocol/ledger/payload.js';
import { provenReward } from '../../protocol/ledger/proven-reward.ts';
import { at, mocksOf } from '../ask.ts';
import type { OtherOptions } from '../node.ts';

const startMock = mocksOf('document');

interface Page {
  readonly items: readonly never[];
  readonly limit: number;
  readonly next: string | null;
}

const hashes = (answer: { plain: Page }) => answer.plain.items as readonly string[];
const FIRST = 5_000_000;

async function grown(options: OtherOptions = {}, dialect: Dialect = 'document') {
  const mock = await mocksOf(dialect)({ chains: 10, ...options });
  mock.grow(5);
  /** @returns the hash of the canonical block that is `above` heights above the chain's oldest one */
  const id = (chain: number, above: number) =>
    mock.node.ledger.chains.blocksOf(chain).canonical(BigInt(FIRST + above))!.id;
  return { ...mock, id };
}

describe('a cut', () => {
  it('has the heads of all chains, and is one', async () => {
    const { ask, tip } = await grown();
    const { json, headers } = await ask('/cut');
    const cut = cutFromJson(json);
    expect(() => checkCut(cut, onlyGraph(knownGraph(10)!))).not.toThrow();
    expect(cut).toMatchObject({ origin: null, network: 'development', height: 10n * BigInt(FIRST + 5) });
    expect(cut.weight).toBe([...cut.heads.keys()].reduce((sum, chain) => sum + tip(chain).header.weight, 0n));
    expect(headers['x-ledger-node-version']).toBe('2.24.1');
  });

  it('is about as high as asked for', async () => {
    const { ask } = await grown();
    for (const [max, expected] of [
      [10 * (FIRST + 3), 10 * (FIRST + 3)],
      [10 * (FIRST + 3) + 9, 10 * (FIRST + 3)],
      [1, 10 * FIRST],
    ]) {
      const { json } = await ask(`/cut?maxheight=${max}`);
      expect(cutFromJson(json).height).toBe(BigInt(expected));
    }
    expect((await ask('/cut?maxheight=x')).status).toBe(400);
  });
});

describe('block hashes', () => {
  it('come in ascending order, and the last page can be asked again for more', async () => {
    const { ask, node, id } = await grown();
    const all = [0, 1, 2, 3, 4, 5].map((above) => id(3, above));
    const first = await ask('/chain/3/hash?limit=4');
    expect(first.plain).toEqual({ items: all.slice(0, 4), limit: 4, next: `inclusive:${all[4]}` });
    const last = await ask(`/chain/3/hash?limit=4&next=inclusive:${all[4]}`);
    expect(last.plain).toEqual({ items: all.slice(4), limit: 2, next: `exclusive:${all[5]}` });
    const empty = await ask(`/chain/3/hash?next=exclusive:${all[5]}`);
    expect(empty.plain).toEqual({ items: [], limit: 0, next: null });
    node.ledger.advance(3);
    expect(hashes(await ask(`/chain/3/hash?next=exclusive:${all[5]}`))).toEqual([id(3, 6)]);
  });

  it('are bounded by heights, and include orphans', async () => {
    const { ask, node, id } = await grown();
    const orphan = id(3, 4);
    node.ledger.reorganise(node.ledger.chains.blocksOf(3).get(orphan)!);
    const { plain } = (await ask(`/chain/3/hash?minheight=${FIRST + 4}&maxheight=${FIRST + 4}`)) as { plain: Page };
    expect(plain.items).toEqual([orphan, id(3, 4)]);
    expect(orphan).not.toBe(id(3, 4));
    const nothing = await ask('/chain/3/hash?minheight=9000000');
    expect([nothing.status, nothing.plain]).toEqual([200, { items: [], limit: 0, next: null }]);
  });

  it('of a branch come in descending order without orphans, and end with null', async () => {
    const { ask, node, id } = await grown();
    node.ledger.reorganise(node.ledger.chains.blocksOf(3).get(id(3, 4))!);
    const body = { upper: [id(3, 5)], lower: [id(3, 1)] };
    const branch = (query = '') => ask(`/chain/3/hash/branch${query}`, { method: 'POST', body });
    expect((await branch()).plain).toEqual({ items: [5, 4, 3, 2].map((above) => id(3, above)), limit: 4, next: null });
    expect((await branch('?limit=3')).plain).toMatchObject({ limit: 3, next: `inclusive:${id(3, 2)}` });
    expect(hashes(await branch(`?next=inclusive:${id(3, 2)}`))).toEqual([id(3, 2)]);
    expect(hashes(await branch(`?minheight=${FIRST + 3}&maxheight=${FIRST + 3}`))).toEqual([id(3, 3)]);
  });

  it('tell by a branch whether a block won, from any head', async () => {
    const { ask, node, id } = await grown();
    const lost = id(3, 4);
    node.ledger.reorganise(node.ledger.chains.blocksOf(3).get(lost)!);
    const query = `/chain/3/hash/branch?minheight=${FIRST + 4}&maxheight=${FIRST + 4}`;
    const head = at((await ask('/cut')).json, 'hashes', '3', 'hash');
    const answer = await ask(query, { method: 'POST', body: { upper: [head], lower: [] } });
    expect(hashes(answer)).toEqual([id(3, 4)]);
    expect(hashes(answer)).not.toContain(lost);
  });

  it('have bounds that must exist, and not too many of them', async () => {
    const { ask, id } = await grown();
    const nobody = 'A'.repeat(43);
    const branch = (body: unknown) => ask('/chain/3/hash/branch', { method: 'POST', body });
    expect(await branch({ upper: [nobody], lower: [] })).toMatchObject({
      status: 404,
      plain: { reason: 'key not found', key: nobody },
    });
    expect(hashes(await branch({ upper: [id(3, 1)], lower: [nobody] }))).toHaveLength(2);
    expect(hashes(await branch({ upper: Array(32).fill(id(3, 1)), lower: Array(32).fill(id(3, 0)) }))).toHaveLength(1);
    const many = await branch({ upper: Array(33).fill(id(3, 1)), lower: [] });
    const exceeded = 'upper branch bound limit exceeded. Only 32 values are supported.';
    expect([many.status, many.plain]).toEqual([400, exceeded]);
    for (const wrong of [{ upper: 'x' }, { upper: ['x'] }, { lower: [7] }, [], 'x', undefined]) {
      expect((await branch(wrong ?? '{')).status).toBe(400);
    }
    expect((await ask('/chain/3/hash?next=inclusive:x')).status).toBe(400);
    expect((await ask(`/chain/3/hash?next=inclusive:${nobody}`)).status).toBe(404);
    expect((await ask('/chain/3/hash?next=sometime')).status).toBe(400);
    expect((await ask('/chain/3/hash?minheight=-1')).status).toBe(400);
    expect((await ask('/chain/10/hash')).status).toBe(404);
  });
});

describe('headers', () => {
  it.each([
    ['document', 'ledgerVersion'],
    ['chainweb', 'chainwebVersion'],
  ] as const)('are binary in base64url, and objects if asked for, in the words of %s', async (dialect, field) => {
    const { ask, tip } = await grown({ network: 'mainnet01' }, dialect);
    const { header, id } = tip(3);
    const path = `/chain/3/header?minheight=${header.height}`;
    const [text] = hashes(await ask(path));
    expect(parseHeader(Buffer.from(text, 'base64url'))).toEqual(header);
    const accept = 'application/json;blockheader-encoding=object';
    const page = await ask(path, { accept });
    const [json] = at(page.json, 'items') as readonly ExactJson[];
    expect([at(json, field), headerFromJson(json)]).toEqual(['mainnet01', header]);
    const one = await ask(`/chain/3/header/${id}`, { accept: 'application/octet-stream' });
    expect(encodeBase64url(blockHash(parseHeader(one.bytes)))).toBe(id);
    const asObject = await ask(`/chain/3/header/${id}`, { accept });
    expect(asObject.headers['content-type']).toBe(accept);
    expect(headerFromJson(asObject.json)).toEqual(header);
    expect((await ask(`/chain/3/header/${'A'.repeat(43)}`)).status).toBe(404);
    expect((await ask('/chain/3/header/x')).status).toBe(400);
    expect((await ask(`/chain/3/header/${id}`, { accept: 'text/html' })).status).toBe(406);
    const branch = await ask('/chain/3/header/branch?limit=2', { method: 'POST', body: { upper: [id] } });
    expect(hashes(branch)).toHaveLength(2);
  });
});

describe('whole blocks', () => {
  it('are what their headers say', async () => {
    const { ask } = await grown({ network: 'mainnet01' });
    for (const asked of [
      await ask(`/chain/3/block?minheight=${FIRST + 1}`),
      await ask('/chain/3/block/branch', {
        method: 'POST',
        body: { upper: hashes(await ask(`/chain/3/hash?minheight=${FIRST + 5}`)), lower: [] },
      }),
    ]) {
      const items = at(asked.json, 'items') as readonly ExactJson[];
      expect(items.length).toBeGreaterThanOrEqual(5);
      for (const item of items) {
        const header = headerFromJson(at(item, 'header') as ExactJson);
        const payload = payloadWithOutputsFromJson(at(item, 'payloadWithOutputs') as ExactJson);
        if (header.height > BigInt(FIRST)) expect(provenReward(header, payload).reward).toBeGreaterThan(0n);
        else expect(() => provePayload(payload, header.payloadHash)).not.toThrow();
      }
    }
    expect((await ask('/chain/3/block', { accept: 'application/octet-stream' })).status).toBe(406);
  });

  it('have at most 360 a page', async () => {
    const { ask, grow } = await startMock({ chains: 1 });
    grow(365);
    expect((await ask('/chain/0/block?limit=1000')).plain).toMatchObject({ limit: 360 });
    expect((await ask('/chain/0/hash?limit=1000')).plain).toMatchObject({ limit: 366 });
  });
});

describe('a node', () => {
  it('tells its graph and its health', async () => {
    const { askUrl, url } = await startMock();
    const info = (await askUrl(`${url}/info`)).plain as { nodeGraphHistory: [number, [number, number[]][]][] };
    expect(info).toMatchObject({ nodeNumberOfChains: 20, nodeApiVersion: '0.0', nodeVersion: 'development' });
    expect(info).toMatchObject({
      nodeLatestBehaviorHeight: 0,
      nodeGenesisHeights: expect.arrayContaining([['19', 0]]),
      nodeHistoricalChains: info.nodeGraphHistory,
      nodeServiceDate: null,
    });
    const [[from, graph]] = info.nodeGraphHistory;
    expect([from, graph.map(([, neighbours]) => neighbours)]).toEqual([0, knownGraph(20)]);
    expect((await askUrl(`${url}/health-check`)).text).toBe('Health check OK.\n');
  });

  it('has each path in one place: at the root, or below its base URL', async () => {
    const { ask, askUrl, url } = await startMock({ chains: 10, standAlone: 'new' });
    const statuses = async (path: string) => [(await askUrl(`${url}${path}`)).status, (await ask(path)).status];
    for (const path of ['/info', '/config', '/health-check']) expect(await statuses(path)).toEqual([200, 404]);
    expect(await statuses('/cut')).toEqual([404, 200]);
    // A path that is there is refused for its method.
    expect(await statuses('/api/v1/poll')).toEqual([405, 404]);
  });

  it('answers a request whose target is no path', async () => {
    const { askUrl, url } = await startMock({ chains: 10 });
    expect((await askUrl(`${url}//`)).status).toBe(400);
  });

  it('of three chains serves shorter headers, and no work', async () => {
    const { ask, tip } = await startMock({ chains: 3 });
    expect((await ask('/mining/work', { body: {} })).status).toBe(404);
    const { bytes } = await ask(`/chain/0/header/${tip(0).id}`, { accept: 'application/octet-stream' });
    expect(bytes).toHaveLength(250 + 32);
  });

  it('of one dialect serves only its paths, in its words', async () => {
    const { ask, askUrl, url, baseUrl } = await mocksOf('chainweb')();
    expect(baseUrl).toBe(`${url}/chainweb/0.0/development`);
    const { headers } = await ask('/cut');
    expect([headers['x-chainweb-node-version'], headers['x-ledger-node-version']]).toEqual(['2.24.1', undefined]);
    expect((await askUrl(`${url}/ledger/0.0/development/cut`)).status).toBe(404);
    const config = await askUrl(`${url}/config`);
    expect(config.plain).toMatchObject({
      chainwebVersion: 'development',
      syncPactChains: null,
      serviceApi: { port: Number(new URL(url).port) },
      mining: { nodeMining: { enabled: false, miner: { predicate: 'keys-all' } } },
    });
    const other = await startMock();
    expect((await other.askUrl(`${other.url}/chainweb/0.0/development/cut`)).status).toBe(404);
    const document = await other.askUrl(`${other.url}/config`);
    expect(document.plain).toMatchObject({ ledgerVersion: 'development', syncFlowChains: null, minGasPrice: 1e-8 });
  });

  it('that is strict answers 404 where document 1 says so', async () => {
    const { ask, id } = await grown({ strict: true });
    const nobody = 'A'.repeat(43);
    for (const path of [
      '/chain/3/block?minheight=9000000',
      '/chain/3/block?maxheight=x',
      '/chain/3/block?next=x',
      '/chain/3/hash?minheight=9000000',
    ]) {
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    }
    const lower = await ask('/chain/3/hash/branch', { method: 'POST', body: { upper: [id(3, 1)], lower: [nobody] } });
    expect([lower.status, lower.plain]).toEqual([404, { reason: 'key not found', key: nobody }]);
    const batch = await ask('/chain/3/payload/batch', { method: 'POST', body: { hashes: [nobody], heights: [1] } });
    expect(batch.status).toBe(404);
  });
});
