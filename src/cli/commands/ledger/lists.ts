/** `pickaxe ledger block`, `hash` and `branch`: lists of a chain's blocks. */

import type { Loaded } from '../../../config/load.ts';
import { encodeBase64url } from '../../../ledger/base64url.ts';
import type { Block } from '../../../node/api/blocks.ts';
import type { NodeApi } from '../../../node/api/node-api.ts';
import { BlockChecks } from './check-blocks.ts';
import { withNode } from './client.ts';
import { blockLine, blockToJson, note, Progress, printJson, printLine } from './print.ts';

export interface ListOptions {
  readonly json: boolean;
  readonly minHeight?: number;
  readonly maxHeight?: number;
  /** How many items are printed at most. */
  readonly limit: number;
}

export interface BlockListOptions extends ListOptions {
  readonly verify: boolean;
}

export interface BranchOptions extends BlockListOptions {
  /** 32 bytes each. */
  readonly upper: readonly Uint8Array[];
  readonly lower?: readonly Uint8Array[];
  /** Whole blocks instead of hashes. */
  readonly blocks: boolean;
}

export function runHash(loaded: Loaded, chain: number, options: ListOptions): Promise<number> {
  return withNode(loaded, (api) => printHashes(api.hashes(chain, options), options));
}

export function runBlock(loaded: Loaded, chain: number, options: BlockListOptions): Promise<number> {
  return withNode(loaded, (api) => printBlocks(api, api.blocks(chain, options), options));
}

export function runBranch(loaded: Loaded, chain: number, options: BranchOptions): Promise<number> {
  return withNode(loaded, async (api) => {
    if (options.blocks || options.verify) return printBlocks(api, api.blockBranch(chain, options, options), options);
    return printHashes(api.hashBranch(chain, options, options), options);
  });
}

async function printHashes(hashes: AsyncIterable<Uint8Array>, options: ListOptions): Promise<void> {
  await each(hashes, options, 'hashes', (hash) => {
    const text = encodeBase64url(hash);
    if (options.json) printJson(text);
    else printLine(text);
  });
}

async function printBlocks(api: NodeApi, blocks: AsyncIterable<Block>, options: BlockListOptions): Promise<void> {
  const checks = new BlockChecks();
  const dialect = options.json ? await api.dialect() : 'document';
  await each(blocks, options, 'blocks', (block) => {
    if (options.verify) checks.check(block);
    if (options.json) printJson(blockToJson(block, dialect, api.network));
    else printLine(blockLine(block));
  });
  if (!options.verify) return;
  const count = `${checks.checked} block${checks.checked === 1 ? '' : 's'}`;
  note(`${count} verified: proof of work, neighbours, weights, payloads, rewards`);
}

/** Prints items up to the limit, and says when there are more. */
async function each<T>(
  items: AsyncIterable<T>,
  { limit }: ListOptions,
  what: string,
  print: (item: T) => void,
): Promise<void> {
  const progress = new Progress();
  let count = 0;
  for await (const item of items) {
    if (count === limit) return note(`There are more ${what}: --limit says how many are printed.`);
    print(item);
    count += 1;
    progress.tell(() => `${count} ${what} so far`);
  }
  if (count === 0) note(`There are no ${what} in this range.`);
}
