/** Hashes of blocks (document 1, "Block hashes"). */

import { decodeBase64url } from '../../ledger/base64url.ts';
import { LedgerFormatError } from '../../ledger/errors.ts';
import type { ExactJson } from '../../ledger/exact-json.ts';
import { HASH_BYTES } from '../../ledger/merkle.ts';
import type { Asker } from './ask.ts';
import { type BranchPart, branchRequest } from './branch.ts';
import { itemsOf } from './pages.ts';
import { chainPath, type HeightRange, heights } from './paths.ts';

/** Real nodes give at most 4096. */
const PAGE_SIZE = 4096;

/** All blocks' hashes, orphans' too, in ascending order, 32 bytes each. @throws ApiError, while iterating */
export async function* getHashes(asker: Asker, chain: number, range: HeightRange, stop: AbortSignal) {
  const path = chainPath(chain, 'hash');
  const blocks = { whole: path, bounds: [] };
  const collection = { side: 'service', path, pageSize: PAGE_SIZE, item: hashFromJson, blocks } as const;
  yield* itemsOf(asker, { ...collection, ...heights(range) }, stop);
}

/**
 * The hashes of a branch, in descending order, 32 bytes each.
 * @throws ApiError, while iterating: `not found` for an upper bound that the node does not know, with the bound as its key
 */
export async function* getHashBranch(asker: Asker, part: BranchPart, stop: AbortSignal) {
  const request = branchRequest('hash', part);
  const collection = { ...request, side: 'service', pageSize: PAGE_SIZE, item: hashFromJson } as const;
  yield* itemsOf(asker, collection, stop);
}

function hashFromJson(json: ExactJson): Uint8Array {
  if (typeof json !== 'string') throw new LedgerFormatError('is not a hash');
  return decodeBase64url(json, HASH_BYTES);
}
