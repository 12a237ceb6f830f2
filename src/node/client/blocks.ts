/**
 * Blocks, hashes, headers and cuts (document 1, "Whole blocks", "Block hashes" and "Cut"). Each block is checked: its
 * header must hash to its block hash, and its payload to the header's payload hash.
 */

import { z } from 'zod';
import { type Cut, cutFromJson, cutToJson } from '../../protocol/ledger/cut.ts';
import { checked } from '../../protocol/ledger/fields.ts';
import {
  type BlockHeader,
  checkBlockHash,
  headerFromJson,
  networkOf,
  parseHeader,
  versionCodeOf,
} from '../../protocol/ledger/header.ts';
import {
  decodeBase64url,
  type ExactJson,
  encodeBase64url,
  LedgerFormatError,
  stringifyExactJson,
} from '../../protocol/ledger/json.ts';
import { HASH_BYTES } from '../../protocol/ledger/merkle.ts';
import {
  type PayloadWithOutputs,
  type Proven,
  payloadWithOutputsFromJson,
  provePayload,
} from '../../protocol/ledger/payload.ts';
import { NodeError, quote } from '../http/node-error.ts';
import { type Asker, chainPath, type HeightRange, heights, isInRange, json, nothing, query } from '../http/request.ts';
import { itemsOf, pageOf } from './collection-pages.ts';

export interface Block {
  readonly header: BlockHeader;
  readonly payload: Proven<PayloadWithOutputs>;
}

/**
 * Number of blocks requested per page. Real nodes allow 360, but a page of 360 full blocks would have many megabytes.
 */
const BLOCKS_A_PAGE = 50;

const BlockObject = z.object({ header: z.custom<ExactJson>(), payloadWithOutputs: z.custom<ExactJson>() });

/** @throws NodeError, while iterating */
export async function* getBlocks(
  asker: Asker,
  versionCode: VersionCode,
  part: Part,
  stop: AbortSignal,
): AsyncGenerator<Block, void> {
  const { chain, range } = part;
  const item = blockReader({ chain, range, versionCode: await versionCode.get(chain, stop) });
  const paging = { side: 'service', pageSize: BLOCKS_A_PAGE, isLong: true, item } as const;
  yield* itemsOf(asker, { ...paging, ...requestFor('block', part) }, stop);
}

/**
 * @returns a function that reads a block. The function throws a LedgerFormatError if the JSON is not a block, if a hash
 *   in the block is wrong, or if the chain, height or version code is not a wanted one
 */
export function blockReader(wanted: Wanted): (json: ExactJson) => Block {
  return (json) => {
    const block = checked(BlockObject, json, 'block');
    const header = headerOf(block.header, wanted);
    const payload = provePayload(payloadWithOutputsFromJson(block.payloadWithOutputs), header.payloadHash);
    return { header, payload };
  };
}

/* Collections: all blocks of a chain, or the blocks of a branch. */

/**
 * The bounds of a branch: block hashes of one chain, 32 bytes each. Real nodes accept at most 32 upper and 32 lower
 * bounds.
 */
export interface BranchBounds {
  /** The branch contains only these blocks and their ancestors. */
  readonly upper: readonly Uint8Array[];
  /** The branch contains neither these blocks nor their ancestors. */
  readonly lower?: readonly Uint8Array[];
}

interface Part {
  readonly chain: number;
  /**
   * The bounds of a branch, whose blocks come in descending order. Without bounds, all blocks of the chain come in
   * ascending order, including orphans.
   */
  readonly bounds?: BranchBounds;
  readonly range: HeightRange;
}

/**
 * @returns the request. `blocks.bounds` has all bounds of the branch, in base64url. Real nodes answer 404 if they lack
 *   a block that is an upper bound. They ignore a lower bound whose block they lack
 */
function requestFor(what: 'block' | 'hash' | 'header', part: Part) {
  const { chain, range } = part;
  const whole = chainPath(chain, what);
  if (!('bounds' in part)) return { path: whole, ...heights(range), blocks: { whole, bounds: [] } };
  const { upper: above, lower: below = [] } = part.bounds!;
  const [upper, lower] = [above, below].map((hashes) => hashes.map(encodeBase64url));
  return {
    method: 'POST',
    path: `${whole}/branch`,
    ...heights(range),
    body: stringifyExactJson({ lower, upper }),
    blocks: { whole, bounds: [...upper, ...lower] },
  } as const;
}

/** The largest number of hashes per page that real nodes allow. */
const HASHES_A_PAGE = 4096;

/**
 * Yields block hashes, 32 bytes each.
 * @throws NodeError, while iterating: for example, `not found` with the `key` of an upper bound that the node lacks
 */
export async function* getHashes(asker: Asker, part: Part, stop: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const paging = { side: 'service', pageSize: HASHES_A_PAGE, item: hashFromJson } as const;
  yield* itemsOf(asker, { ...paging, ...requestFor('hash', part) }, stop);
}

function hashFromJson(json: ExactJson): Uint8Array {
  if (typeof json !== 'string') throw new LedgerFormatError('is not a hash');
  return decodeBase64url(json, HASH_BYTES);
}

