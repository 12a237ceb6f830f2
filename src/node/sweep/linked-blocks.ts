/**
 * Finds commands in the blocks of a chain, and proves the blocks as far as one node's answers allow. Each header must
 * have the hash that the header above it names, and its own proof of work; the hash of the highest header is in the
 * node's cut. The contents of a block must hash to the roots in its header. The result includes the sum of the blocks'
 * work.
 */

import { equalBytes } from '../../protocol/chain/bytes.ts';
import { parsePayload } from '../../protocol/ledger/command/command-payload.ts';
import { type CommandResult, parseCommandResult } from '../../protocol/ledger/command/results.ts';
import type { Head } from '../../protocol/ledger/cut.ts';
import { blockWeight, weightAbove } from '../../protocol/ledger/difficulty.ts';
import { type BlockHeader, blockHash, checkWork } from '../../protocol/ledger/header.ts';
import {
  encodeBase64url,
  isExactJsonObject,
  LedgerFormatError,
  parseExactJsonBytes,
} from '../../protocol/ledger/json.ts';
import { hasWork } from '../../protocol/ledger/least-work.ts';
import type { Block } from '../client/blocks.ts';
import type { NodeApi } from '../client/node-api.ts';
import { NodeError } from '../http/node-error.ts';
import { type InBlock, type SearchQuery, type SearchRange, SweepFault } from './sweep-ledger.ts';

export type BlockReader = Pick<NodeApi, 'network' | 'dialect' | 'blockBranch' | 'headerBranch'>;

/** A chain, and its newest block in the node's cut. */
export interface Branch {
  readonly chain: number;
  readonly head: Head;
}

interface Search {
  readonly found: InBlock | undefined;
  /** The block that has the command. If no block has the command, the highest block that was searched. */
  readonly block: Head;
  /** The header of the chain's newest block. */
  readonly newest: BlockHeader;
  readonly work: Work;
}

/**
 * The work that proves a search. If a block has the command, this is the work of the easiest one of that block and the
 * six above it, times their number, because a real block with forged ones above it is not deep. If no block has the
 * command, it is the work in the blocks that are too late to have it. A node that hides the command's block must forge
 * that block and all above it, but the blocks below it can be real, so their work is no evidence.
 */
export interface Work {
  /** Expected number of hashes for these blocks; meaningless on networks whose blocks need no proof of work. */
  readonly hashes: bigint;
  /**
   * The answer is proven if `hashes` is at least the minimum work of this number of blocks. The number is 7 if the
   * command was found. Otherwise, it is the number of blocks that a chain makes from the command's creation to the end
   * of the time to search, but at least 7.
   */
  readonly blocks: bigint;
}

/** Consecutive blocks, from the height `low` to the height `high`. */
interface Stretch {
  readonly high: bigint;
  /** The hash of the block at the height `high`, 32 bytes. */
  readonly hash: Uint8Array;
  low: bigint;
}

/**
 * Maximum time by which a command's creation time is later than that of its block's parent, in µs: 95 s by the rules of
 * the ledger, and a margin.
 */
const AHEAD_US = 120_000_000n;
/** Maximum number of blocks in a stretch. All blocks of a stretch are in memory at the same time. */
const STRETCH = 50n;

/** Maximum numbers of blocks that a search reads. Tests use lower ones. */
export const SEARCH_LIMITS = {
  /** Maximum number of headers that are read from the head downwards. A chain gets about as many in a year. */
  headers: 1_000_000n,
  /** Maximum number of blocks whose contents are searched. An expired command can be in about 90 blocks. */
  searched: 10_000n,
} as const;
type SearchLimits = { readonly [Limit in keyof typeof SEARCH_LIMITS]: bigint };

/** Number of blocks that make a command final: its own block, and the six above it. */
const FINAL_BLOCKS = 7n;
/** Intended time between two blocks of a chain, in seconds. */
const BLOCK_S = 30;

