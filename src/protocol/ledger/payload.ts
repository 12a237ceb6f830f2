/**
 * Payloads (document 1, "Payload"): the content of blocks. The payload hash in a header is the Merkle root of the
 * block's payload. So the header proves the payload, including the earnings of the miner.
 */

import { z } from 'zod';
import { equalBytes } from '../chain/bytes.ts';
import { type Decimal, decimalOf } from './decimal.ts';
import { bytes, checked, hash, reading } from './fields.ts';
import {
  decodeBase64url,
  type ExactJson,
  type ExactJsonObject,
  encodeBase64url,
  LedgerFormatError,
  parseExactJsonBytes,
  quoted,
} from './json.ts';
import { HASH_BYTES, leafHash, merkleRoot } from './merkle.ts';

/** The Merkle roots of a payload, 32 bytes each. */
export interface PayloadRoots {
  /** The root over the miner's data and the transactions. */
  readonly transactionsHash: Uint8Array;
  /** The root over the coinbase's output and the transactions' outputs. */
  readonly outputsHash: Uint8Array;
  /** The root over `transactionsHash` and `outputsHash`. The header contains this root. */
  readonly payloadHash: Uint8Array;
}

/** The content of a block, without the outputs. The transactions and the miner's data are JSON in UTF-8. */
export interface Payload extends PayloadRoots {
  /** The signed commands, in the order in which they ran. */
  readonly transactions: readonly Uint8Array[];
  readonly minerData: Uint8Array;
}

export interface PayloadWithOutputs extends Payload {
  /** The output of each transaction, in the order of the transactions. */
  readonly outputs: readonly Uint8Array[];
  readonly coinbase: Uint8Array;
}

declare const proven: unique symbol;

/**
 * A payload whose content hashes to its roots, and whose roots are proven by the block's header. Only `provePayload`
 * makes a value of this type.
 */
export type Proven<T extends Payload> = T & { readonly [proven]: true };
/** All proven payloads. The type alone proves nothing, because a changed copy of a proven payload has the same type. */
const PROVEN = new WeakSet<Payload>();

export type PayloadContent = Omit<PayloadWithOutputs, keyof PayloadRoots>;

/** The tags of the leaves of the trees over transactions and outputs. */
export const PAYLOAD_TAG = { transaction: 0x13, output: 0x14, minerData: 0x17, coinbase: 0x18 } as const;

const ROOTS = { transactionsHash: hash, outputsHash: hash, payloadHash: hash, minerData: bytes };
const PayloadObject = z.object({ ...ROOTS, transactions: z.array(bytes) });
const PayloadWithOutputsObject = z.object({
  ...ROOTS,
  transactions: z.array(z.tuple([bytes, bytes])),
  coinbase: bytes,
});

/** Does not check the roots: see `provePayload`. @throws LedgerFormatError for a missing or wrong field */
export function payloadFromJson(json: ExactJson): Payload {
  return checked(PayloadObject, json, 'payload');
}

export function payloadWithOutputsFromJson(json: ExactJson): PayloadWithOutputs {
  const { transactions, ...rest } = checked(PayloadWithOutputsObject, json, 'payload');
  return {
    ...rest,
    transactions: transactions.map(([transaction]) => transaction),
    outputs: transactions.map(([, output]) => output),
  };
}

export function payloadToJson(payload: Payload): ExactJsonObject {
  return { ...rootsToJson(payload), transactions: payload.transactions.map(encodeBase64url) };
}

export function payloadWithOutputsToJson(payload: PayloadWithOutputs): ExactJsonObject {
  const { transactions, outputs, coinbase } = payload;
  return {
    ...rootsToJson(payload),
    transactions: transactions.map((each, i) => [encodeBase64url(each), encodeBase64url(outputs[i])]),
    coinbase: encodeBase64url(coinbase),
  };
}

/**
 * @param payloadHash the payload hash in the block's header
 * @throws LedgerFormatError if a root is wrong, or if the numbers of transactions and outputs differ. The message names
 *   the wrong root. The root of the outputs is checked only if the payload has outputs
 */
export function provePayload<T extends Payload>(payload: T | PayloadWithOutputs, payloadHash: Uint8Array): Proven<T> {
  const { transactionsHash, outputsHash } = payload;
  same('transactionsHash', transactionsHash, transactionsRoot(payload), 'the miner data and the transactions hash to');
  if ('coinbase' in payload) {
    if (payload.outputs.length !== payload.transactions.length) {
      throw new LedgerFormatError(`${payload.transactions.length} transactions have ${payload.outputs.length} outputs`);
    }
    same('outputsHash', outputsHash, merkleRoot(outputLeaves(payload)), 'the coinbase and the outputs hash to');
  }
  same('payloadHash', payload.payloadHash, merkleRoot([transactionsHash, outputsHash]), 'the other two roots hash to');
  same('payloadHash', payload.payloadHash, payloadHash, "the block's header has");
  PROVEN.add(payload);
  return payload as Proven<T>;
}

/** @throws LedgerFormatError if the payload is not proven, or is proven for another payload hash */
export function checkProven(payload: Payload, payloadHash: Uint8Array): void {
  if (!PROVEN.has(payload)) throw new LedgerFormatError('the payload was not proven by provePayload');
  same('payloadHash', payload.payloadHash, payloadHash, "the block's header has");
}

function transactionsRoot({ minerData, transactions }: Pick<Payload, 'minerData' | 'transactions'>): Uint8Array {
  return merkleRoot([
    leafHash(PAYLOAD_TAG.minerData, minerData),
    ...transactions.map((each) => leafHash(PAYLOAD_TAG.transaction, each)),
  ]);
}

