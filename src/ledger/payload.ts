/**
 * Payloads (document 1, "Payload"): what a block contains. Its header holds the payload hash, a Merkle root, so a
 * payload proves itself against a header: also what a miner earned, against the header that the miner has solved.
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

/** The three roots, 32 bytes each. */
export interface PayloadRoots {
  /** Over the miner's data and the transactions. */
  readonly transactionsHash: Uint8Array;
  /** Over the coinbase's output and the transactions' outputs. */
  readonly outputsHash: Uint8Array;
  /** Over the other two: what the header holds. */
  readonly payloadHash: Uint8Array;
}

/** All bytes are JSON in UTF-8. */
export interface Payload extends PayloadRoots {
  /** The signed commands, in the order in which they ran. */
  readonly transactions: readonly Uint8Array[];
  readonly minerData: Uint8Array;
}

export interface PayloadWithOutputs extends Payload {
  /** One for each transaction. */
  readonly outputs: readonly Uint8Array[];
  readonly coinbase: Uint8Array;
}

declare const proven: unique symbol;

/** A payload whose content hashes to its roots, and these to `payloadHash`. Only `provePayload` makes one. */
export type Proven<T extends Payload> = T & { readonly [proven]: true };

/** What roots are computed from. */
export type PayloadContent = Omit<PayloadWithOutputs, keyof PayloadRoots>;

/** The tags of the leaves of the trees whose roots are the transactions' and the outputs' hash. */
export const PAYLOAD_TAG = { transaction: 0x13, output: 0x14, minerData: 0x17, coinbase: 0x18 } as const;

const ROOTS = { transactionsHash: hash, outputsHash: hash, payloadHash: hash, minerData: bytes };
const PayloadObject = z.object({ ...ROOTS, transactions: z.array(bytes) });
const PayloadWithOutputsObject = z.object({
  ...ROOTS,
  transactions: z.array(z.tuple([bytes, bytes])),
  coinbase: bytes,
});

/** @throws LedgerFormatError for a field that is missing or wrong. `provePayload` checks the roots. */
export function payloadFromJson(json: ExactJson): Payload {
  return checked(PayloadObject, json, 'payload');
}

/** @throws LedgerFormatError for a field that is missing or wrong. `provePayload` checks the roots. */
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
 * Proves that a payload is a block's: that its content hashes to its roots, and these to the header's payload hash.
 * @param payloadHash the one in the block's header
 * @throws LedgerFormatError that names the first root that is not right. For a payload without outputs, the root of the
 *   outputs is taken as it is.
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
  checkPayloadHash(payload, payloadHash);
  return payload as Proven<T>;
}

/** @throws LedgerFormatError unless the payload says that it has this hash, that of the block's header */
export function checkPayloadHash(payload: Payload, payloadHash: Uint8Array): void {
  same('payloadHash', payload.payloadHash, payloadHash, "the block's header has");
}

function transactionsRoot({ minerData, transactions }: Pick<Payload, 'minerData' | 'transactions'>): Uint8Array {
  return merkleRoot([
    leafHash(PAYLOAD_TAG.minerData, minerData),
    ...transactions.map((each) => leafHash(PAYLOAD_TAG.transaction, each)),
  ]);
}

/**
 * @returns the hashes of the leaves of the tree whose root is the outputs' hash: the coinbase's, and one for each
 *   output
 */
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

function same(name: string, said: Uint8Array, computed: Uint8Array, source: string): void {
  if (equalBytes(said, computed)) return;
  throw new LedgerFormatError(
    `payload: ${name} is ${encodeBase64url(said)}, but ${source} ${encodeBase64url(computed)}`,
  );
}

/* What a payload says about its miner, and the coinbase: the output that pays the miner. */

/** Document 1, "Miner information". */
export interface Miner {
  readonly account: string;
  /** Most often `keys-all`. */
  readonly predicate: string;
  readonly publicKeys: readonly string[];
}

export interface Coinbase {
  /**
   * `failed` when the miner was not paid, for example because the account has other keys; `none` in a chain's first
   * block.
   */
  readonly outcome: 'paid' | 'failed' | 'none';
  /** The hash of the block's parent on the same chain, 32 bytes; something else if the outcome is `none`. */
  readonly parent: Uint8Array;
  /** The coins that moved; undefined in old blocks, whose outputs have no events. */
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

/** The result of the first block of a chain. */
const NO_COINBASE = 'NO_COINBASE';

/** @param minerData JSON in UTF-8 @throws LedgerFormatError for all else. */
export function parseMiner(minerData: Uint8Array): Miner {
  const { account, predicate, ...it } = checked(MinerObject, parseExactJsonBytes(minerData), 'minerData');
  return { account, predicate, publicKeys: it['public-keys'] };
}

/**
 * @param coinbase JSON in UTF-8
 * @param token the module that keeps the coins
 * @throws LedgerFormatError for all else.
 */
export function parseCoinbase(coinbase: Uint8Array, token: string = COIN): Coinbase {
  const json = parseExactJsonBytes(coinbase);
  const { reqKey, result } = checked(CoinbaseObject, json, 'coinbase');
  const outcome = result.data === NO_COINBASE ? 'none' : result.status === 'success' ? 'paid' : 'failed';
  return { outcome, parent: parentOf(reqKey), transfers: transfersOf(json, token) };
}

/** The request key holds the parent's hash: in old blocks as a JSON string, later as text, or as it is. */
function parentOf(reqKey: Uint8Array): Uint8Array {
  if (reqKey.length === HASH_BYTES) return reqKey;
  const text = Buffer.from(reqKey).toString('latin1');
  try {
    return decodeBase64url(text.replace(/^"(.*)"$/, '$1'), HASH_BYTES);
  } catch {
    throw new LedgerFormatError(`coinbase.reqKey: ${quoted(text)} is not the hash of a block`);
  }
}

/* The coins that an output says have moved: the event TRANSFER of the module that keeps the coins. */

/** The module that keeps the coins, on the networks that are known. */
export const COIN = 'coin';

export interface Transfer {
  /** Empty when the coins are new: a block's reward, or what arrives from another chain. */
  readonly sender: string;
  /** Empty when the coins leave for another chain. */
  readonly receiver: string;
  readonly amount: Decimal;
}

const ModuleName = z.union([z.string(), z.object({ namespace: z.string().nullish(), name: z.string() })]);
const Event = z.object({ name: z.string(), module: ModuleName, params: z.custom<ExactJson>(Array.isArray) });
const Output = z.object({ events: z.array(Event).nullish() });
const Params = z.tuple([z.string(), z.string(), reading(z.custom<ExactJson>(), decimalOf)]);

/**
 * @param output the JSON of a coinbase or of a transaction's output
 * @param token the module that keeps the coins, with its namespace if it has one: `coin`
 * @returns the transfers in their order; undefined when the output has no events, as in old blocks
 * @throws LedgerFormatError when the events are not what they must be.
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
