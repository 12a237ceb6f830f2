import { describe, expect, it } from 'vitest';
import type { NodeError } from '#pickaxe/node/http/node-error.js';
import { decodeBase64url, encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { blocks, CHAIN } from './rows.ts';
import { allOf, apiWith, type Behaviour, errorOf, type Seen } from './server.ts';

const hashes = blocks.map(({ hash }) => hash);
const texts = async (items: AsyncIterable<Uint8Array>) => (await allOf(items)).map(encodeBase64url);
const cursorOf = ({ path }: Seen) => new URL(path, 'http://node').searchParams.get('next');

/** Answers as real nodes do: the page's limit is its length, and only an empty page has no cursor. */
function ascending(all: readonly string[], most: number) {
  return (request: Seen): Behaviour => {
    const cursor = cursorOf(request);
    const from = cursor === null ? 0 : all.indexOf(cursor.replace('exclusive:', '')) + 1;
    const items = all.slice(from, from + most);
    const next = items.length === 0 ? null : `exclusive:${items.at(-1)}`;
    return { body: { items, limit: items.length, next } };
  };
}

/** Answers as real nodes do for branches and peers: the cursor is that of the next item. */
function ending<T>(all: readonly T[], most: number) {
  return (request: Seen): Behaviour => {
    const from = Number(cursorOf(request)?.replace('inclusive:', '') ?? 0);
    const items = all.slice(from, from + most);
    const next = from + most < all.length ? `inclusive:${from + most}` : null;
    return { body: { items, limit: items.length, next } };
  };
}

describe('an ascending collection whose cursor is never null', () => {
  it.each([1, 7, 50, 1000])('ends, with %i items a page', async (most) => {
    const { api, seen } = await apiWith(ascending(hashes, most));
    expect(await texts(api.hashes(CHAIN))).toEqual(hashes);
    expect(seen).toHaveLength(Math.ceil(hashes.length / most) + 1);
  });

  it('goes on where it was, with the cursor as it came', async () => {
    const { api, seen } = await apiWith(ascending(hashes, 40));
    await texts(api.hashes(CHAIN, { minHeight: 1_800_000, maxHeight: 1_800_050n }));
    const query = '/hash?limit=4096&minheight=1800000&maxheight=1800050';
    expect(seen.map(({ path }) => path.replace(/.*(?=\/hash)/, ''))).toEqual([
      query,
      `${query}&next=exclusive:${hashes[39]}`,
      `${query}&next=exclusive:${hashes.at(-1)}`,
    ]);
  });

  it('asks for no page that is not needed', async () => {
    const { api, seen } = await apiWith(ascending(hashes, 2));
    let count = 0;
    for await (const _ of api.hashes(CHAIN)) if (++count === 3) break;
    expect(seen).toHaveLength(2);
  });

  it('ends at an empty page, whatever cursor that has', async () => {
    const { api, seen } = await apiWith(() => ({ body: { items: [], limit: 0, next: `exclusive:${hashes[0]}` } }));
    expect(await texts(api.hashes(CHAIN))).toEqual([]);
    expect(seen).toHaveLength(1);
  });

  it('is cut off where it has far more blocks than there can be', async () => {
    const hashOf = (number: number) => encodeBase64url(Uint8Array.from({ length: 32 }, (_, i) => (number >> i) & 1));
    const { api, seen } = await apiWith((_, before) => {
      const items = Array.from({ length: 400 }, (_, i) => hashOf(before * 400 + i));
      return { body: { items, limit: items.length, next: `exclusive:${items.at(-1)}` } };
    });
    const range = { minHeight: 7n, maxHeight: 8 };
    for (const hashes of [api.hashes(CHAIN, range), api.hashBranch(CHAIN, { upper: [] }, range)]) {
      const error = await errorOf(texts(hashes));
      expect(error).toMatchObject({ kind: 'not understood', message: expect.stringMatching(/more than 2000 items/) });
    }
    expect(seen).toHaveLength(12);
  });

  it('does not go in a circle', async () => {
    const page = { items: hashes.slice(0, 2), limit: 2, next: `exclusive:${hashes[1]}` };
    const { api, seen } = await apiWith(() => ({ body: page }));
    const error = await errorOf(texts(api.hashes(CHAIN)));
    expect(error).toMatchObject({ kind: 'not understood', message: expect.stringContaining('circle') });
    expect(seen).toHaveLength(2);
  });
});

describe('a collection with an end', () => {
  it('of peers', async () => {
    const peers = Array.from({ length: 130 }, (_, i) => ({
      id: i % 2 ? hashes[0] : null,
      address: { hostname: `10.0.0.${i}`, port: 1789 },
    }));
    const { api, seen } = await apiWith(ending(peers, 64));
    expect(await allOf(api.peers())).toEqual(peers);
    expect(seen).toHaveLength(3);
  });

  it('of peers, without those that are not understood', async () => {
    const good = { id: null, address: { hostname: '10.0.0.1', port: 1789 } };
    const bad = { id: null, address: { hostname: 'a b', port: 1789 } };
    const { api } = await apiWith(ending([bad, good, {}, 'peer', good], 2));
    const faults: NodeError[] = [];
    const query = { onLeftOut: (fault: NodeError) => faults.push(fault) };
    expect(await allOf(api.peers(query))).toEqual([good, good]);
    expect(await allOf(api.mempoolPeers(3, query))).toEqual([good, good]);
    expect(faults.map(({ kind }) => kind)).toEqual(['not understood', 'not understood']);
    expect(faults[0].message).toMatch(
      /^http:.* names 3 peers that are not understood, as this one: peer\.address\.hostname: must be a domain name or an IP/,
    );
    for await (const peer of api.peers(query)) if (peer) break;
    expect(faults[2].message).toMatch(/^http:.* names a peer that is not understood: peer\./);
    expect(await allOf(api.peers())).toEqual([good, good]);
  });

  it('of peers is cut off where it has more than any network', async () => {
    const { api } = await apiWith((_, before) => {
      const items = Array.from({ length: 10_000 }, () => 'peer');
      return { body: { items, limit: items.length, next: `inclusive:${before}` } };
    });
    expect(await errorOf(allOf(api.peers()))).toMatchObject({
      kind: 'not understood',
      message: expect.stringMatching(/do not end: they have more than 65536 items/),
    });
  });

  it('of the branch below some blocks', async () => {
    const { api, seen } = await apiWith(ending(hashes.toReversed(), 20));
    const bounds = { upper: [decodeBase64url(hashes.at(-1)!)], lower: [decodeBase64url(hashes[0])] };
    expect(await texts(api.hashBranch(CHAIN, bounds, { minHeight: 5 }))).toEqual(hashes.toReversed());
    expect(seen).toHaveLength(3);
    for (const { method, path, body } of seen) {
      expect(method).toBe('POST');
      expect(path).toMatch(/^\/chainweb\/0\.0\/mainnet01\/chain\/2\/hash\/branch\?limit=4096&minheight=5(&next=|$)/);
      expect(JSON.parse(body)).toEqual({ lower: [hashes[0]], upper: [hashes.at(-1)] });
    }
  });
});

it('a branch without bounds is not a list of the whole chain', async () => {
  const { api, seen } = await apiWith(() => ({ body: { items: hashes, limit: 20, next: null } }));
  await expect(texts(api.hashBranch(CHAIN, undefined as never))).rejects.toThrow(TypeError);
  expect(seen).toEqual([]);
});

describe('404', () => {
  const isWhole = ({ path }: Seen) => path.endsWith('/hash?limit=1');
  const page = { body: { items: [hashes[0]], limit: 1, next: null } };

  it('means that there is no block in the range, if the chain is there', async () => {
    const { api } = await apiWith((request) => (isWhole(request) ? page : { status: 404 }));
    expect(await texts(api.hashes(CHAIN, { minHeight: 9_000_000 }))).toEqual([]);
    expect(await texts(api.hashBranch(CHAIN, { upper: [decodeBase64url(hashes[0])] }, { minHeight: 9 }))).toEqual([]);
  });

  it('is a fault if the chain is not there, or the path is wrong', async () => {
    const { api } = await apiWith(() => ({ status: 404, body: 'no such path' }));
    expect(await errorOf(texts(api.hashes(CHAIN, { minHeight: 9 })))).toMatchObject({
      kind: 'not found',
      text: 'no such path',
    });
  });

  it('is told with the bounds that were asked for, and another fault of the chain as itself', async () => {
    const range = await apiWith(({ path }) => ({
      status: 404,
      body: path.includes('minheight') ? 'of the range' : 'x',
    }));
    expect(await errorOf(texts(range.api.hashes(CHAIN, { minHeight: 9 })))).toMatchObject({ text: 'of the range' });
    const busy = await apiWith((request) => ({ status: isWhole(request) ? 503 : 404 }));
    expect(await errorOf(texts(busy.api.hashes(CHAIN, { minHeight: 9 })))).toMatchObject({ status: 503 });
  });

  it('is a fault if a bound of the branch is not known', async () => {
    const { api, seen } = await apiWith(() => ({ status: 404, body: { key: hashes[3], reason: 'key not found' } }));
    const branch = api.hashBranch(CHAIN, { upper: [decodeBase64url(hashes[3])] });
    expect(await errorOf(texts(branch))).toMatchObject({ kind: 'not found', key: hashes[3], reason: 'key not found' });
    expect(seen).toHaveLength(1);
  });

  it('ends a collection behind its last page', async () => {
    const { api, seen } = await apiWith((request) =>
      cursorOf(request) ? { status: 404 } : ascending(hashes, 9)(request),
    );
    expect(await texts(api.hashes(CHAIN))).toEqual(hashes.slice(0, 9));
    expect(seen).toHaveLength(2);
  });

  it('is a fault if the node has forgotten the cursor: blocks would be missing', async () => {
    const { api } = await apiWith((request) =>
      cursorOf(request)
        ? { status: 404, body: { key: hashes[8], reason: 'key not found' } }
        : ascending(hashes, 9)(request),
    );
    expect(await errorOf(texts(api.hashes(CHAIN)))).toMatchObject({ kind: 'not found', key: hashes[8] });
  });

  it('is a fault for peers: the service port has none', async () => {
    const { api, seen } = await apiWith(() => ({ status: 404 }));
    expect(await errorOf(allOf(api.peers()))).toMatchObject({ kind: 'not found' });
    expect(seen).toHaveLength(1);
  });
});

describe('a page that is not one', () => {
  it.each([
    [{ items: [3], limit: 1, next: null }, /page\.items\.0: is not a hash/],
    [{ items: ['short'], limit: 1, next: null }, /page\.items\.0/],
    [{ items: {}, limit: 1, next: null }, /page\.items/],
    [{ items: [], limit: -1, next: null }, /page\.limit/],
    [{ items: [], next: null }, /page\.limit/],
    [{ items: [], limit: 1, next: 'x&minheight=0' }, /page\.next: is not a cursor/],
    [{ items: [], limit: 1, next: 3 }, /page\.next/],
    [[], /page/],
  ])('%j', async (body, why) => {
    const { api } = await apiWith(() => ({ body }));
    expect((await errorOf(texts(api.hashes(CHAIN)))).message).toMatch(why);
  });
});

it('what a query cannot hold is not sent', async () => {
  const { api, seen } = await apiWith(() => ({}));
  await expect(texts(api.hashes(-1))).rejects.toThrow(RangeError);
  await expect(texts(api.hashes(1.5))).rejects.toThrow(RangeError);
  await expect(texts(api.hashes(0, { minHeight: -1 }))).rejects.toThrow(RangeError);
  await expect(texts(api.hashes(0, { maxHeight: -1n }))).rejects.toThrow(RangeError);
  await expect(texts(api.hashes(0, { maxHeight: Number.NaN }))).rejects.toThrow(RangeError);
  expect(seen).toEqual([]);
});