/*
 * Headers. Real nodes serve them; in documents 1 and 2, headers come only as parts of whole blocks. A header as JSON
 * lacks the version code.
 */

/** The largest number of headers per page that real nodes allow at the service port. At the P2P port they allow 20. */
const HEADERS_A_PAGE = 360;

/**
 * @param hash the block hash, 32 bytes
 * @throws NodeError: for example, `not found`, with the hash as the error's `key` if the body of the 404 has it
 */
export async function getHeader(
  asker: Asker,
  chain: number,
  hash: Uint8Array,
  stop: AbortSignal,
): Promise<BlockHeader> {
  const path = chainPath(chain, `header/${encodeBase64url(hash)}`);
  const read = json((value) => {
    const header = headerOf(value, { chain, versionCode: versionCodeOf(asker.network) });
    checkBlockHash(header, hash);
    return header;
  });
  return await asker.ask({ side: 'both', path, read }, stop);
}

/** @throws NodeError, while iterating, like `getHashes` */
export async function* getHeaders(asker: Asker, part: Part, stop: AbortSignal): AsyncGenerator<BlockHeader, void> {
  const { chain, range } = part;
  const wanted = { chain, range, versionCode: versionCodeOf(asker.network) };
  const item = (value: ExactJson) => headerOf(value, wanted);
  yield* itemsOf(asker, { side: 'both', pageSize: HEADERS_A_PAGE, item, ...requestFor('header', part) }, stop);
}

/**
 * The version code of a network. If pickaxe does not know the network, the code is read from a binary header of the
 * node.
 */
export class VersionCode {
  readonly #asker: Asker;
  #known: number | undefined;

  /** @param code the version code, for a network that pickaxe does not know. Default: the node is asked */
  constructor(asker: Asker, code?: number) {
    this.#asker = asker;
    this.#known = code ?? versionCodeOf(asker.network);
  }

  /** @returns the version code; undefined if it is unknown and the node serves no binary headers @throws NodeError */
  async get(chain: number, stop: AbortSignal): Promise<number | undefined> {
    this.#known ??= await this.#ask(chain, stop);
    return this.#known;
  }

  async #ask(chain: number, stop: AbortSignal): Promise<number | undefined> {
    const path = chainPath(chain, 'header') + query({ limit: 1 });
    const item = (value: ExactJson) => (typeof value === 'string' ? headerOf(value, { chain }).version : undefined);
    try {
      const { items } = await this.#asker.ask({ side: 'both', path, read: json(pageOf(item)) }, stop);
      return items[0];
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'not found') return undefined;
      throw error;
    }
  }
}

interface Wanted {
  readonly chain: number;
  readonly range?: HeightRange;
  readonly versionCode?: number | undefined;
}

/** @param value a header, in base64url or as JSON @throws LedgerFormatError if the header is malformed or not wanted */
export function headerOf(value: ExactJson, { chain, range = {}, versionCode }: Wanted): BlockHeader {
  const header = typeof value === 'string' ? parseHeader(decodeBase64url(value)) : headerFromJson(value, versionCode);
  const { version, height } = header;
  if (versionCode !== undefined && version !== versionCode) {
    throw new LedgerFormatError(`header: is one of ${networkOf(version)}, not of ${networkOf(versionCode)}`);
  }
  if (header.chain !== chain) throw new LedgerFormatError(`header: is one of chain ${header.chain}, not of ${chain}`);
  if (!isInRange(height, range)) throw new LedgerFormatError(`header: is of height ${height}, which was not asked for`);
  return header;
}

/* Cuts. */

export interface CutQuery {
  /**
   * The wanted height of the cut. The height of a cut is the sum of the heights of its blocks. Real nodes return a cut
   * of about the wanted height.
   */
  readonly maxHeight?: number | bigint;
}

/** @throws NodeError: `other network` if the cut names a network other than the client's */
export async function getCut(asker: Asker, { maxHeight }: CutQuery, stop: AbortSignal): Promise<Cut> {
  const path = `cut${query({ maxheight: maxHeight })}`;
  const cut = await asker.ask({ side: 'both', path, read: json(cutFromJson) }, stop);
  checkNetwork(asker, cut);
  return cut;
}

/** Rejects a cut of another network. A wrong path at a gateway, for example, can lead to a node of another network. */
function checkNetwork(asker: Asker, { network }: Cut): void {
  if (network === undefined || asker.network === '' || network === asker.network) return;
  const message = `${asker.name} serves the network ${quote(network)}, not ${asker.network}: check the network or the node URL.`;
  throw new NodeError('other network', message, { network });
}

/**
 * @param cut must have an origin, which must be a peer of the receiving node
 * @throws NodeError: `unauthorized` if the origin is not a peer. RangeError for a cut without an origin
 */
export async function putCut(asker: Asker, cut: Cut, stop: AbortSignal): Promise<void> {
  if (!cut.origin) throw new RangeError('a cut that is published must name its origin, the node that has its blocks');
  const body = stringifyExactJson(cutToJson(cut));
  await asker.ask({ side: 'p2p', method: 'PUT', path: 'cut', body, read: nothing }, stop);
}
