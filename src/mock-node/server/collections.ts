/** Collections of blocks, hashes and headers: ranges of heights, bounds of branches, pages. */

import { z } from 'zod';
import { opaqueId } from '../../protocol/ledger/fields.ts';
import { type ExactJson, type ExactJsonObject, jsonInteger } from '../../protocol/ledger/json.ts';
import type { Block } from '../ledger/block-store.ts';
import { type Asked, isHash, keyNotFound, type Message, naturalFrom, parsedBody } from './route.ts';

export interface BlockCollection {
  /** Maximum number of items of a page. */
  readonly cap: number;
  readonly json: (block: Block, asked: Asked) => ExactJson;
}

interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

/** Maximum number of upper bounds, and of lower bounds, of a branch on the service side. */
const MAX_BOUNDS = 32;
/** The same maximum on a P2P side with a port of its own. */
const MAX_BOUNDS_P2P = 4;

const Bounds = z.object({ upper: z.array(opaqueId).default([]), lower: z.array(opaqueId).default([]) });

/** Answers with a page of the blocks in a range of heights, in ascending order, including orphans. */
export function ascending(asked: Asked, collection: BlockCollection): Message {
  const read = readQuery(asked, collection);
  if ('status' in read) return read;
  const store = asked.backend.ledger.chains.blocksOf(asked.chain);
  const items = [...store.between(read.range.min, read.range.max)];
  const { next } = read.page;
  const from = next && store.get(next.value);
  if (next && !from) return keyNotFound(next.value);
  // If the block of the cursor is not in the range, the page begins at the first higher block in the range.
  const at = from ? items.findIndex((each) => each === from || each.header.height > from.header.height) : 0;
  const start = at < 0 ? items.length : at + (next?.kind === 'exclusive' && items[at] === from ? 1 : 0);
  return answer(asked, collection, items, start, read.page, true);
}

/**
 * Answers with a page of a branch. The branch has the upper bounds and their ancestors, but not the lower bounds and
 * their ancestors. The highest block comes first.
 */
export function branch(asked: Asked, collection: BlockCollection): Message {
  const read = readQuery(asked, collection);
  if ('status' in read) return read;
  const bounds = readBounds(asked);
  if ('status' in bounds) return bounds;
  const { min, max } = read.range;
  const store = asked.backend.ledger.chains.blocksOf(asked.chain);
  const below = new Set(bounds.lower.flatMap((block) => [...store.ancestry(block)]));
  const above = new Set(bounds.upper.flatMap((block) => [...store.ancestry(block)]));
  const items = [...above]
    .filter((block) => !below.has(block) && block.header.height >= min && block.header.height <= max)
    .sort((a, b) => Number(b.header.height - a.header.height));
  const { next } = read.page;
  const at = next ? items.findIndex(({ id }) => id === next.value) : 0;
  if (next && at < 0) return keyNotFound(next.value);
  return answer(asked, collection, items, at + (next?.kind === 'exclusive' ? 1 : 0), read.page, false);
}

function answer(
  asked: Asked,
  { json }: BlockCollection,
  items: readonly Block[],
  start: number,
  page: PageRequest,
  grows: boolean,
): Message {
  if (items.length === 0 && asked.backend.settings.strict) return { status: 404, text: 'no block matched' };
  const collection: Collection<Block> = { items, keyOf: ({ id }) => id, json: (block) => json(block, asked), grows };
  return { status: 200, json: pageOf(collection, start, page, asked) };
}

function readQuery(asked: Asked, { cap }: BlockCollection): { range: Range; page: PageRequest } | Message {
  const { query, backend } = asked;
  const wrong = (text: string): Message => ({ status: backend.settings.strict ? 404 : 400, text });
  const min = naturalFrom(query.get('minheight') ?? '0');
  const max = naturalFrom(query.get('maxheight') ?? String(2n ** 64n - 1n));
  if (min === undefined || max === undefined) return wrong('heights are integers >= 0');
  const page = readPageRequest(asked, cap);
  if ('status' in page) return page;
  if (page.next && !isHash(page.next.value)) return wrong('next names the hash of a block');
  return { range: { min, max }, page };
}

function readBounds({ backend, chain, body }: Asked): { upper: Block[]; lower: Block[] } | Message {
  const read = parsedBody(Bounds, body, '{"upper": [hashes], "lower": [hashes]}');
  if ('status' in read) return read;
  const bounds = read.value;
  const most = backend.side === 'p2p' ? MAX_BOUNDS_P2P : MAX_BOUNDS;
  for (const kind of ['upper', 'lower'] as const) {
    if (bounds[kind].length > most) {
      return { status: 400, json: `${kind} branch bound limit exceeded. Only ${most} values are supported.` };
    }
  }
  const store = backend.ledger.chains.blocksOf(chain);
  // Real nodes ignore lower bounds that do not exist.
  const mustExist = backend.settings.strict ? [...bounds.upper, ...bounds.lower] : bounds.upper;
  const missing = mustExist.find((id) => !store.get(id));
  if (missing !== undefined) return keyNotFound(missing);
  const found = (ids: readonly string[]) => ids.flatMap((id) => store.get(id) ?? []);
  return { upper: found(bounds.upper), lower: found(bounds.lower) };
}

/* Pages of a collection (document 1, "Paging"), filled like those of real nodes. */

interface Cursor {
  readonly kind: 'inclusive' | 'exclusive';
  readonly value: string;
}

interface PageRequest {
  readonly limit: number;
  readonly next: Cursor | undefined;
}

interface Collection<Item> {
  readonly items: readonly Item[];
  /** @returns the value by which cursors name an item */
  readonly keyOf: (item: Item, index: number) => string;
  readonly json: (item: Item) => ExactJson;
  /** Whether the collection can grow at its end. If so, even the last page has a cursor, unless the page is empty. */
  readonly grows: boolean;
}

/**
 * @param cap maximum number of items of a page
 * @returns an answer with the status 400 or 404 if the query is not valid
 */
export function readPageRequest({ query, fault, backend }: Asked, cap: number): PageRequest | Message {
  const limit = query.get('limit') ?? String(cap);
  if (!/^\d{1,9}$/.test(limit)) return { status: 400, text: 'limit is an integer >= 0' };
  const next = query.get('next');
  const cursor = next === null ? undefined : /^(inclusive|exclusive):([\w-]+)$/.exec(next);
  if (cursor === null) {
    return { status: backend.settings.strict ? 404 : 400, text: 'next is inclusive:<value> or exclusive:<value>' };
  }
  const most = fault?.kind === 'short-pages' ? Math.min(cap, fault.items) : cap;
  return {
    limit: Math.min(Number(limit), most),
    next: cursor && { kind: cursor[1] as Cursor['kind'], value: cursor[2] },
  };
}

/**
 * @param start index of the page's first item
 * @returns the page in JSON. Its field `limit` is the number of its items
 */
export function pageOf<Item>(
  { items, keyOf, json, grows }: Collection<Item>,
  start: number,
  { limit }: PageRequest,
  { fault, query }: Asked,
): ExactJsonObject {
  const page = items.slice(start, start + limit);
  const end = start + page.length;
  const last = page.length > 0 ? keyOf(page[page.length - 1], end - 1) : undefined;
  const isEndless = fault?.kind === 'endless-pages';
  let next: string | null = null;
  if (last === undefined) next = isEndless ? (query.get('next') ?? 'inclusive:0') : null;
  else if (end < items.length) next = `inclusive:${keyOf(items[end], end)}`;
  else if (grows || isEndless) next = `exclusive:${last}`;
  return { items: page.map(json), limit: jsonInteger(page.length), next };
}
