/**
 * Block headers as JSON objects (document 1, "Block header"), in the words of document 1 and in those of real nodes.
 */

import { z } from 'zod';
import { integerToTarget } from '../chain/target.ts';
import { encodeBase64url } from './base64url.ts';
import { LedgerFormatError, quoted } from './errors.ts';
import { type ExactJson, type ExactJsonObject, jsonInteger } from './exact-json.ts';
import { byChain, checked, hash, MAX_TIME_US, MAX_U64, natural, u32, u64Text, weight } from './fields.ts';
import { type BlockHeader, blockHash, checkBlockHash } from './header.ts';
import { networkOf, versionCodeOf } from './version-codes.ts';

/** Whose words are written; both are always read. */
export type Dialect = 'document' | 'chainweb';

const VERSION_KEY = { document: 'ledgerVersion', chainweb: 'chainwebVersion' } as const;

const HeaderObject = z
  .object({
    featureFlags: natural(MAX_U64),
    creationTime: natural(MAX_TIME_US),
    parent: hash,
    adjacents: byChain(hash),
    target: hash,
    payloadHash: hash,
    chainId: u32,
    weight,
    height: natural(MAX_U64),
    ledgerVersion: z.string().optional(),
    chainwebVersion: z.string().optional(),
    epochStart: natural(MAX_TIME_US),
    nonce: u64Text,
    hash,
  })
  .refine((it) => (it.ledgerVersion === undefined) !== (it.chainwebVersion === undefined), {
    error: 'must have either ledgerVersion or chainwebVersion',
  });

/**
 * @param json from `parseExactJson`: `JSON.parse` rounds the feature flags
 * @param versionCode the number of the network, for a network whose number is not known; other headers of it have that
 * number
 * @throws LedgerFormatError for a field that is missing or wrong, for a network whose number is neither known nor
 * given, and for a `hash` that is not the header's own.
 */
export function headerFromJson(json: ExactJson, versionCode?: number): BlockHeader {
  const it = checked(HeaderObject, json, 'header');
  const network = (it.ledgerVersion ?? it.chainwebVersion)!;
  const version = versionCodeOf(network) ?? versionCode;
  if (version === undefined) {
    throw new LedgerFormatError(
      `header: the number of the network ${quoted(network)} is not known. A binary header has it`,
    );
  }
  const header: BlockHeader = {
    featureFlags: it.featureFlags,
    creationTimeUs: it.creationTime,
    parent: it.parent,
    adjacents: it.adjacents.map(([chain, parent]) => ({ chain, hash: parent })),
    target: it.target,
    payloadHash: it.payloadHash,
    chain: it.chainId,
    weight: it.weight,
    height: it.height,
    version,
    epochStartUs: it.epochStart,
    nonce: it.nonce,
  };
  checkBlockHash(header, it.hash);
  return header;
}

/** @param network the network's id; by default the one that the header's number stands for */
export function headerToJson(
  header: BlockHeader,
  dialect: Dialect,
  network: string = networkOf(header.version),
): ExactJsonObject {
  return {
    nonce: String(header.nonce),
    creationTime: jsonInteger(header.creationTimeUs),
    parent: encodeBase64url(header.parent),
    adjacents: Object.fromEntries(header.adjacents.map((it) => [it.chain, encodeBase64url(it.hash)])),
    target: encodeBase64url(header.target),
    payloadHash: encodeBase64url(header.payloadHash),
    chainId: jsonInteger(header.chain),
    weight: encodeBase64url(integerToTarget(header.weight)),
    height: jsonInteger(header.height),
    [VERSION_KEY[dialect]]: network,
    epochStart: jsonInteger(header.epochStartUs),
    featureFlags: jsonInteger(header.featureFlags),
    hash: encodeBase64url(blockHash(header)),
  };
}
