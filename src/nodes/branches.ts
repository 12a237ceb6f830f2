/** Finds out which nodes follow the same branch of the ledger. */

import { encodeBase64url } from '../ledger/base64url.ts';
import type { Cut } from '../ledger/cut.ts';
import { blockHash } from '../ledger/header.ts';
import { ApiError } from '../node/api/api-error.ts';
import { type LookedAt, unlessMissing } from './look.ts';

/** Nodes differ in the last blocks for seconds; this deep, all must have the same. */
const DEPTH = 6n;

export interface Follower {
  readonly api: LookedAt;
  readonly cut: Cut;
  /** Configured nodes choose where to compare, so that no stranger can choose a place that others do not have. */
  readonly isConfigured: boolean;
}

/**
 * Compares the nodes' blocks at one height, on the lowest chain that all configured nodes have. Half of these are at least that
 * far: one that is years behind would choose a height at which no fork shows.
 * @returns for each node its block there, 43 characters; undefined where the node does not know or does not say
 */
export async function commonBlocks(
  followers: readonly Follower[],
  stop?: AbortSignal,
): Promise<readonly (string | undefined)[]> {
  const configured = followers.filter(({ isConfigured }) => isConfigured);
  const choosers = configured.length > 0 ? configured : followers;
  const chains = [...(choosers[0]?.cut.heads.keys() ?? [])];
  const chain = chains.find((each) => choosers.every(({ cut }) => cut.heads.has(each)));
  if (chain === undefined) return followers.map(() => undefined);
  const height = median(choosers.map(({ cut }) => cut.heads.get(chain)!.height)) - DEPTH;
  if (height < 0n) return followers.map(() => undefined);
  return await Promise.all(
    followers.map(async ({ api, cut }) => {
      const head = cut.heads.get(chain);
      return head && head.height >= height ? await ancestorAt(api, chain, head.hash, height, stop) : undefined;
    }),
  );
}

/** @returns the higher one where two are in the middle */
function median(heights: readonly bigint[]): bigint {
  return heights.toSorted((a, b) => Number(a - b))[Math.floor(heights.length / 2)];
}

/** @returns the ancestor of a block at a height, 43 characters */
async function ancestorAt(
  api: LookedAt,
  chain: number,
  hash: Uint8Array,
  height: bigint,
  stop?: AbortSignal,
): Promise<string | undefined> {
  const bounds = { upper: [hash], lower: [] };
  const range = { minHeight: height, maxHeight: height };
  try {
    const found =
      (await unlessMissing(first(api.hashBranch(chain, bounds, range, stop)))) ??
      (await unlessMissing(first(api.headerBranch(chain, bounds, range, stop)).then((it) => it && blockHash(it))));
    return found && encodeBase64url(found);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

async function first<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}