/** @returns the leaf hashes of the tree over the outputs: first that of the coinbase, then those of the outputs */
export function outputLeaves({ coinbase, outputs }: Pick<PayloadContent, 'coinbase' | 'outputs'>): Uint8Array[] {
  return [leafHash(PAYLOAD_TAG.coinbase, coinbase), ...outputs.map((each) => leafHash(PAYLOAD_TAG.output, each))];
}

function rootsToJson(payload: Payload): ExactJsonObject {
  return {
    minerData: encodeBase64url(payload.minerData),
    transactionsHash: encodeBase64url(payload.transactionsHash),
    outputsHash: encodeBase64url(payload.outputsHash),
    payloadHash: encodeBase64url(payload.payloadHash),
  };
}

function same(name: string, claimed: Uint8Array, computed: Uint8Array, source: string): void {
  if (equalBytes(claimed, computed)) return;
  throw new LedgerFormatError(
    `payload: ${name} is ${encodeBase64url(claimed)}, but ${source} ${encodeBase64url(computed)}`,
  );
}

/* The miner, and the coinbase, which is the output that pays the miner. */

/** The account and the keys that a block pays (document 1, "Miner information"). */
export interface Miner {
  readonly account: string;
  /** The predicate of the keys, most often `keys-all`. */
  readonly predicate: string;
  readonly publicKeys: readonly string[];
}

export interface Coinbase {
  /**
   * `failed` if the miner was not paid, for example because the account has other keys. `none` in a chain's first
   * block, which pays nobody.
   */
  readonly outcome: 'paid' | 'failed' | 'none';
  /** The hash of the block's parent on the same chain, 32 bytes. Arbitrary if the outcome is `none`. */
  readonly parent: Uint8Array;
  /** The transfers of coins in the coinbase; undefined for old blocks, whose outputs have no events. */
  readonly transfers: readonly Transfer[] | undefined;
}

const MinerObject = z.object({
  account: z.string(),
  predicate: z.string(),
  'public-keys': z.array(z.string()),
});

const CoinbaseObject = z.object({
  reqKey: bytes,
  result: z.object({ status: z.enum(['success', 'failure']), data: z.custom<ExactJson>().optional() }),
});

const NO_COINBASE = 'NO_COINBASE';

/** @param minerData JSON in UTF-8 @throws LedgerFormatError for any other data */
export function parseMiner(minerData: Uint8Array): Miner {
  const { account, predicate, ...it } = checked(MinerObject, parseExactJsonBytes(minerData), 'minerData');
  return { account, predicate, publicKeys: it['public-keys'] };
}

/** @param coinbase JSON in UTF-8 @param token the module of the coins @throws LedgerFormatError for any other data */
export function parseCoinbase(coinbase: Uint8Array, token: string = COIN): Coinbase {
  const json = parseExactJsonBytes(coinbase);
  const { reqKey, result } = checked(CoinbaseObject, json, 'coinbase');
  const outcome = result.data === NO_COINBASE ? 'none' : result.status === 'success' ? 'paid' : 'failed';
  return { outcome, parent: parentOf(reqKey), transfers: transfersOf(json, token) };
}

/**
 * The request key of a coinbase contains the parent's hash: as a JSON string in old blocks, and in later blocks as text
 * without quotes, or as its 32 bytes.
 */
function parentOf(reqKey: Uint8Array): Uint8Array {
  if (reqKey.length === HASH_BYTES) return reqKey;
  const text = Buffer.from(reqKey).toString('latin1');
  try {
    return decodeBase64url(text.replace(/^"(.*)"$/, '$1'), HASH_BYTES);
  } catch {
    throw new LedgerFormatError(`coinbase.reqKey: ${quoted(text)} is not the hash of a block`);
  }
}

/* Transfers of coins. The module of the coins emits a TRANSFER event for each transfer. */

/** The module of the coins on known networks. */
export const COIN = 'coin';

interface Transfer {
  /** The account that pays. Empty if the coins are new, like a block's reward, or arrive from another chain. */
  readonly sender: string;
  /** The account that is paid. Empty if the coins leave for another chain. */
  readonly receiver: string;
  readonly amount: Decimal;
}

const ModuleName = z.union([z.string(), z.object({ namespace: z.string().nullish(), name: z.string() })]);
const Event = z.object({ name: z.string(), module: ModuleName, params: z.custom<ExactJson>(Array.isArray) });
const Output = z.object({ events: z.array(Event).nullish() });
const Params = z.tuple([z.string(), z.string(), reading(z.custom<ExactJson>(), decimalOf)]);

/**
 * @param output the JSON of a coinbase or of a transaction's output
 * @param token the module of the coins, with its namespace if it has one
 * @returns the transfers, in the order of their events; undefined if the output has no list of events, as in old blocks
 * @throws LedgerFormatError for malformed events
 */
export function transfersOf(output: ExactJson, token: string = COIN): Transfer[] | undefined {
  return checked(Output, output, 'output')
    .events?.filter(({ name, module }) => name === 'TRANSFER' && nameOf(module) === token)
    .map(({ params }) => {
      const [sender, receiver, amount] = checked(Params, params, 'TRANSFER');
      return { sender, receiver, amount };
    });
}

function nameOf(module: z.output<typeof ModuleName>): string {
  if (typeof module === 'string') return module;
  return module.namespace ? `${module.namespace}.${module.name}` : module.name;
}