/**
 * Searches all blocks that could contain a command. A step 1 is an exception: anybody may send one at any time, so it
 * could be in very many blocks. Of these blocks, only the newest and the lowest are searched, and at most half of
 * `limits.searched` at each end.
 * @throws SweepFault when blocks are missing or too many, do not build on each other, or do not reach the end of the
 *   time to search; LedgerFormatError when a proof of work is wrong, or a result is malformed;
 *   NodeError when a request fails
 */
export async function findCommand(
  api: BlockReader,
  branch: Branch,
  query: SearchQuery,
  range: SearchRange,
  stop: AbortSignal,
  limits: SearchLimits = SEARCH_LIMITS,
): Promise<Search> {
  const { stretches, newest, lastAlive, difficulties } = await stretchesOf(api, branch, query, range, stop, limits);
  const workFrom = ({ height }: BlockHeader): Work => {
    const top = height + FINAL_BLOCKS - 1n;
    const highest = top < newest.height ? top : newest.height;
    return { hashes: leastOf(difficulties, height, highest) * (highest - height + 1n), blocks: FINAL_BLOCKS };
  };
  // The lowest blocks are read first, because most commands enter a block soon.
  for (const stretch of stretches.toReversed()) {
    for (const { header, payload } of await blocksOf(api, branch.chain, stretch, stop)) {
      const { height } = header;
      const results = payload.outputs.map((output, i) => resultOf(query, payload.transactions[i], output));
      const result = results.find((each) => each !== undefined);
      if (!result) continue;
      const found = { height: Number(height), depth: Number(branch.head.height - height), result };
      return { found, block: { height, hash: blockHash(header) }, newest, work: workFrom(header) };
    }
  }
  const [{ high, hash }] = stretches;
  const lifeS = range.untilS === undefined ? 0 : range.untilS - query.madeS;
  const blocks = BigInt(Math.max(Number(FINAL_BLOCKS), Math.ceil(lifeS / BLOCK_S)));
  const work = { hashes: newest.weight - (lastAlive ?? newest).weight, blocks };
  return { found: undefined, block: { height: high, hash }, newest, work };
}

/** @returns the header of the newest block, proven by its hash and its work @throws the errors of `findCommand` */
export async function newestHeader(api: BlockReader, branch: Branch, stop: AbortSignal): Promise<BlockHeader> {
  for await (const { header } of linkedHeaders(api, branch, branch.head.height, stop)) return header;
  throw missing(branch.head.height);
}

interface Followed {
  /** At least one stretch. The highest stretch is the first. */
  readonly stretches: readonly Stretch[];
  readonly newest: BlockHeader;
  /** The highest block that could contain the command; undefined if the command's time to live is not known. */
  readonly lastAlive: BlockHeader | undefined;
  readonly difficulties: readonly Difficulty[];
}

/** The difficulty of consecutive blocks from the height `from` downwards, until the next one of a list. */
interface Difficulty {
  readonly from: bigint;
  readonly hashes: bigint;
}

/** @param difficulties in descending order of heights @returns the least difficulty of a block between two heights */
function leastOf(difficulties: readonly Difficulty[], low: bigint, high: bigint): bigint {
  const within = difficulties.filter(({ from }, i) => from >= low && (difficulties[i + 1]?.from ?? -1n) < high);
  return within.reduce((least, { hashes }) => (hashes < least ? hashes : least), within[0].hashes);
}

