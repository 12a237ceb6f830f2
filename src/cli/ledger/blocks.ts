/** `pickaxe ledger block`, `hash` and `branch`: lists of a chain's blocks. */

import { EXIT, UsageError } from '../../app/exit.ts';
import type { Loaded } from '../../config/load.ts';
import { formatDecimal } from '../../ledger/decimal.ts';
import { encodeBase64url } from '../../ledger/json.ts';
import { parseCoinbase, payloadToJson, payloadWithOutputsToJson } from '../../ledger/payload.ts';
import type { Block } from '../../node/api/blocks.ts';
import type { NodeApi } from '../../node/api/node-api.ts';
import { BlockChecks, BranchLinks, type Links, UpwardLinks } from './check-blocks.ts';
import {
  accountIn,
  blockLine,
  blockToJson,
  note,
  Progress,
  printJson,
  printLine,
  printTable,
  safe,
  withNode,
  withNodes,
} from './client.ts';

export interface ListOptions {
  readonly json: boolean;
  readonly minHeight?: number | bigint;
  readonly maxHeight?: number;
  /** How many items are printed at most. */
  readonly limit: number;
}

export interface UpwardOptions extends ListOptions {
  /** How many of the newest are listed, the newest first: of the branch that ends with the node's cut. */
  readonly last?: number;
}

export interface BlockListOptions extends UpwardOptions {
  readonly verify: boolean;
}

export interface BranchOptions extends BlockListOptions {
  /** 32 bytes each. */
  readonly upper: readonly Uint8Array[];
  readonly lower?: readonly Uint8Array[];
  /** Whole blocks instead of hashes. */
  readonly blocks: boolean;
}

export function runHash(loaded: Loaded, chain: number, options: UpwardOptions): Promise<number> {
  return withNode(loaded, async (api) => {
    const newest = await newestOf(api, chain, options);
    if (newest) return printHashes(api.hashBranch(chain, newest, newest), newest);
    return printHashes(api.hashes(chain, options), options);
  });
}

export function runBlock(loaded: Loaded, chain: number, options: BlockListOptions): Promise<number> {
  return withNodes(loaded, (nodes) =>
    nodes.ask(async (api) => {
      const newest = await newestOf(api, chain, options);
      if (!newest) return printBlocks(api, api.blocks(chain, options), options, new UpwardLinks());
      const blocks = api.blockBranch(chain, newest, newest);
      return printBlocks(api, blocks, { ...options, ...newest }, new BranchLinks(newest.upper));
    }),
  );
}

/**
 * @returns the branch that ends with the newest block of the node's cut, as far down as `last` says; undefined without
 *   `last`
 * @throws UsageError for a chain that the cut does not have
 */
async function newestOf(api: NodeApi, chain: number, { last, json }: UpwardOptions) {
  if (last === undefined) return undefined;
  const { heads } = await api.cut();
  const head = heads.get(chain);
  if (!head) throw new UsageError(`The network has no chain ${chain}: it has ${heads.size}.`);
  const lowest = head.height - BigInt(last) + 1n;
  return { upper: [head.hash], minHeight: lowest > 0n ? lowest : 0n, limit: last, json };
}

export function runBranch(loaded: Loaded, chain: number, options: BranchOptions): Promise<number> {
  if (!options.blocks && !options.verify) {
    return withNode(loaded, (api) => printHashes(api.hashBranch(chain, options, options), options));
  }
  const { upper, maxHeight } = options;
  const links = () => new BranchLinks(upper, maxHeight === undefined ? undefined : BigInt(maxHeight));
  const print = (api: NodeApi) => printBlocks(api, api.blockBranch(chain, options, options), options, links());
  return withNodes(loaded, (nodes) => nodes.ask(print));
}

async function printHashes(hashes: AsyncIterable<Uint8Array>, options: ListOptions): Promise<void> {
  await each(hashes, options, 'hashes', (hash) => {
    const text = encodeBase64url(hash);
    if (options.json) printJson(text);
    else printLine(text);
  });
}

/** @returns the exit code */
async function printBlocks(
  api: NodeApi,
  blocks: AsyncIterable<Block>,
  options: BlockListOptions,
  links: Links,
): Promise<number> {
  const checks = new BlockChecks(api, note, links);
  const dialect = options.json ? await api.dialect() : 'document';
  const count = await each(blocks, options, 'blocks', async (block) => {
    if (options.verify) await checks.check(block);
    if (options.json) printJson(blockToJson(block, dialect, api.network));
    else printLine(blockLine(block));
  });
  if (!options.verify || count === 0) return EXIT.done;
  return checks.finish('block') ? EXIT.done : EXIT.failed;
}

/** Prints items up to the limit, and says when there are more. @returns how many were printed */
async function each<T>(
  items: AsyncIterable<T>,
  { limit }: ListOptions,
  what: string,
  print: (item: T) => void | Promise<void>,
): Promise<number> {
  const progress = new Progress();
  let count = 0;
  for await (const item of items) {
    if (count === limit) {
      note(`There are more ${what}: --limit says how many are printed.`);
      return count;
    }
    await print(item);
    count += 1;
    progress.tell(() => `${count} ${what} so far`);
  }
  if (count === 0) note(`There are no ${what} in this range.`);
  return count;
}

/* `pickaxe ledger payload`: what a block contains, proven against the hash that was asked for. */

export interface PayloadOptions {
  readonly json: boolean;
  readonly height?: number;
  readonly outputs: boolean;
}

/** @param payloadHash 32 bytes */
export function runPayload(
  loaded: Loaded,
  chain: number,
  payloadHash: Uint8Array,
  { json, outputs, ...query }: PayloadOptions,
): Promise<number> {
  return withNode(loaded, async (api) => {
    if (!outputs) {
      const payload = await api.payload(chain, payloadHash, query);
      return json ? printJson(payloadToJson(payload)) : printTable(rowsOf(payload));
    }
    const payload = await api.payloadWithOutputs(chain, payloadHash, query);
    if (json) return printJson(payloadWithOutputsToJson(payload));
    const { outcome, transfers = [] } = parseCoinbase(payload.coinbase);
    const paid = transfers.map(({ receiver, amount }) => `${formatDecimal(amount)} to ${safe(receiver)}`);
    printTable([...rowsOf(payload), ['coinbase', [outcome, ...paid].join(', ')]]);
  });
}

function rowsOf(payload: Parameters<typeof payloadToJson>[0]): (readonly [string, string])[] {
  return [
    ['payload hash', encodeBase64url(payload.payloadHash)],
    ['transactions hash', encodeBase64url(payload.transactionsHash)],
    ['outputs hash', encodeBase64url(payload.outputsHash)],
    ['miner', accountIn(payload)],
    ['transactions', `${payload.transactions.length}`],
  ];
}
