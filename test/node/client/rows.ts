/** Real data in the shapes in which nodes give it. */

import { type Dialect, headerToJson, parseHeader } from '#pickaxe/protocol/ledger/header.js';
import { decodeBase64url, parseExactJson, stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { branches, headers, payloads } from '../../protocol/ledger/vectors.ts';

/** The blocks of one chain, orphans too, by height. */
export const CHAIN = 2;
export const blocks = branches[CHAIN];

/** Whole blocks: payloads with their headers. */
export const wholeBlocks = payloads
  .filter(({ header }) => header !== undefined)
  .map(({ header, payloadWithOutputs }) => ({
    binary: header!,
    header: parseHeader(decodeBase64url(header!)),
    payload: payloadWithOutputs,
  }));

/** @returns JSON of a whole block, as the block endpoints give it */
export function blockJson({ header, payload }: (typeof wholeBlocks)[number], dialect: Dialect): string {
  const payloadText = JSON.stringify(payload);
  return `{"header":${stringifyExactJson(headerToJson(header, dialect))},"payloadWithOutputs":${payloadText}}`;
}

/** @returns a payload without outputs, as JSON */
export function bare(payload: (typeof wholeBlocks)[number]['payload']) {
  const { coinbase: _, transactions, ...rest } = payload;
  return { ...rest, transactions: transactions.map(([transaction]) => transaction) };
}

/** A header whose feature flags are beyond 2^53, as a node writes it. */
export const flagged = headers.find(({ featureFlags }) => BigInt(featureFlags) > 2n ** 53n)!;

/** A header of a network without a known number. */
export const unnamed = headers.find(({ network }) => network.startsWith('code '))!;

export const exact = (value: unknown) => parseExactJson(JSON.stringify(value));