/** Reads the headers from the head down to the lowest block that could contain the command. */
async function stretchesOf(
  api: BlockReader,
  branch: Branch,
  { what, madeS }: SearchQuery,
  { height: wanted, untilS, expiresS = untilS }: SearchRange,
  stop: AbortSignal,
  limits: SearchLimits,
): Promise<Followed> {
  if (wanted !== undefined && (wanted < 0 || wanted > branch.head.height)) throw missing(BigInt(wanted));
  const earliestUs = BigInt(madeS) * 1_000_000n - AHEAD_US;
  const untilUs = untilS === undefined ? undefined : BigInt(untilS) * 1_000_000n;
  const expiresUs = expiresS === undefined ? undefined : BigInt(expiresS) * 1_000_000n;
  // Another sender's step 1 usually follows soon after step 0, or comes at the same time as ours. So the lowest and the
  // newest blocks are enough. If they have no step 1, the runner repeats the search.
  const isAnybodys = what === 'step 1';
  const mostStretches = Number(limits.searched / STRETCH);
  let stretches: Stretch[] = [];
  let newest: BlockHeader | undefined;
  let lowest: BlockHeader | undefined;
  let lastAlive: BlockHeader | undefined;
  const difficulties: Difficulty[] = [];
  for await (const { header, hash } of linkedHeaders(api, branch, BigInt(wanted ?? 0), stop)) {
    const { height, creationTimeUs: timeUs } = header;
    newest ??= header;
    lowest = header;
    // The genesis block has no proof of work.
    const hashes = height > 0n ? blockWeight(header.target) : 0n;
    if (difficulties.at(-1)?.hashes !== hashes) difficulties.push({ from: height, hashes });
    // The parent of this block may be older than the end of the time to live. The parents of higher blocks are not.
    if (expiresUs !== undefined && timeUs >= expiresUs) lastAlive = header;
    if (wanted !== undefined && height === BigInt(wanted)) {
      return { stretches: [{ high: height, hash, low: height }], newest, lastAlive, difficulties };
    }
    if (wanted === undefined) {
      const isAfterEnd = untilUs !== undefined && timeUs >= untilUs;
      if (untilUs !== undefined && !isAfterEnd && stretches.length === 0) {
        throw new SweepFault('The node does not have the blocks yet in which a command could be.');
      }
      const last = stretches.at(-1);
      // Of the blocks after the end of the time to search, only the lowest is searched. The parents of higher blocks
      // are also after that end, so these blocks cannot contain the command.
      if (isAfterEnd) stretches = [{ high: height, hash, low: height }];
      else if (last && last.high - height < STRETCH) last.low = height;
      else stretches.push({ high: height, hash, low: height });
      if (isAnybodys) {
        if (stretches.length > mostStretches) stretches.splice(mostStretches / 2, 1);
      } else if (stretches[0].high - height >= limits.searched) throw tooMany(limits.searched);
    }
    if (timeUs < earliestUs) break;
    if (branch.head.height - height >= limits.headers) throw tooMany(limits.headers);
  }
  if (wanted !== undefined || !lowest || !newest) throw missing(BigInt(wanted ?? branch.head.height));
  // On a young chain, no block is much older than the command. But the block that was the newest one when the command
  // was made must have been read. With the genesis block, all blocks have been read, even for an older command.
  const isOldest = lowest.height === 0n;
  if (!isOldest && lowest.creationTimeUs >= BigInt(madeS + 1) * 1_000_000n) throw missing(lowest.height - 1n);
  return { stretches, newest, lastAlive, difficulties };
}

/** Reads the headers of a branch in descending order. Each is proven by the header above it. */
async function* linkedHeaders(
  api: BlockReader,
  { chain, head }: Branch,
  minHeight: bigint,
  stop: AbortSignal,
): AsyncGenerator<{ readonly header: BlockHeader; readonly hash: Uint8Array }, void> {
  let { height, hash } = head;
  const isWithWork = hasWork(api.network);
  let above: BlockHeader | undefined;
  for await (const header of headersOf(api, chain, head, minHeight, stop)) {
    checkLink(header, height, hash);
    if (above && header.creationTimeUs >= above.creationTimeUs) {
      throw new SweepFault(`The node gives a block of height ${height} that is not older than the one above it`);
    }
    if (isWithWork && height > 0n) checkWorkOf(header, hash, api.network);
    if (isWithWork && above && above.weight !== weightAbove(header, above.target)) {
      throw new SweepFault(
        `The node gives a block of height ${above.height} whose weight does not follow from its parent`,
      );
    }
    above = header;
    yield { header, hash };
    hash = header.parent;
    height -= 1n;
  }
}

