/** Pages of a collection (document 1, "Paging"), as real nodes fill them. */

import type { ExactJson } from '../../ledger/exact-json.ts';
import { type ExactJsonObject, jsonInteger } from '../../ledger/exact-json.ts';
import type { Message } from './answer.ts';
import type { Asked } from './route.ts';

export interface Cursor {
  readonly kind: 'inclusive' | 'exclusive';
  readonly value: string;
}

export interface PageRequest {
  /** The most items of this page. */
  readonly limit: number;
  readonly next: Cursor | undefined;
}

export interface Collection<Item> {
  readonly items: readonly Item[];
  /** @returns the value by which cursors name an item */
  readonly keyOf: (item: Item, index: number) => string;
  readonly json: (item: Item) => ExactJson;
  /** Whether the collection can still grow at its end. Then the last page has a cursor, too; only an empty one has none. */
  readonly grows: boolean;
}

/** @param cap the most items of a page, whatever is asked for @returns what to answer when the query is not valid */
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
 * @param start the index of the page's first item
 * @returns the page; its `limit` is the number of its items
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
