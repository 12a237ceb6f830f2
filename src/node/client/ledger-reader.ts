/**
 * Reads the ledger of one node: heads, branches, hashes of blocks, payloads, and accounts. No request is signed or
 * costs coins.
 */

import { setMaxListeners } from 'node:events';
import { buildCommand } from '../../protocol/ledger/command/build.ts';
import {
  type AccountDetails,
  detailsOf,
  getBalance,
  getDetails,
  tokenBalanceOf,
} from '../../protocol/ledger/command/coin.ts';
import type { Message } from '../../protocol/ledger/command/command-payload.ts';
import type { LocalAnswer, Outcome } from '../../protocol/ledger/command/results.ts';
import type { Decimal } from '../../protocol/ledger/decimal.ts';
import { decodeBase64url, encodeBase64url, LedgerFormatError } from '../../protocol/ledger/json.ts';
import type { PayloadWithOutputs, Proven } from '../../protocol/ledger/payload.ts';
import { NodeError } from '../http/node-error.ts';
import type { LocalOptions } from './commands.ts';
import type { NodeApi } from './node-api.ts';

/** The newest block of a chain, as a node reports it. */
export interface LedgerHead {
  readonly height: bigint;
  /** The block hash: 43 characters of base64url. */
  readonly hash: string;
}

/**
 * Maximum number of blocks at one height, on average over the requested heights. If a node gives more blocks, the
 * request fails. Real chains seldom have two blocks at one height.
 */
const MOST_OF_ONE_HEIGHT = 10;

/** Implements the `LedgerView` of `node/blocks/`. Its methods throw NodeError. */
export class LedgerReader {
  readonly node: string;
  readonly network: string;
  readonly #api: Pick<NodeApi, 'cut' | 'hashBranch' | 'hashes' | 'payloadWithOutputs'>;

  constructor(api: Pick<NodeApi, 'network' | 'cut' | 'hashBranch' | 'hashes' | 'payloadWithOutputs'>, node: string) {
    this.node = node;
    this.network = api.network;
    this.#api = api;
  }

  async heads(stop: AbortSignal): Promise<ReadonlyMap<number, LedgerHead>> {
    const { heads } = await this.#api.cut({}, stop);
    return new Map([...heads].map(([chain, { height, hash }]) => [chain, { height, hash: encodeBase64url(hash) }]));
  }

  /**
   * @param upper the hash of a block at height `to` or above
   * @throws NodeError, also if the node leaves out an ancestor
   */
  async ancestors(
    chain: number,
    upper: string,
    from: bigint,
    to: bigint,
    stop: AbortSignal,
  ): Promise<ReadonlyMap<bigint, string>> {
    const bounds = { upper: [decodeBase64url(upper)] };
    const hashes = new Map<bigint, string>();
    // A branch with one upper bound has one block at each height, in descending order.
    let height = to;
    for await (const hash of this.#api.hashBranch(chain, bounds, { minHeight: from, maxHeight: to }, stop)) {
      hashes.set(height--, encodeBase64url(hash));
    }
    const expected = to - from + 1n;
    if (BigInt(hashes.size) === expected) return hashes;
    throw this.#fault(`gave ${hashes.size} ancestors of chain ${chain} where there must be ${expected}`);
  }

  async keptHashes(chain: number, from: bigint, to: bigint, stop: AbortSignal): Promise<ReadonlySet<string>> {
    const most = MOST_OF_ONE_HEIGHT * Number(to - from + 1n);
    const hashes = new Set<string>();
    for await (const hash of this.#api.hashes(chain, { minHeight: from, maxHeight: to }, stop)) {
      hashes.add(encodeBase64url(hash));
      if (hashes.size > most) throw this.#fault(`gave more than ${most} blocks of chain ${chain}`);
    }
    return hashes;
  }

  /**
   * @param payloadHash 32 bytes
   * @returns the payload; undefined if the node does not have it
   * @throws NodeError whose cause is a LedgerFormatError if the node's payload does not have that hash
   */
  async payloadWithOutputs(
    chain: number,
    payloadHash: Uint8Array,
    height: bigint,
    stop: AbortSignal,
  ): Promise<Proven<PayloadWithOutputs> | undefined> {
    try {
      return await this.#api.payloadWithOutputs(chain, payloadHash, { height }, stop);
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'not found') return undefined;
      throw error;
    }
  }

  #fault(what: string): NodeError {
    return new NodeError('not understood', `${this.node} ${what}`);
  }
}

