/** `pickaxe ledger block`, `hash`, `branch` and `payload`: print lists of a chain's blocks, and a block's contents. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Loaded } from '../../app/config/load.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import type { Block } from '../../node/client/blocks.ts';
import type { NodeApi } from '../../node/client/node-api.ts';
import { formatDecimal } from '../../protocol/ledger/decimal.ts';
import { encodeBase64url, HASH_TEXT } from '../../protocol/ledger/json.ts';
import { parseCoinbase, payloadToJson, payloadWithOutputsToJson } from '../../protocol/ledger/payload.ts';
import type { Io, Line } from '../io.ts';
import { asGiven, chainNumber, positiveInteger, settingsOf, wholeNumber } from '../usage/options.ts';
import { BlockChecks, BranchLinks, type Links, UpwardLinks } from './check-blocks.ts';
import {
  accountIn,
  blockLine,
  blockToJson,
  Progress,
  printJson,
  printTable,
  reading,
  safe,
  withNode,
  withNodes,
} from './ledger-client.ts';

/** Default maximum number of items that a list prints, because a chain has millions of blocks. */
const USUAL_LIMIT = 100;

const CHAIN: [string, string, (text: string) => number] = ['<chain>', 'number of the chain, from 0 on', chainNumber];

export function declareBlockCommands(ledger: Command, { io, action }: Line): void {
  reading(ledger, 'payload', 'print what a block contains, proven against its hash')
    .argument(...CHAIN)
    .argument('<hash>', 'the payload hash, 43 characters', (text) => hashOf(asGiven(text)))
    .option('--height <n>', 'height of the block: with it nodes find the payload faster', wholeNumber)
    .option('--outputs', 'also print what its transactions have done, and what its miner got', false)
    .action(
      action(async (chain, hash, options, command) => runPayload(await settingsOf(command), chain, hash, options, io)),
    );

  const list = (name: string, about: string, item: string) =>
    reading(ledger, name, about)
      .argument(...CHAIN)
      .option('--min-height <n>', 'from this height on', wholeNumber)
      .option('--max-height <n>', 'up to this height', wholeNumber)
      .option('--limit <n>', `print at most this many ${item}`, positiveInteger(2 ** 53 - 1), USUAL_LIMIT);

  const newest = (command: Command) =>
    command.addOption(
      new Option('--last <n>', 'only the newest, the newest first and without orphans')
        .argParser(positiveInteger(2 ** 53 - 1))
        .conflicts(['minHeight', 'maxHeight', 'limit']),
    );

  newest(list('block', 'list blocks of a chain upwards, orphans too', 'blocks'))
    .option('--verify', 'prove each block: proof of work, neighbours, weight, payload, reward', false)
    .action(action(async (chain, options, command) => runBlock(await settingsOf(command), chain, options, io)));

  newest(list('hash', 'list hashes of a chain’s blocks upwards, orphans’ too', 'hashes')).action(
    action(async (chain, options, command) => runHash(await settingsOf(command), chain, options, io)),
  );

  list('branch', 'list a block and its ancestors downwards', 'blocks')
    .requiredOption('--upper <hash>', 'hash of the block; repeat for several', collectHashes)
    .option('--lower <hash>', 'leave out this block and its ancestors; repeat for several', collectHashes)
    .option('--blocks', 'print whole blocks instead of hashes', false)
    .option('--verify', 'prove each block, as ledger block does', false)
    .action(action(async (chain, options, command) => runBranch(await settingsOf(command), chain, options, io)));
}

/** @returns 32 bytes @throws InvalidArgumentError for a text that is not a hash in base64url */
function hashOf(text: string): Uint8Array {
  const bytes = HASH_TEXT.test(text) ? Buffer.from(text, 'base64url') : undefined;
  if (bytes?.toString('base64url') !== text) throw new InvalidArgumentError('Give 43 characters of base64url.');
  return Uint8Array.from(bytes);
}

function collectHashes(text: string, before: readonly Uint8Array[] = []): Uint8Array[] {
  return [...before, hashOf(text)];
}

interface ListOptions {
  readonly json: boolean;
  readonly minHeight?: number | bigint;
  readonly maxHeight?: number;
  readonly limit: number;
}

interface UpwardOptions extends ListOptions {
  /** Number of blocks to print, downwards from the chain's newest block in the node's cut. */
  readonly last?: number;
}

interface BlockListOptions extends UpwardOptions {
  readonly verify: boolean;
}

interface BranchOptions extends BlockListOptions {
  /** Hashes of the blocks with which the branch begins, 32 bytes each. */
  readonly upper: readonly Uint8Array[];
  readonly lower?: readonly Uint8Array[];
  readonly blocks: boolean;
}

