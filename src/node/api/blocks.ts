/**
 * Whole blocks (document 1, "Whole blocks"). Each is proven: the header hashes to its block hash, and the payload to the
 * header's payload hash.
 */

import { z } from 'zod';
import type { ExactJson } from '../../ledger/exact-json.ts';
import { checked } from '../../ledger/fields.ts';
import type { BlockHeader } from '../../ledger/header.ts';
import { checkPayload, type PayloadWithOutputs, payloadWithOutputsFromJson } from '../../ledger/payload.ts';
import type { Asker } from './ask.ts';
import { type BranchPart, branchRequest } from './branch.ts';
import { headerOf, type VersionCode, type Wanted } from './headers.ts';
import { itemsOf } from './pages.ts';
import { chainPath, heights } from './paths.ts';

export interface Block {
  readonly header: BlockHeader;
  readonly payload: PayloadWithOutputs;
}

/** Real nodes give at most 360; that many full ones would be an answer of many megabytes. */
const PAGE_SIZE = 50;

const BlockObject = z.object({ header: z.custom<ExactJson>(), payloadWithOutputs: z.custom<ExactJson>() });

/** All blocks, orphans too, in ascending order. @throws ApiError, while iterating */
export async function* getBlocks(
  asker: Asker,
  versionCode: VersionCode,
  { chain, range }: Omit<BranchPart, 'bounds'>,
  stop: AbortSignal,
): AsyncGenerator<Block, void> {
  const path = chainPath(chain, 'block');
  const item = blockReader({ chain, range, versionCode: await versionCode.get(chain, stop) });
  const blocks = { whole: path, bounds: [] };
  const collection = { side: 'service', path, pageSize: PAGE_SIZE, isLong: true, item, blocks } as const;
  yield* itemsOf(asker, { ...collection, ...heights(range) }, stop);
}

/** The blocks of a branch, in descending order. @throws ApiError, while iterating, as `getHashBranch` */
export async function* getBlockBranch(
  asker: Asker,
  versionCode: VersionCode,
  part: BranchPart,
  stop: AbortSignal,
): AsyncGenerator<Block, void> {
  const request = branchRequest('block', part);
  const { chain, range } = part;
  const item = blockReader({ chain, range, versionCode: await versionCode.get(chain, stop) });
  const collection = { ...request, side: 'service', pageSize: PAGE_SIZE, isLong: true, item } as const;
  yield* itemsOf(asker, collection, stop);
}

/** @returns a function that throws a LedgerFormatError for what is not a block that was asked for */
export function blockReader(wanted: Wanted): (json: ExactJson) => Block {
  return (json) => {
    const block = checked(BlockObject, json, 'block');
    const header = headerOf(block.header, wanted);
    const payload = payloadWithOutputsFromJson(block.payloadWithOutputs);
    checkPayload(payload, header.payloadHash);
    return { header, payload };
  };
}