/* Accounts. They are read with commands that cost nothing and change nothing. */

export type AccountReader = Pick<NodeApi, 'network' | 'skew' | 'latestTimeUs' | 'local'>;

interface AccountQuestion {
  readonly account: string;
  /** The name of the token's module, with its namespace if it has one. Example: `coin`. */
  readonly module: string;
}

export type ChainReading<T> =
  | { readonly chain: number; readonly value: T }
  | { readonly chain: number; readonly error: NodeError | LedgerFormatError };

/** Maximum number of requests in progress. */
const AT_ONCE = 20;
/** Commands are dated back by this number of seconds, because nodes refuse commands from the future. */
const DATED_BACK_S = 15;
/** The gas limit of each command, in units of gas. A read needs far less, and nobody pays for it. */
const GAS_LIMIT = 10_000;
const GAS_PRICE: Decimal = 10_000n;
const TTL_S = 600;

/** The value of a reading is undefined if the account does not exist on that chain (document 2, "/local"). */
export function readTokenBalances(
  api: AccountReader,
  chains: Iterable<number>,
  question: AccountQuestion,
  stop?: AbortSignal,
) {
  const { account, module } = question;
  const balanceOf = (outcome: Outcome) => tokenBalanceOf(outcome, account, module);
  return readEach(api, chains, getBalance(module, account), balanceOf, stop);
}

/** The value of a reading is undefined if the account does not exist on that chain. */
export function readDetails(
  api: AccountReader,
  chains: Iterable<number>,
  { account, module }: AccountQuestion,
  stop?: AbortSignal,
): Promise<ChainReading<AccountDetails | undefined>[]> {
  return readEach(api, chains, getDetails(module, account), (outcome) => detailsOf(outcome, account), stop);
}

async function readEach<T>(
  api: AccountReader,
  chains: Iterable<number>,
  message: Message,
  read: (outcome: Outcome) => T,
  stop?: AbortSignal,
): Promise<ChainReading<T>[]> {
  if (stop) setMaxListeners(0, stop); // Each request in progress has a listener.
  const readings: ChainReading<T>[] = [];
  // All loops take chains from this iterator, so each chain is queried once.
  const waiting = chains[Symbol.iterator]();
  const askOn = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      readings.push(await readOne(api, next.value, message, read, stop));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askOn));
  return readings.sort((a, b) => a.chain - b.chain);
}

async function readOne<T>(
  api: AccountReader,
  chain: number,
  message: Message,
  read: (outcome: Outcome) => T,
  stop?: AbortSignal,
): Promise<ChainReading<T>> {
  try {
    const { outcome } = await readLocal(api, api.network, chain, message, stop);
    return { chain, value: read(outcome) };
  } catch (error) {
    if (error instanceof NodeError || error instanceof LedgerFormatError) return { chain, error };
    throw error;
  }
}

/** Lets a node run a message without a signer, at the gas limit `gasLimit` (default: enough for reading an account). */
export function readLocal(
  api: AccountReader,
  networkId: string,
  chain: number,
  payload: Message,
  stop?: AbortSignal,
  { gasLimit = GAS_LIMIT, ...options }: LocalOptions & { readonly gasLimit?: number } = {},
): Promise<LocalAnswer> {
  // Behind some gateways, the time of the node is unknown. The creation time is then 0, because a command that only
  // reads may be of any age.
  const timeUs = api.skew ? api.latestTimeUs() : 0n;
  const creationTime = Math.max(0, Number(timeUs / 1_000_000n) - DATED_BACK_S);
  const cost = { sender: '', gasLimit, gasPrice: GAS_PRICE };
  const meta = { chainId: `${chain}`, ...cost, ttl: TTL_S, creationTime };
  return api.local(chain, buildCommand({ networkId, payload, signers: [], meta, nonce: 'pickaxe' }, []), options, stop);
}
