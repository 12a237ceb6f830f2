/**
 * Reads collections, which nodes serve in pages (document 1, "Conventions", 6). Real nodes put a cursor even on the
 * last page of an ascending collection, because more items may be added. Until then, the page at that cursor is empty.
 * So a cursor does not mean that there are more items. The field `limit` of a page is ignored, because real nodes
 * set it to the number of the page's items.
 */

import { z } from 'zod';
import { checked, MAX_U64, natural, reading } from '../../protocol/ledger/fields.ts';
import type { ExactJson } from '../../protocol/ledger/json.ts';
import { NodeError } from '../http/node-error.ts';
import { type Asker, type Call, json, nothing, query } from '../http/request.ts';

interface Collection<T> {
  readonly side: Call<T>['side'];
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Parameters<typeof query>[0];
  readonly body?: string;
  readonly accept?: string;
  /** Requested number of items per page. Nodes may return fewer. */
  readonly pageSize: number;
  readonly isLong?: boolean;
  /** Maximum number of items, if it is known. It prevents a node from sending items without end. */
  readonly most?: bigint | undefined;
  /** Reads one item. @throws LedgerFormatError unless the JSON is a valid item */
  readonly item: (json: ExactJson) => T;
  /** Present for collections of blocks, hashes or headers, for which 404 can mean that the collection is empty. */
  readonly blocks?: {
    /** The path of the collection of all blocks of the chain. */
    readonly whole: string;
    /** The bounds of a branch, in base64url. A 404 that names one of them is an error. */
    readonly bounds: readonly string[];
  };
}

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** A cursor is sent back unchanged, so it may contain only characters that are allowed in a query. */
const Cursor = z.string().regex(/^(?:inclusive|exclusive):[\w-]{1,200}$/, 'is not a cursor');

export function pageOf<T>(item: (json: ExactJson) => T): (value: ExactJson) => Page<T> {
  const schema = z.object({
    items: z.array(reading(z.custom<ExactJson>(), item)),
    limit: natural(MAX_U64),
    next: Cursor.nullish().transform((next) => next ?? null),
  });
  return (value) => checked<Page<T>>(schema, value, 'page');
}

/**
 * Yields the items of one page after another, until a page is empty or has no cursor.
 * @throws NodeError, also if a cursor comes twice, or if the pages have more than `most` items
 */
export async function* itemsOf<T>(asker: Asker, collection: Collection<T>, stop: AbortSignal): AsyncGenerator<T, void> {
  const read = json(pageOf(collection.item));
  const { side, path, pageSize, isLong = false, most, method = 'GET', body, accept } = collection;
  let count = 0n;
  const cursors = new Set<string>();
  let next: string | undefined;
  for (;;) {
    const call: Call<Page<T>> = {
      side,
      method,
      path: path + query({ limit: pageSize, ...collection.query, next }),
      ...(body !== undefined && { body }),
      ...(accept !== undefined && { accept }),
      isLong,
      read,
    };
    const page = await pageOrNone(asker, call, collection, next, stop);
    count += BigInt(page.items.length);
    if (most !== undefined && count > most) {
      throw new NodeError('not understood', `The pages of ${path} do not end: they have more than ${most} items.`);
    }
    yield* page.items;
    if (page.items.length === 0 || page.next === null) return;
    if (cursors.has(page.next)) {
      const message = `The pages of ${path} go in a circle: the cursor ${page.next} has come before.`;
      throw new NodeError('not understood', message);
    }
    cursors.add(page.next);
    next = page.next;
  }
}

const NONE = { items: [], next: null } as const;

/**
 * Requests a page. In document 1, a 404 means that no block is in the range, so the page is empty. At real nodes, a 404
 * means that the cursor, a bound or the path is unknown, which is an error.
 */
async function pageOrNone<T>(
  asker: Asker,
  call: Call<Page<T>>,
  { blocks }: Collection<T>,
  cursor: string | undefined,
  stop: AbortSignal,
): Promise<Page<T>> {
  try {
    return await asker.ask(call, stop);
  } catch (error) {
    if (!blocks || !(error instanceof NodeError) || error.kind !== 'not found') throw error;
    const known = [...blocks.bounds, cursor?.replace(/^.*:/, '')];
    if (error.key !== undefined && known.includes(error.key)) throw error;
    if (cursor === undefined) await checkServed(asker, { ...call, blocks }, error, stop);
    return NONE;
  }
}

/**
 * Requests the collection without its bounds, to find out whether the node serves the chain.
 * @throws `error` if the answer to that request is a 404, too; every other error of that request
 */
async function checkServed(
  asker: Asker,
  { side, isLong = false, blocks }: Pick<Collection<unknown>, 'side' | 'isLong' | 'blocks'>,
  error: NodeError,
  stop: AbortSignal,
): Promise<void> {
  try {
    await asker.ask({ side, path: blocks!.whole + query({ limit: 1 }), isLong, read: nothing }, stop);
  } catch (second) {
    throw second instanceof NodeError && second.kind === 'not found' ? error : second;
  }
}
