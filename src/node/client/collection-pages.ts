/**
 * Reads collections, which nodes serve in pages (document 1, "Conventions", 6). In an ascending collection, real nodes
 * give even the last page a cursor, for items that come later, and the next page is empty. So a cursor does not mean
 * that there are more items. The `limit` of a page is ignored: real nodes set it to the number of the page's items.
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
  /** Requested number of items per page; nodes lower it silently. */
  readonly pageSize: number;
  readonly isLong?: boolean;
  /** Maximum number of items, if known, so that a node cannot send items without end. */
  readonly most?: bigint | undefined;
  /** @throws LedgerFormatError unless the JSON is a valid item */
  readonly item: (json: ExactJson) => T;
  /** Only for collections of blocks, for which 404 can mean an empty collection. */
  readonly blocks?: {
    /** The path of the same collection without bounds, which every chain has. */
    readonly whole: string;
    /** The bounds of a branch, in base64url, which must exist. */
    readonly bounds: readonly string[];
  };
}

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** A cursor is sent back literally, so it must fit into a query. */
const Cursor = z.string().regex(/^(?:inclusive|exclusive):[\w-]{1,200}$/, 'is not a cursor');

export function pageOf<T>(item: (json: ExactJson) => T): (value: ExactJson) => Page<T> {
  const schema = z.object({
    items: z.array(reading(z.custom<ExactJson>(), item)),
    limit: natural(MAX_U64),
    next: Cursor.nullish().transform((next) => next ?? null),
  });
  return (value) => checked<Page<T>>(schema, value, 'page');
}

/** Ends with the items that exist when their page is requested. @throws NodeError */
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
 * In document 1, 404 means that no block is in the range. For real nodes, it means that a cursor, a bound or a path is
 * unknown.
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

/** @throws `error` if the node does not serve the chain */
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
