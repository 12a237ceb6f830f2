/**
 * Payloads (document 1, "Payload"): what a block contains. Its header holds the payload hash, a Merkle root, so a
 * payload proves itself against a header: also what a miner earned, against the header that the miner has solved.
 */

import { z } from 'zod';
import { equalBytes } from '../chain/bytes.ts';
import { encodeBase64url } from './base64url.ts';
import { LedgerFormatError } from './errors.ts';
import type { ExactJson, ExactJsonObject } from './exact-json.ts';
import { bytes, checked, hash } from './fields.ts';
import { leafHash, merkleRoot } from './merkle.ts';

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

/** @throws LedgerFormatError for a field that is missing or wrong. `checkPayload` checks the roots. */
export function payloadFromJson(json: ExactJson): Payload {
  return checked(PayloadObject, json, 'payload');
}

/** @throws LedgerFormatError for a field that is missing or wrong. `checkPayload` checks the roots. */
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
 * @throws LedgerFormatError that names the first root that is not right. The outputs of a payload without them are not
 * looked at.
 */
export function checkPayload(payload: Payload | PayloadWithOutputs, payloadHash: Uint8Array): void {
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
}

function transactionsRoot({ minerData, transactions }: Pick<Payload, 'minerData' | 'transactions'>): Uint8Array {
  return merkleRoot([
    leafHash(PAYLOAD_TAG.minerData, minerData),
    ...transactions.map((each) => leafHash(PAYLOAD_TAG.transaction, each)),
  ]);
}

/** @returns the hashes of the leaves of the tree whose root is the outputs' hash: the coinbase's, and one for each output */
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
