/** Payloads (document 1, "Payloads"), and their binary form, which real nodes also send. */

import { z } from 'zod';
import { opaqueId } from '../../../protocol/ledger/fields.ts';
import {
  type Payload,
  type PayloadRoots,
  type PayloadWithOutputs,
  payloadToJson,
  payloadWithOutputsToJson,
} from '../../../protocol/ledger/payload.ts';
import {
  type Asked,
  answeredPayload,
  CHAIN,
  isHash,
  JSON_TYPE,
  keyNotFound,
  type Message,
  naturalFrom,
  OCTETS,
  parsedBody,
  preferred,
  type Route,
} from '../route.ts';

/*
 * Binary payloads. The length of a text precedes the text, and the number of items precedes a list: each in 8 bytes,
 * big-endian.
 */

function payloadBytes(payload: Payload): Uint8Array {
  const { transactions, minerData } = payload;
  return Buffer.concat([count(transactions.length), ...transactions.map(text), text(minerData), roots(payload)]);
}

function payloadWithOutputsBytes(payload: PayloadWithOutputs): Uint8Array {
  const { transactions, outputs, minerData, coinbase } = payload;
  const pairs = transactions.flatMap((each, i) => [text(each), text(outputs[i])]);
  return Buffer.concat([count(transactions.length), ...pairs, text(minerData), text(coinbase), roots(payload)]);
}

/** @param items in binary form */
function listBytes(items: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([count(items.length), ...items]);
}

function text(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([count(bytes.length), bytes]);
}

function count(items: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(items));
  return bytes;
}

/** The order of the hashes differs from that in JSON. */
function roots({ payloadHash, transactionsHash, outputsHash }: PayloadRoots): Uint8Array {
  return Buffer.concat([payloadHash, transactionsHash, outputsHash]);
}

/** Maximum number of hashes in a request. Further hashes are ignored. */
export const BATCH_LIMIT = 1000;

const HASH = '(?<hash>[\\w-]+)';
const GIVES = [JSON_TYPE, OCTETS];

/** Real nodes also accept a bare list of hashes. */
const Batch = z.union([
  z.object({ hashes: z.array(opaqueId), heights: z.array(z.number().int().min(0)) }),
  z.array(opaqueId),
]);

/** The functions that write a payload without outputs, or with outputs. */
interface Form {
  readonly json: typeof payloadWithOutputsToJson;
  readonly bytes: typeof payloadWithOutputsBytes;
}

const BARE: Form = { json: payloadToJson, bytes: payloadBytes };
const WITH_OUTPUTS: Form = { json: payloadWithOutputsToJson, bytes: payloadWithOutputsBytes };

export const payloadRoutes: readonly Route[] = [
  batchRoute('/payload/batch', BARE),
  batchRoute('/payload/outputs/batch', WITH_OUTPUTS),
  singleRoute(`/payload/${HASH}`, BARE),
  singleRoute(`/payload/${HASH}/outputs`, WITH_OUTPUTS),
];

function batchRoute(path: string, form: Form): Route {
  return {
    endpoint: 'payload',
    method: 'POST',
    path: new RegExp(`^${CHAIN}${path}$`),
    takes: JSON_TYPE,
    gives: GIVES,
    answer: (asked) => batch(asked, form),
  };
}

function singleRoute(path: string, form: Form): Route {
  return {
    endpoint: 'payload',
    method: 'GET',
    path: new RegExp(`^${CHAIN}${path}$`),
    gives: GIVES,
    answer: (asked) => one(asked, form),
  };
}

/** A valid height in the query has no effect. Real nodes use it only to search faster. */
function one(asked: Asked, { json, bytes }: Form): Message {
  const { params, query, fault } = asked;
  if (!isHash(params.hash)) return { status: 400, text: 'a payload hash is 43 characters of base64url' };
  if (naturalFrom(query.get('height') ?? '0') === undefined) return { status: 400, text: 'height is an integer >= 0' };
  const payload = fault?.kind === 'missing-payload' ? undefined : find(asked, params.hash);
  if (!payload) return keyNotFound(params.hash);
  const answered = answeredPayload(payload, fault);
  return isBinary(asked) ? { status: 200, bytes: bytes(answered) } : { status: 200, json: json(answered) };
}

function batch(asked: Asked, { json, bytes }: Form): Message {
  const { backend, fault, body } = asked;
  if (backend.side === 'p2p') return { status: 404, json: 'payload batch limit is 0' };
  const read = parsedBody(Batch, body, '{"hashes": [hashes], "heights": [integers]}');
  if ('status' in read) return read;
  const found = wantedHashes(read.value).flatMap((hash) => find(asked, hash) ?? []);
  // With the fault `missing-payload` only the first payload is missing, so that a client must notice which one.
  const served = fault?.kind === 'missing-payload' ? found.slice(1) : found;
  if (served.length === 0 && backend.settings.strict) return { status: 404, text: 'no payloads matched' };
  const answered = served.map((payload) => answeredPayload(payload, fault));
  return isBinary(asked)
    ? { status: 200, bytes: listBytes(answered.map(bytes)) }
    : { status: 200, json: answered.map(json) };
}

/** @returns the hashes of the wanted payloads. A hash without a height is ignored, unless the body is a bare list */
function wantedHashes(asked: z.output<typeof Batch>): readonly string[] {
  const hashes = Array.isArray(asked) ? asked : asked.hashes.slice(0, asked.heights.length);
  return hashes.slice(0, BATCH_LIMIT);
}

function isBinary({ accept }: Asked): boolean {
  return preferred(accept, GIVES) === OCTETS;
}

function find({ backend, chain }: Asked, hash: string): PayloadWithOutputs | undefined {
  return backend.ledger.chains.blocksOf(chain).payload(hash);
}
