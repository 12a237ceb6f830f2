/** Payloads (document 1, "Payloads"). */

import { z } from 'zod';
import type { PayloadWithOutputs } from '../../../ledger/payload.ts';
import type { Message } from '../answer.ts';
import { payloadJson } from '../payload-json.ts';
import { type Asked, CHAIN, JSON_TYPE, keyNotFound, type Route } from '../route.ts';

/** The most payloads of one answer; what is asked for beyond it is left out. */
export const BATCH_LIMIT = 1000;

const HASH = '(?<hash>[\\w-]+)';
const Batch = z.union([
  z.object({ hashes: z.array(z.string()), heights: z.array(z.number().int().min(0)).optional() }),
  z.array(z.string()),
]);

export const payloadRoutes: readonly Route[] = [
  batchRoute('/payload/batch', false),
  batchRoute('/payload/outputs/batch', true),
  {
    endpoint: 'payload',
    method: 'GET',
    path: new RegExp(`^${CHAIN}/payload/${HASH}$`),
    gives: [JSON_TYPE],
    answer: (asked) => one(asked, false),
  },
  {
    endpoint: 'payload',
    method: 'GET',
    path: new RegExp(`^${CHAIN}/payload/${HASH}/outputs$`),
    gives: [JSON_TYPE],
    answer: (asked) => one(asked, true),
  },
];

function batchRoute(path: string, outputs: boolean): Route {
  return {
    endpoint: 'payload',
    method: 'POST',
    path: new RegExp(`^${CHAIN}${path}$`),
    takes: JSON_TYPE,
    gives: [JSON_TYPE],
    answer: (asked) => batch(asked, outputs),
  };
}

function one(asked: Asked, outputs: boolean): Message {
  const { hash } = asked.params;
  const payload = asked.fault?.kind === 'missing-payload' ? undefined : find(asked, hash);
  return payload ? { status: 200, json: payloadJson(payload, outputs, asked.fault) } : keyNotFound(hash);
}

function batch(asked: Asked, outputs: boolean): Message {
  const { backend, fault } = asked;
  if (backend.side === 'p2p') return { status: 404, text: 'payload batch limit is 0' };
  const hashes = readBatch(asked.body);
  if (!hashes) return { status: 400, text: 'Error in $: the body is {"hashes": [hashes], "heights": [integers]}' };
  const found = hashes.slice(0, BATCH_LIMIT).flatMap((hash) => find(asked, hash) ?? []);
  // Only the first one is missing, so that a client must notice which.
  const told = fault?.kind === 'missing-payload' ? found.slice(1) : found;
  if (told.length === 0 && backend.settings.strict) return { status: 404, text: 'no payloads matched' };
  return { status: 200, json: told.map((payload) => payloadJson(payload, outputs, fault)) };
}

/** @returns the hashes that are looked for: with heights, as many as there are of both */
function readBatch(body: Buffer): string[] | undefined {
  try {
    const batch = Batch.parse(JSON.parse(body.toString()));
    if (Array.isArray(batch)) return batch;
    return batch.heights ? batch.hashes.slice(0, batch.heights.length) : batch.hashes;
  } catch {
    return undefined;
  }
}

function find({ backend, chain }: Asked, hash: string): PayloadWithOutputs | undefined {
  return backend.ledger.chains.blocksOf(chain).payload(hash);
}
