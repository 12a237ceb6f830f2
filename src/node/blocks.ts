/**
 * Whole blocks (document 1, "Whole blocks"). Each is proven: the header hashes to its block hash, and the payload to
 * the header's payload hash.
 */

import { z } from 'zod';
import { type Cut, cutFromJson, cutToJson } from '../ledger/cut.ts';
import { checked } from '../ledger/fields.ts';
import {
  type BlockHeader,
  checkBlockHash,
  headerFromJson,
  networkOf,
  parseHeader,
  versionCodeOf,
} from '../ledger/header.ts';
import {
  decodeBase64url,
  type ExactJson,
  encodeBase64url,
  LedgerFormatError,
  stringifyExactJson,
} from '../ledger/json.ts';
import { HASH_BYTES } from '../ledger/merkle.ts';
import { type PayloadWithOutputs, type Proven, payloadWithOutputsFromJson, provePayload } from '../ledger/payload.ts';
import { NodeError, quote } from './errors.ts';
import { itemsOf, pageOf } from './pages.ts';
import { type Asker, chainPath, type HeightRange, heights, isInRange, json, nothing, query } from './request.ts';

export interface Block {
  readonly header: BlockHeader;
  readonly payload: Proven<PayloadWithOutputs>;
}

/** Real nodes give at most 360; that many full ones would be an answer of many megabytes. */
const BLOCKS_A_PAGE = 50;

const BlockObject = z.object({ header: z.custom<ExactJson>(), payloadWithOutputs: z.custom<ExactJson>() });

/** Whole blocks. @throws NodeError, while iterating */
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

/** @returns a function that throws a LedgerFormatError for what is not a block that was asked for */
export function blockReader(wanted: Wanted): (json: ExactJson) => Block {
  return (json) => {
    const block = checked(BlockObject, json, 'block');
    const header = headerOf(block.header, wanted);
    const payload = provePayload(payloadWithOutputsFromJson(block.payloadWithOutputs), header.payloadHash);
    return { header, payload };
  };
}

/* Which blocks are asked for: all of a chain, or the ancestors of some (document 1, "Whole blocks", "Block hashes"). */

/** Bounds of a branch, all hashes of blocks of its chain, 32 bytes each. Real nodes take at most 32 of either. */
export interface BranchBounds {
  /** Only these blocks and their ancestors are in the branch. */
  readonly upper: readonly Uint8Array[];
  /** These blocks and their ancestors are not. */
  readonly lower?: readonly Uint8Array[];
}

interface Part {
  readonly chain: number;
  /** Those of a branch, in descending order. Without bounds all blocks are meant, orphans too, in ascending order. */
  readonly bounds?: BranchBounds;
  readonly range: HeightRange;
}

/**
 * @param what what the answer is a list of, as in the path
 * @returns the request, and which bounds must exist: real nodes ignore lower bounds that they do not know
 */
function requestFor(what: 'block' | 'hash' | 'header', { chain, bounds, range }: Part) {
  const whole = chainPath(chain, what);
  if (!bounds) return { path: whole, ...heights(range), blocks: { whole, bounds: [] } };
  const [upper, lower] = [bounds.upper, bounds.lower ?? []].map((hashes) => hashes.map(encodeBase64url));
  return {
    method: 'POST',
    path: `${whole}/branch`,
    ...heights(range),
    body: stringifyExactJson({ lower, upper }),
    blocks: { whole, bounds: [...upper, ...lower] },
  } as const;
}

/** Real nodes give at most 4096. */
const HASHES_A_PAGE = 4096;

/**
 * Hashes of blocks, 32 bytes each.
 * @throws NodeError, while iterating: `not found` for an upper bound that the node does not know, with the bound as its
 *   key
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
 * Headers of blocks, as real nodes serve them; the documents show headers only within whole blocks. They come in
 * binary, in base64url, which has every field; JSON objects are read, too.
 */

/** Real nodes give at most 360, and 20 on the P2P port. */
const HEADERS_A_PAGE = 360;

/** @param hash the block's, 32 bytes @throws NodeError: `not found`, with the hash as its key */
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

/** Headers of blocks. @throws NodeError, while iterating, as `getHashes` */
export async function* getHeaders(asker: Asker, part: Part, stop: AbortSignal): AsyncGenerator<BlockHeader, void> {
  const { chain, range } = part;
  const wanted = { chain, range, versionCode: versionCodeOf(asker.network) };
  const item = (value: ExactJson) => headerOf(value, wanted);
  yield* itemsOf(asker, { side: 'both', pageSize: HEADERS_A_PAGE, item, ...requestFor('header', part) }, stop);
}

/** Finds out the number of a network, which headers in JSON leave out. */
export class VersionCode {
  readonly #asker: Asker;
  #known: number | undefined;

  /** @param code of a network whose number is not known, if somebody knows it */
  constructor(asker: Asker, code?: number) {
    this.#asker = asker;
    this.#known = code ?? versionCodeOf(asker.network);
  }

  /**
   * @param chain any chain of the network
   * @returns undefined when the number is not known and the node serves no binary headers
   * @throws NodeError
   */
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

/** What a header must be to be one that was asked for. */
export interface Wanted {
  readonly chain: number;
  readonly range?: HeightRange;
  /** The number of the network, where it is known. */
  readonly versionCode?: number | undefined;
}

/**
 * @param value base64url of the binary form, or the object form
 * @throws LedgerFormatError for all else, and for a header that was not asked for.
 */
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

/* The node's state of the ledger, and publishing one to it (document 1, "Cut"). */

export interface CutQuery {
  /** The height of the cut, which is the sum of its heads' heights; real nodes come near it. */
  readonly maxHeight?: number | bigint;
}

/** @throws NodeError: `other network` when the cut names another one than that of the client, if that is known */
export async function getCut(asker: Asker, { maxHeight }: CutQuery, stop: AbortSignal): Promise<Cut> {
  const path = `cut${query({ maxheight: maxHeight })}`;
  const cut = await asker.ask({ side: 'both', path, read: json(cutFromJson) }, stop);
  checkNetwork(asker, cut);
  return cut;
}

/** A path, of a gateway for instance, may lead to any network. */
function checkNetwork(asker: Asker, { network }: Cut): void {
  if (network === undefined || asker.network === '' || network === asker.network) return;
  const message = `${asker.name} serves the network ${quote(network)}, not ${asker.network}: check the network or the node URL.`;
  throw new NodeError('other network', message, { network });
}

/**
 * @param cut with an origin, the node at which the blocks can be had. The node that it is sent to must be a peer of it
 * @throws NodeError: `unauthorized` when it is no peer. RangeError for a cut without origin
 */
export async function putCut(asker: Asker, cut: Cut, stop: AbortSignal): Promise<void> {
  if (!cut.origin) throw new RangeError('a cut that is published must name its origin, the node that has its blocks');
  const body = stringifyExactJson(cutToJson(cut));
  await asker.ask({ side: 'p2p', method: 'PUT', path: 'cut', body, read: nothing }, stop);
}