/**
 * @throws LedgerFormatError. Its message names the block, and a remedy for mock nodes: their simulated miners make
 *   blocks without a proof of work
 */
function checkWorkOf(header: BlockHeader, hash: Uint8Array, network: string): void {
  try {
    checkWork(header);
  } catch (error) {
    if (!(error instanceof LedgerFormatError)) throw error;
    const block = `Block ${header.height} of chain ${header.chain} (${encodeBase64url(hash)})`;
    throw new LedgerFormatError(
      `${block} has no proof of work, which every block of ${network} has. If this is a mock node, start it with --network development.`,
    );
  }
}

/**
 * Reads headers or, from a node that serves no headers, whole blocks. The node of document 1 and some gateways serve no
 * headers.
 */
async function* headersOf(
  api: BlockReader,
  chain: number,
  { hash, height }: Head,
  minHeight: bigint,
  stop: AbortSignal,
): AsyncGenerator<BlockHeader, void> {
  const range = { minHeight, maxHeight: height };
  const bounds = { upper: [hash] };
  if ((await api.dialect(stop)) === 'chainweb') {
    let isServed = false;
    try {
      for await (const header of api.headerBranch(chain, bounds, range, stop)) {
        isServed = true;
        yield header;
      }
      return;
    } catch (error) {
      if (isServed || !(error instanceof NodeError) || error.kind !== 'not found') throw error;
    }
  }
  for await (const { header } of api.blockBranch(chain, bounds, range, stop)) yield header;
}

/** @returns all blocks of the stretch, in ascending order */
async function blocksOf(
  api: BlockReader,
  chain: number,
  { high, low, hash: top }: Stretch,
  stop: AbortSignal,
): Promise<readonly Block[]> {
  const blocks: Block[] = [];
  const heights = { minHeight: low, maxHeight: high };
  let [height, hash] = [high, top];
  for await (const block of api.blockBranch(chain, { upper: [top] }, heights, stop)) {
    checkLink(block.header, height, hash);
    blocks.unshift(block);
    hash = block.header.parent;
    height -= 1n;
  }
  // A missing block could contain the command.
  if (height >= low) throw missing(height);
  return blocks;
}

function checkLink(header: BlockHeader, height: bigint, hash: Uint8Array): void {
  if (header.height === height && equalBytes(blockHash(header), hash)) return;
  throw new SweepFault(`The blocks that the node gives do not build on each other, at height ${height}: ask another`);
}

/**
 * @returns the command's result; undefined if the transaction is not the command that is searched for. In a search for
 *   any sender's step 1, also undefined for a step 1 that has failed
 */
function resultOf({ what, key }: SearchQuery, transaction: Uint8Array, output: Uint8Array): CommandResult | undefined {
  const isStep1 = what === 'step 1';
  if (!Buffer.from(isStep1 ? transaction : output).includes(key)) return undefined;
  if (isStep1 && !isStep1Of(key, transaction)) return undefined;
  const json = parseExactJsonBytes(output);
  if (!isStep1 && !(isExactJsonObject(json) && json.reqKey === key)) return undefined;
  const result = parseCommandResult(json);
  return isStep1 && result.result.status === 'failure' ? undefined : result;
}

/** Whether the transaction is a step 1 of this transfer; false if the transaction cannot be read as a command. */
function isStep1Of(pactId: string, transaction: Uint8Array): boolean {
  try {
    const json = parseExactJsonBytes(transaction);
    if (!isExactJsonObject(json) || typeof json.cmd !== 'string') return false;
    const { payload } = parsePayload(json.cmd);
    return 'cont' in payload && payload.cont.pactId === pactId && payload.cont.step === 1 && !payload.cont.rollback;
  } catch (error) {
    if (error instanceof LedgerFormatError) return false;
    throw error;
  }
}

function missing(height: bigint): SweepFault {
  return new SweepFault(`The node does not have the block of height ${height}: ask another`);
}

function tooMany(most: bigint): SweepFault {
  return new SweepFault(`A command could be in more than ${most} blocks, and no more are read`);
}
