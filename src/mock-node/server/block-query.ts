/** What the collections of blocks, hashes and headers have in common: ranges of heights, bounds of branches, pages. */

import { z } from 'zod';
import type { ExactJson } from '../../ledger/exact-json.ts';
import { opaqueId } from '../../ledger/fields.ts';
import type { Block } from '../ledger/block.ts';
import type { Message } from './answer.ts';
import { type Collection, type PageRequest, pageOf, readPageRequest } from './pages.ts';
import { isHash, naturalFrom, parsedBody } from './query.ts';
import { type Asked, keyNotFound } from './route.ts';

export interface BlockCollection {
  /** The most items of a page. */
  readonly cap: number;
  readonly json: (block: Block, asked: Asked) => ExactJson;
}

interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

/** The most bounds of a branch, upper and lower ones each. */
const MAX_BOUNDS = 32;
const MAX_BOUNDS_P2P = 4;

const Bounds = z.object({ upper: z.array(opaqueId).default([]), lower: z.array(opaqueId).default([]) });

/** Answers with blocks in ascending order, orphans included. */
export function ascending(asked: Asked, collection: BlockCollection): Message {
  const read = readQuery(asked, collection);
  if ('status' in read) return read;
  const store = asked.backend.ledger.chains.blocksOf(asked.chain);
  const items = [...store.between(read.range.min, read.range.max)];
  const { next } = read.page;
  const from = next && store.get(next.value);
  if (next && !from) return keyNotFound(next.value);
  // A cursor outside of the range stands for the place where its block would be.
  const at = from ? items.findIndex((each) => each === from || each.header.height > from.header.height) : 0;
  const start = at < 0 ? items.length : at + (next?.kind === 'exclusive' && items[at] === from ? 1 : 0);
  return answer(asked, collection, items, start, read.page, true);
}

/** Answers with the ancestors of the upper bounds that are not ancestors of the lower ones, in descending order. */
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
  // Real nodes do not look for lower bounds that do not exist.
  const mustExist = backend.settings.strict ? [...bounds.upper, ...bounds.lower] : bounds.upper;
  const missing = mustExist.find((id) => !store.get(id));
  if (missing !== undefined) return keyNotFound(missing);
  const found = (ids: readonly string[]) => ids.flatMap((id) => store.get(id) ?? []);
  return { upper: found(bounds.upper), lower: found(bounds.lower) };
}
