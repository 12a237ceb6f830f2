/** Blocks, headers and payloads of the live network, from a node that may leave out or change some of it. */

import { describe, expect, it } from 'vitest';
import type { NodeApi } from '#pickaxe/node/client/node-api.js';
import { blockHash, type Dialect } from '#pickaxe/protocol/ledger/header.js';
import { decodeBase64url, encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { bare, blockJson, blocks, CHAIN, flagged, unnamed, wholeBlocks } from './rows.ts';
import { allOf, apiWith, type Behaviour, errorOf, type Seen } from './server.ts';

const [first] = wholeBlocks;
const { chain, payloadHash } = first.header;
const pageOf = (items: readonly string[]) => ({
  body: `{"items":[${items}],"limit":${items.length},"next":null}`,
});

describe('whole blocks', () => {
  it.each(['document', 'chainweb'] as const)('are read in the words of the dialect %s', async (dialect: Dialect) => {
    const { api, seen } = await apiWith(() => pageOf([blockJson(first, dialect)]), { dialect });
    const [block] = await allOf(api.blocks(chain, { minHeight: first.header.height }));
    expect(blockHash(block.header)).toEqual(blockHash(first.header));
    expect(block.payload.transactions).toHaveLength(first.payload.transactions.length);
    expect(seen[0].headers.accept).toBe('application/json');
    const below = await allOf(api.blockBranch(chain, { upper: [blockHash(first.header)] }));
    expect(below).toEqual([block]);
  });

  it('with another payload than their header’s are refused', async () => {
    const other = wholeBlocks.find(
      ({ header }) => encodeBase64url(header.payloadHash) !== encodeBase64url(payloadHash),
    )!;
    const { api } = await apiWith(() => pageOf([blockJson({ ...first, payload: other.payload }, 'chainweb')]));
    expect(await errorOf(allOf(api.blocks(chain)))).toMatchObject({
      kind: 'not understood',
      message: expect.stringMatching(/page\.items\.0: payload: payloadHash/),
    });
  });

  it('with a reward that was changed are refused', async () => {
    const coinbase = JSON.parse(Buffer.from(first.payload.coinbase, 'base64url').toString());
    const more = Buffer.from(JSON.stringify({ ...coinbase, gas: 1 })).toString('base64url');
    const { api } = await apiWith(() =>
      pageOf([blockJson({ ...first, payload: { ...first.payload, coinbase: more } }, 'chainweb')]),
    );
    expect((await errorOf(allOf(api.blocks(chain)))).message).toMatch(/payload: outputsHash/);
  });

  it('of another chain are refused', async () => {
    const { api } = await apiWith(() => pageOf([blockJson(first, 'chainweb')]));
    expect((await errorOf(allOf(api.blocks(chain + 1)))).message).toMatch(/is one of chain/);
  });

  it.each([{ minHeight: Number(first.header.height) + 1 }, { maxHeight: Number(first.header.height) - 1 }])(
    'of another height than asked for are refused: %j',
    async (range) => {
      const says = `header: is of height ${first.header.height}, which was not asked for`;
      const { api } = await apiWith(() => pageOf([blockJson(first, 'chainweb')]));
      expect((await errorOf(allOf(api.blocks(chain, range)))).message).toContain(says);
      const branch = api.blockBranch(chain, { upper: [payloadHash] }, range);
      expect((await errorOf(allOf(branch))).message).toContain(says);
    },
  );

  it('of another network are refused', async () => {
    const { api } = await apiWith(() => pageOf([blockJson(first, 'chainweb')]), { network: 'testnet04' });
    expect((await errorOf(allOf(api.blocks(chain)))).message).toMatch(/is one of mainnet01, not of testnet04/);
  });

  it('beyond the bounds of a branch are a bad request, whose text is a JSON string', async () => {
    const { api } = await apiWith(() => ({ status: 400, body: '"upper branch bound limit exceeded. Only 32"' }));
    const error = await errorOf(allOf(api.blockBranch(chain, { upper: [payloadHash] })));
    expect(error).toMatchObject({ kind: 'bad request', text: 'upper branch bound limit exceeded. Only 32' });
  });

  it('in a format that the node does not have are not acceptable', async () => {
    const { api } = await apiWith(() => ({ status: 406 }));
    const error = await errorOf(allOf(api.blockBranch(chain, { upper: [payloadHash] })));
    expect(error.kind).toBe('not acceptable');
  });
});

describe('headers', () => {
  const ofChain = blocks.map(({ binary }) => JSON.stringify(binary));

  it('come in binary, in base64url, orphans among them', async () => {
    const { api } = await apiWith(() => pageOf(ofChain));
    const headers = await allOf(api.headers(CHAIN));
    expect(headers.map((header) => encodeBase64url(blockHash(header)))).toEqual(blocks.map(({ hash }) => hash));
    expect(await allOf(api.headerBranch(CHAIN, { upper: [decodeBase64url(blocks[0].hash)] }))).toHaveLength(
      headers.length,
    );
  });

  it('come as objects, whose feature flags beyond 2^53 stay exact', async () => {
    const { api } = await apiWith(() => ({ body: flagged.json }));
    const header = await api.header(flagged.chain, decodeBase64url(flagged.hash));
    expect(header.featureFlags).toBe(BigInt(flagged.featureFlags));
    expect(Number.isSafeInteger(Number(header.featureFlags))).toBe(false);
  });

  it('with another hash than asked for are refused', async () => {
    const { api } = await apiWith(() => ({ body: JSON.stringify(blocks[1].binary) }));
    const error = await errorOf(api.header(CHAIN, decodeBase64url(blocks[0].hash)));
    expect(error).toMatchObject({ kind: 'not understood', message: expect.stringContaining(blocks[0].hash) });
  });

  it('of another height than asked for, or of another network, are refused', async () => {
    const { api } = await apiWith(() => pageOf(ofChain));
    const range = { minHeight: 1, maxHeight: 2 };
    for (const headers of [api.headers(CHAIN, range), api.headerBranch(CHAIN, { upper: [] }, range)]) {
      expect((await errorOf(allOf(headers))).message).toMatch(/which was not asked for/);
    }
    const { api: other } = await apiWith(() => pageOf(ofChain), { network: 'testnet04' });
    expect((await errorOf(allOf(other.headers(CHAIN)))).message).toMatch(/is one of mainnet01, not of testnet04/);
  });

  it('that do not exist are not found', async () => {
    const [{ hash }] = blocks;
    const { api } = await apiWith(() => ({ status: 404, body: { key: hash, reason: 'key not found' } }));
    const error = await errorOf(api.header(CHAIN, decodeBase64url(hash)));
    expect(error).toMatchObject({ kind: 'not found', key: hash });
  });
});

describe('a network whose number is not known', () => {
  /** Only the header of this network is known, so its blocks are read up to their payload. */
  const block = `{"header":${unnamed.json.replace(/code \d+/, 'fastnet01')},"payloadWithOutputs":{}}`;
  const network = { network: 'fastnet01', dialect: 'document' } as const;

  it('tells it in a binary header', async () => {
    const { api, seen } = await apiWith(
      ({ path }) => (path.includes('/header?limit=1') ? pageOf([JSON.stringify(unnamed.binary)]) : pageOf([block])),
      network,
    );
    for (let i = 0; i < 2; i++) {
      expect((await errorOf(allOf(api.blocks(unnamed.chain)))).message).toMatch(/page\.items\.0: payload\./);
    }
    expect(seen.filter(({ path }) => path.includes('/header'))).toHaveLength(1);
  });

  it('may be told it', async () => {
    const { api, seen } = await apiWith(() => pageOf([block]), { ...network, versionCode: unnamed.versionCode });
    expect((await errorOf(allOf(api.blocks(unnamed.chain)))).message).toMatch(/page\.items\.0: payload\./);
    expect(seen).toHaveLength(1);
  });

  it('is needed to check a header in JSON', async () => {
    const { api } = await apiWith(({ path }) => (path.includes('/header') ? undefined : pageOf([block])), network);
    expect((await errorOf(allOf(api.blocks(unnamed.chain)))).message).toMatch(/the number of the network/);
  });
});

describe('a payload', () => {
  const notYet: Behaviour = {
    status: 404,
    body: { key: encodeBase64url(payloadHash), reason: 'No associated Payload' },
  };

  it('without outputs and with them', async () => {
    const { api, seen } = await apiWith(({ path }) => ({
      body: path.includes('/outputs') ? first.payload : bare(first.payload),
    }));
    const hash = encodeBase64url(payloadHash);
    const without = await api.payload(chain, payloadHash, { height: first.header.height });
    const withOutputs = await api.payloadWithOutputs(chain, payloadHash);
    expect(withOutputs).toMatchObject(without);
    expect(seen.map(({ path }) => path.replace(/.*(?=chain\/)/, ''))).toEqual([
      `chain/${chain}/payload/${hash}?height=${first.header.height}`,
      `chain/${chain}/payload/${hash}/outputs`,
    ]);
  });

  it('may come just after its header', async () => {
    const { api, seen } = await apiWith((_, before) => (before < 3 ? notYet : { body: first.payload }));
    await api.payloadWithOutputs(chain, payloadHash, { isFresh: true });
    expect(seen).toHaveLength(4);
  });

  it('is waited for only so long, and only where that is asked for', async () => {
    for (const [isFresh, times] of [
      [true, 4],
      [false, 1],
    ] as const) {
      const { api, seen } = await apiWith(() => notYet);
      expect(await errorOf(api.payload(chain, payloadHash, { isFresh }))).toMatchObject({
        kind: 'not found',
        reason: 'No associated Payload',
      });
      expect(seen).toHaveLength(times);
    }
  });

  it('that is another one is refused', async () => {
    const { api } = await apiWith(() => ({ body: bare(first.payload) }));
    const error = await errorOf(api.payload(chain, blockHash(first.header)));
    expect(error).toMatchObject({ kind: 'not understood', message: expect.stringContaining('payloadHash') });
  });
});

describe('many payloads', () => {
  const places = wholeBlocks.map(({ header: { payloadHash, height } }) => ({ payloadHash, height }));
  const byHash = new Map(wholeBlocks.map(({ payload }) => [payload.payloadHash, payload]));
  /** Answers with at most this number of payloads, the last first. */
  const dropping =
    (most: number, lacks: readonly string[] = []) =>
    ({ body }: Seen): Behaviour => {
      const { hashes, heights } = JSON.parse(body) as { hashes: string[]; heights: number[] };
      const zipped = hashes.slice(0, heights.length).filter((hash) => byHash.has(hash) && !lacks.includes(hash));
      return {
        body: zipped
          .slice(0, most)
          .toReversed()
          .map((hash) => bare(byHash.get(hash)!)),
      };
    };
  const hashesOf = (payloads: readonly ({ payloadHash: Uint8Array } | undefined)[]) =>
    payloads.map((each) => each && encodeBase64url(each.payloadHash));

  it('come in any order, and what a node drops is asked for again', async () => {
    const { api, seen } = await apiWith(dropping(2));
    expect(hashesOf(await api.payloads(chain, places))).toEqual(hashesOf(places));
    expect(seen).toHaveLength(Math.ceil(new Set(hashesOf(places)).size / 2));
    expect(seen[0].path).toMatch(/\/payload\/batch$/);
  });

  it('may be unknown', async () => {
    const lacking = encodeBase64url(places[1].payloadHash);
    const { api, seen } = await apiWith(dropping(1000, [lacking]));
    const expected = hashesOf(places).map((hash) => (hash === lacking ? undefined : hash));
    expect(hashesOf(await api.payloads(chain, places))).toEqual(expected);
    expect(seen).toHaveLength(2);
  });

  it('are proven: what a node has changed is refused, although it names the right hash', async () => {
    const changed = { ...bare(first.payload), minerData: Buffer.from('{"account":"thief"}').toString('base64url') };
    const { api } = await apiWith(() => ({ body: [changed] }));
    expect(await errorOf(api.payloads(chain, [places[0]]))).toMatchObject({
      kind: 'not understood',
      message: expect.stringContaining('payload'),
    });
  });

  it('with outputs, as real nodes have them', async () => {
    const { api, seen } = await apiWith(() => ({ body: [first.payload] }));
    const [payload] = await api.payloadsWithOutputs(chain, [places[0]]);
    expect(payload?.outputs).toHaveLength(first.payload.transactions.length);
    expect(seen[0].path).toMatch(/\/payload\/outputs\/batch$/);
  });

  it.each([
    ['alone', (api: NodeApi) => api.payloadWithOutputs(chain, first.header.payloadHash)],
    ['in a batch', (api: NodeApi) => api.payloadsWithOutputs(chain, [places[0]])],
  ])('with outputs are proven %s: a changed coinbase is refused', async (_, ask) => {
    const changed = { ...first.payload, coinbase: Buffer.from('{"gas":1}').toString('base64url') };
    const { api } = await apiWith(({ path }) => ({ body: path.endsWith('batch') ? [changed] : changed }));
    expect(await errorOf(ask(api))).toMatchObject({
      kind: 'not understood',
      message: expect.stringContaining('payload: outputsHash'),
    });
  });

  it('are asked for in thousands', async () => {
    const many = Array.from({ length: 2500 }, (_, i) => ({
      payloadHash: new Uint8Array(new Uint32Array(8).fill(i).buffer),
      height: i,
    }));
    const asked: number[] = [];
    const { api } = await apiWith(({ body }) => {
      asked.push(JSON.parse(body).hashes.length);
      return { body: [] };
    });
    expect(await api.payloads(chain, many)).toEqual(many.map(() => undefined));
    expect(asked).toEqual([1000, 1000, 500]);
  });

  it('of which the node has none may be 404', async () => {
    const { api } = await apiWith(({ path }) => ({
      status: 404,
      ...(!path.endsWith('batch') && { body: { key: encodeBase64url(payloadHash), reason: 'key not found' } }),
    }));
    expect(await api.payloads(chain, places)).toEqual(places.map(() => undefined));
  });

  it('are no silence where batches are not served, as on the P2P port', async () => {
    const { api } = await apiWith(({ path }) =>
      path.endsWith('batch') ? { status: 404, body: 'payload batch limit is 0' } : { body: bare(first.payload) },
    );
    expect(await errorOf(api.payloads(chain, places))).toMatchObject({
      kind: 'not found',
      text: 'payload batch limit is 0',
    });
    const wrong = await apiWith(() => ({ status: 404 }));
    expect(await errorOf(wrong.api.payloads(chain, places))).toMatchObject({ kind: 'not found' });
  });

  it('that nobody asked for are refused', async () => {
    const { api } = await apiWith(() => ({ body: wholeBlocks.map(({ payload }) => bare(payload)) }));
    expect((await errorOf(api.payloads(chain, [places[0]]))).message).toMatch(/was not asked for/);
  });

  it('none at all is no request', async () => {
    const { api, seen } = await apiWith(() => ({ body: [] }));
    expect(await api.payloads(chain, [])).toEqual([]);
    expect(seen).toEqual([]);
  });
});