function runHash(loaded: Loaded, chain: number, options: UpwardOptions, io: Io): Promise<number> {
  return withNode(loaded, io, async (api) => {
    const newest = await newestOf(api, chain, options);
    if (newest) return printHashes(api.hashBranch(chain, newest, newest), newest, io);
    return printHashes(api.hashes(chain, options), options, io);
  });
}

function runBlock(loaded: Loaded, chain: number, options: BlockListOptions, io: Io): Promise<number> {
  return withNodes(loaded, io, (nodes) =>
    nodes.ask(async (api) => {
      const newest = await newestOf(api, chain, options);
      if (!newest) return printBlocks(api, api.blocks(chain, options), options, new UpwardLinks(), io);
      const blocks = api.blockBranch(chain, newest, newest);
      return printBlocks(api, blocks, { ...options, ...newest }, new BranchLinks(newest.upper), io);
    }),
  );
}

/** @returns the bounds of the newest blocks; undefined without `last` @throws UsageError for an unknown chain */
async function newestOf(api: NodeApi, chain: number, { last, json }: UpwardOptions) {
  if (last === undefined) return undefined;
  const { heads } = await api.cut();
  const head = heads.get(chain);
  if (!head) throw new UsageError(`The network has no chain ${chain}: it has ${heads.size}.`);
  const lowest = head.height - BigInt(last) + 1n;
  return { upper: [head.hash], minHeight: lowest > 0n ? lowest : 0n, limit: last, json };
}

function runBranch(loaded: Loaded, chain: number, options: BranchOptions, io: Io): Promise<number> {
  if (!options.blocks && !options.verify) {
    return withNode(loaded, io, (api) => printHashes(api.hashBranch(chain, options, options), options, io));
  }
  const { upper, maxHeight } = options;
  const links = () => new BranchLinks(upper, maxHeight === undefined ? undefined : BigInt(maxHeight));
  const print = (api: NodeApi) => printBlocks(api, api.blockBranch(chain, options, options), options, links(), io);
  return withNodes(loaded, io, (nodes) => nodes.ask(print));
}

async function printHashes(hashes: AsyncIterable<Uint8Array>, options: ListOptions, io: Io): Promise<void> {
  await each(hashes, options, 'hashes', io, (hash) => {
    const text = encodeBase64url(hash);
    if (options.json) printJson(io, text);
    else io.out(`${text}\n`);
  });
}

async function printBlocks(
  api: NodeApi,
  blocks: AsyncIterable<Block>,
  options: BlockListOptions,
  links: Links,
  io: Io,
): Promise<number> {
  const checks = new BlockChecks(api, io.say, links);
  const dialect = options.json ? await api.dialect() : 'document';
  const count = await each(blocks, options, 'blocks', io, async (block) => {
    if (options.verify) await checks.check(block);
    if (options.json) printJson(io, blockToJson(block, dialect, api.network));
    else io.out(`${blockLine(block)}\n`);
  });
  if (!options.verify || count === 0) return EXIT.done;
  return checks.finish('block') ? EXIT.done : EXIT.failed;
}

/** Prints items up to the limit, and a note when there are more. @returns the number of printed items */
async function each<T>(
  items: AsyncIterable<T>,
  { limit }: ListOptions,
  what: string,
  io: Io,
  print: (item: T) => void | Promise<void>,
): Promise<number> {
  const progress = new Progress(io);
  let count = 0;
  for await (const item of items) {
    if (count === limit) {
      io.say(`There are more ${what}: --limit says how many are printed.`);
      return count;
    }
    await print(item);
    count += 1;
    progress.show(() => `${count} ${what} so far`);
  }
  if (count === 0) io.say(`There are no ${what} in this range.`);
  return count;
}

interface PayloadOptions {
  readonly json: boolean;
  readonly height?: number;
  readonly outputs: boolean;
}

/** @param payloadHash 32 bytes */
function runPayload(
  loaded: Loaded,
  chain: number,
  payloadHash: Uint8Array,
  { json, outputs, ...query }: PayloadOptions,
  io: Io,
): Promise<number> {
  return withNode(loaded, io, async (api) => {
    if (!outputs) {
      const payload = await api.payload(chain, payloadHash, query);
      return json ? printJson(io, payloadToJson(payload)) : printTable(io, rowsOf(payload));
    }
    const payload = await api.payloadWithOutputs(chain, payloadHash, query);
    if (json) return printJson(io, payloadWithOutputsToJson(payload));
    const { outcome, transfers = [] } = parseCoinbase(payload.coinbase);
    const paid = transfers.map(({ receiver, amount }) => `${formatDecimal(amount)} to ${safe(receiver)}`);
    printTable(io, [...rowsOf(payload), ['coinbase', [outcome, ...paid].join(', ')]]);
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
