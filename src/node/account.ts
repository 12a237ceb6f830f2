/** Reads an account on every chain of a node's network. Nothing is signed, nothing is paid. */

import { setMaxListeners } from 'node:events';
import { buildCommand } from '../ledger/command/build.ts';
import { type AccountDetails, detailsOf, getBalance, getDetails, tokenBalanceOf } from '../ledger/command/coin.ts';
import type { Command } from '../ledger/command/command.ts';
import type { Message } from '../ledger/command/payload.ts';
import type { Outcome } from '../ledger/command/results.ts';
import type { Decimal } from '../ledger/decimal.ts';
import { LedgerFormatError } from '../ledger/json.ts';
import { NodeError } from './errors.ts';
import type { NodeApi } from './node-api.ts';

/** What is needed of a node's client. */
export type Reader = Pick<NodeApi, 'network' | 'skew' | 'latestTimeUs' | 'local'>;

interface AccountQuestion {
  readonly account: string;
  /** The token's module with its namespace, such as `coin`. */
  readonly module: string;
}

/** What was read on one chain, or why it was not. */
export type ChainReading<T> =
  | { readonly chain: number; readonly value: T }
  | { readonly chain: number; readonly error: NodeError | LedgerFormatError };

/** How many chains are asked at once. */
const AT_ONCE = 20;
/** Nodes refuse commands from the future, so they are dated a little back. In seconds. */
const DATED_BACK_S = 15;
/** In units of gas; a read needs far fewer, and nobody pays for them. */
const GAS_LIMIT = 10_000;
const GAS_PRICE: Decimal = 10_000n;
const TTL_S = 600;

/** @returns for each chain the balance, or undefined where the account does not exist (document 2, "/local") */
export function readTokenBalances(
  api: Reader,
  chains: Iterable<number>,
  question: AccountQuestion,
  stop?: AbortSignal,
) {
  const { account, module } = question;
  const balanceOf = (outcome: Outcome) => tokenBalanceOf(outcome, account, module);
  return readEach(api, chains, getBalance(module, account), balanceOf, stop);
}

/** @returns for each chain balance and guard, or undefined where the account does not exist */
export function readDetails(
  api: Reader,
  chains: Iterable<number>,
  { account, module }: AccountQuestion,
  stop?: AbortSignal,
): Promise<ChainReading<AccountDetails | undefined>[]> {
  return readEach(api, chains, getDetails(module, account), (outcome) => detailsOf(outcome, account), stop);
}

async function readEach<T>(
  api: Reader,
  chains: Iterable<number>,
  message: Message,
  read: (outcome: Outcome) => T,
  stop?: AbortSignal,
): Promise<ChainReading<T>[]> {
  if (stop) setMaxListeners(0, stop); // Each request under way has a listener.
  const readings: ChainReading<T>[] = [];
  // All who ask share this list, so that each chain is asked once.
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
  api: Reader,
  chain: number,
  message: Message,
  read: (outcome: Outcome) => T,
  stop?: AbortSignal,
): Promise<ChainReading<T>> {
  try {
    const { outcome } = await api.local(chain, commandOf(api, chain, message), {}, stop);
    return { chain, value: read(outcome) };
  } catch (error) {
    if (error instanceof NodeError || error instanceof LedgerFormatError) return { chain, error };
    throw error;
  }
}

function commandOf(api: Reader, chain: number, payload: Message): Command {
  // Behind some gateways, a node does not tell its time; a command that only reads may be of any age.
  const timeUs = api.skew ? api.latestTimeUs() : 0n;
  const creationTime = Math.max(0, Number(timeUs / 1_000_000n) - DATED_BACK_S);
  const meta = {
    chainId: `${chain}`,
    sender: '',
    gasLimit: GAS_LIMIT,
    gasPrice: GAS_PRICE,
    ttl: TTL_S,
    creationTime,
  };
  return buildCommand({ networkId: api.network, payload, signers: [], meta, nonce: 'pickaxe' }, []);
}
