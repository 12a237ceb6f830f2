/**
 * Headers of blocks, as real nodes serve them; the documents show headers only within whole blocks. They come in binary, in
 * base64url, which has every field; JSON objects are read, too.
 */

import { decodeBase64url, encodeBase64url } from '../../ledger/base64url.ts';
import { LedgerFormatError } from '../../ledger/errors.ts';
import type { ExactJson } from '../../ledger/exact-json.ts';
import { type BlockHeader, checkBlockHash, parseHeader } from '../../ledger/header.ts';
import { headerFromJson } from '../../ledger/header-json.ts';
import { networkOf, versionCodeOf } from '../../ledger/version-codes.ts';
import { ApiError } from './api-error.ts';
import { type Asker, json } from './ask.ts';
import { type BranchPart, branchRequest } from './branch.ts';
import { itemsOf, pageOf } from './pages.ts';
import { chainPath, type HeightRange, heights, isInRange, query } from './paths.ts';

/** Real nodes give at most 360, and 20 on the P2P port. */
const PAGE_SIZE = 360;

/** @param hash the block's, 32 bytes @throws ApiError: `not found`, with the hash as its key */
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

/** All headers, orphans' too, in ascending order. @throws ApiError, while iterating */
export async function* getHeaders(asker: Asker, chain: number, range: HeightRange, stop: AbortSignal) {
  const path = chainPath(chain, 'header');
  const wanted = { chain, range, versionCode: versionCodeOf(asker.network) };
  const item = (value: ExactJson) => headerOf(value, wanted);
  const blocks = { whole: path, bounds: [] };
  yield* itemsOf(asker, { side: 'both', path, pageSize: PAGE_SIZE, item, blocks, ...heights(range) }, stop);
}

/** The headers of a branch, in descending order. @throws ApiError, while iterating, as `getHashBranch` */
export async function* getHeaderBranch(asker: Asker, part: BranchPart, stop: AbortSignal) {
  const request = branchRequest('header', part);
  const { chain, range } = part;
  const wanted = { chain, range, versionCode: versionCodeOf(asker.network) };
  const item = (value: ExactJson) => headerOf(value, wanted);
  const collection = { ...request, side: 'both', pageSize: PAGE_SIZE, item } as const;
  yield* itemsOf(asker, collection, stop);
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
   * @throws ApiError
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
      if (error instanceof ApiError && error.kind === 'not found') return undefined;
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
