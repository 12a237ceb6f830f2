/**
 * Block headers in binary and JSON, and their two hashes. All integers are little-endian:
 *
 * flags u64 · creation time i64 · parent 32 · number of adjacents u16 · adjacents (chain u32 · hash 32 each) ·
 * target 32 · payload hash 32 · chain u32 · weight 32 · height u64 · version u32 · epoch start i64 · nonce u64 ·
 * block hash 32 (absent in a miner's header)
 *
 * The adjacents are the parents on the neighbouring chains: 3 on networks of 10 and 20 chains (286 bytes, as in
 * document 1, "Mining work bytes"), 2 on a network of three chains (250 bytes), 0 on a network of one chain (178
 * bytes). The sizes are those of a miner's header.
 */

import { blake2s } from '@noble/hashes/blake2.js';
import { z } from 'zod';
import { equalBytes, toHex, viewOf } from '../chain/bytes.ts';
import { integerToTarget, meetsTarget, targetToInteger } from '../chain/target.ts';
import { byChain, checked, hash, MAX_TIME_US, MAX_U64, natural, u32, u64Text, weight } from './fields.ts';
import {
  type ExactJson,
  type ExactJsonObject,
  encodeBase64url,
  jsonInteger,
  LedgerFormatError,
  quoted,
} from './json.ts';
import { HASH_BYTES, leafHash, merkleRoot } from './merkle.ts';

export interface Adjacent {
  readonly chain: number;
  /** The block hash of the parent on this chain, 32 bytes. */
  readonly hash: Uint8Array;
}

/** A header without its block hash, which `blockHash` computes. */
export interface BlockHeader {
  /** u64. In some real headers it is not 0, and it can be above 2^53. */
  readonly featureFlags: bigint;
  /** i64: the creation time, in microseconds since the UNIX epoch. */
  readonly creationTimeUs: bigint;
  /** The hash of the parent on the same chain, 32 bytes. */
  readonly parent: Uint8Array;
  /** The parents on the neighbouring chains, in ascending order of chains. */
  readonly adjacents: readonly Adjacent[];
  /** The highest permitted proof-of-work hash: 32 bytes, little-endian. */
  readonly target: Uint8Array;
  /** The Merkle root of the block's payload, 32 bytes. */
  readonly payloadHash: Uint8Array;
  /** u32: the number of the block's chain. */
  readonly chain: number;
  /** 256 bits: the weight of the parent on the same chain, plus the difficulty of the block. */
  readonly weight: bigint;
  /** u64: the height of the parents, plus 1. */
  readonly height: bigint;
  /** u32: the number of the network (`networkOf`). */
  readonly version: number;
  /** i64: the time when the block's epoch begins (`nextEpoch`), in microseconds since the UNIX epoch. */
  readonly epochStartUs: bigint;
  /** u64: the number that miners search. */
  readonly nonce: bigint;
}

const COUNT_OFFSET = 48;
const ADJACENTS_OFFSET = 50;
const ADJACENT_BYTES = 36;
const LEAST_BYTES = 178;

/** Offsets of the fields that follow the adjacents, counted from the end of the adjacents. */
const AFTER = {
  target: 0,
  payloadHash: 32,
  chain: 64,
  weight: 68,
  height: 100,
  version: 108,
  epochStart: 112,
  nonce: 120,
} as const;

/** Indices in `blockLeaves` of the leaves that are hashes. `adjacents` is the index of the first adjacent. */
export const HEADER_LEAF = { parent: 2, payloadHash: 4, adjacents: 11 } as const;

/** The tags of the leaves that are not hashes. */
const TAG = {
  featureFlags: 0x06,
  creationTime: 0x07,
  target: 0x11,
  chain: 0x02,
  weight: 0x04,
  height: 0x03,
  version: 0x08,
  epochStart: 0x19,
  nonce: 0x20,
} as const;

/** @param adjacents number of adjacents @returns length of a header without its block hash, in bytes */
export function headerBytes(adjacents: number): number {
  return LEAST_BYTES + adjacents * ADJACENT_BYTES;
}

/**
 * @param bytes a header as miners get it, without its block hash, or as nodes store it, with its block hash
 * @throws LedgerFormatError if the length does not match the number of adjacents, if the adjacents do not ascend, or
 *   if the block hash does not match the header. The hash does not cover the chains of the adjacents: see
 *   `checkAdjacents`
 */
export function parseHeader(bytes: Uint8Array): BlockHeader {
  if (bytes.length < LEAST_BYTES) {
    throw new LedgerFormatError(`A header is at least ${LEAST_BYTES} bytes, not ${bytes.length}`);
  }
  const own = Uint8Array.from(bytes);
  const view = viewOf(own);
  const count = view.getUint16(COUNT_OFFSET, true);
  const length = headerBytes(count);
  if (own.length !== length && own.length !== length + HASH_BYTES) {
    throw new LedgerFormatError(
      `A header with ${count} adjacents is ${length} bytes, or ${length + HASH_BYTES} with its hash, not ${own.length}`,
    );
  }
  const hashAt = (offset: number) => own.subarray(offset, offset + HASH_BYTES);
  const adjacents = Array.from({ length: count }, (_, i) => {
    const offset = ADJACENTS_OFFSET + i * ADJACENT_BYTES;
    return { chain: view.getUint32(offset, true), hash: hashAt(offset + 4) };
  });
  const after = afterAdjacents(count);
  const header: BlockHeader = {
    featureFlags: view.getBigUint64(0, true),
    creationTimeUs: view.getBigInt64(8, true),
    parent: hashAt(16),
    adjacents: ascending(adjacents),
    target: hashAt(after + AFTER.target),
    payloadHash: hashAt(after + AFTER.payloadHash),
    chain: view.getUint32(after + AFTER.chain, true),
    weight: targetToInteger(hashAt(after + AFTER.weight)),
    height: view.getBigUint64(after + AFTER.height, true),
    version: view.getUint32(after + AFTER.version, true),
    epochStartUs: view.getBigInt64(after + AFTER.epochStart, true),
    nonce: view.getBigUint64(after + AFTER.nonce, true),
  };
  if (own.length > length) checkBlockHash(header, own.subarray(length));
  return header;
}

/** @returns 178 + 36n bytes for n adjacents @throws RangeError if a field does not fit into its bytes */
export function encodeHeader(header: BlockHeader): Uint8Array {
  const count = header.adjacents.length;
  const bytes = new Uint8Array(headerBytes(count));
  const view = viewOf(bytes);
  const after = afterAdjacents(count);
  view.setBigUint64(0, fits(header.featureFlags, BigInt.asUintN(64, header.featureFlags)), true);
  view.setBigInt64(8, fits(header.creationTimeUs, BigInt.asIntN(64, header.creationTimeUs)), true);
  bytes.set(checkedHash(header.parent), 16);
  view.setUint16(COUNT_OFFSET, fits(count, count & 0xffff), true);
  header.adjacents.forEach((adjacent, i) => {
    const offset = ADJACENTS_OFFSET + i * ADJACENT_BYTES;
    view.setUint32(offset, fits(adjacent.chain, adjacent.chain >>> 0), true);
    bytes.set(checkedHash(adjacent.hash), offset + 4);
  });
  bytes.set(checkedHash(header.target), after + AFTER.target);
  bytes.set(checkedHash(header.payloadHash), after + AFTER.payloadHash);
  view.setUint32(after + AFTER.chain, fits(header.chain, header.chain >>> 0), true);
  bytes.set(integerToTarget(header.weight), after + AFTER.weight);
  view.setBigUint64(after + AFTER.height, fits(header.height, BigInt.asUintN(64, header.height)), true);
  view.setUint32(after + AFTER.version, fits(header.version, header.version >>> 0), true);
  view.setBigInt64(after + AFTER.epochStart, fits(header.epochStartUs, BigInt.asIntN(64, header.epochStartUs)), true);
  view.setBigUint64(after + AFTER.nonce, fits(header.nonce, BigInt.asUintN(64, header.nonce)), true);
  return bytes;
}

/**
 * @returns the block hash, by which a block refers to its parents: a Merkle root, 32 bytes. It covers the hashes of the
 *   adjacents and their order, but not their chains
 */
export function blockHash(header: BlockHeader): Uint8Array {
  return merkleRoot(blockLeaves(header));
}

/** @returns the leaf hashes of the tree whose root is the block hash */
export function blockLeaves(header: BlockHeader): Uint8Array[] {
  const bytes = encodeHeader(header);
  const after = afterAdjacents(header.adjacents.length);
  const leaf = (tag: number, offset: number, length: number) => leafHash(tag, bytes.subarray(offset, offset + length));
  return [
    leaf(TAG.featureFlags, 0, 8),
    leaf(TAG.creationTime, 8, 8),
    header.parent,
    leaf(TAG.target, after + AFTER.target, 32),
    header.payloadHash,
    leaf(TAG.chain, after + AFTER.chain, 4),
    leaf(TAG.weight, after + AFTER.weight, 32),
    leaf(TAG.height, after + AFTER.height, 8),
    leaf(TAG.version, after + AFTER.version, 4),
    leaf(TAG.epochStart, after + AFTER.epochStart, 8),
    leaf(TAG.nonce, after + AFTER.nonce, 8),
    ...header.adjacents.map((adjacent) => adjacent.hash),
  ];
}

/** @returns blake2s-256 of the header's bytes without the block hash: 32 bytes, little-endian */
export function powHash(header: BlockHeader): Uint8Array {
  return blake2s(encodeHeader(header), { dkLen: HASH_BYTES });
}

/**
 * Checks the proof of work. Do not call this for the first block of a chain, which has no proof of work.
 * @throws LedgerFormatError if the proof-of-work hash is above the target
 */
export function checkWork(header: BlockHeader): void {
  const hash = powHash(header);
  if (meetsTarget(hash, header.target)) return;
  throw new LedgerFormatError(
    `The proof-of-work hash ${toHex(hash)} is above the target ${toHex(header.target)}, both little-endian`,
  );
}

/** @param expected 32 bytes @throws LedgerFormatError unless `expected` is the header's block hash */
export function checkBlockHash(header: BlockHeader, expected: Uint8Array): void {
  const actual = blockHash(header);
  if (equalBytes(actual, expected)) return;
  throw new LedgerFormatError(
    `The block hash is said to be ${encodeBase64url(expected)}, but the header hashes to ${encodeBase64url(actual)}`,
  );
}

function ascending(adjacents: readonly Adjacent[]): readonly Adjacent[] {
  const wrong = adjacents.findIndex(({ chain }, i) => i > 0 && chain <= adjacents[i - 1].chain);
  if (wrong < 0) return adjacents;
  throw new LedgerFormatError(
    `The adjacents are not in ascending order: ${adjacents.map(({ chain }) => chain).join(', ')}`,
  );
}

function afterAdjacents(count: number): number {
  return ADJACENTS_OFFSET + count * ADJACENT_BYTES;
}

function checkedHash(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== HASH_BYTES) throw new RangeError(`a hash is ${HASH_BYTES} bytes, not ${bytes.length}`);
  return bytes;
}

function fits<T extends bigint | number>(value: T, stored: T): T {
  if (value !== stored) throw new RangeError(`${value} does not fit in its field of a header`);
  return value;
}

/* JSON (document 1, "Block header"). */

/** The two sets of field names for a header's JSON: that of document 1, and that of real nodes. Both can be read. */
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
 * @param json the result of `parseExactJson`, because `JSON.parse` rounds the feature flags
 * @param versionCode the number of the network. It is required if `versionCodeOf` returns undefined for the network's
 *   id in `json`. Binary headers contain the number
 * @throws LedgerFormatError for a missing or wrong field, for an unknown network if `versionCode` is absent, and for a
 *   `hash` that does not match the header
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

/** @param network the network's id; by default, the id of the network with the header's number */
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

/* The numbers of networks in headers. */

const CODES: ReadonlyMap<string, number> = new Map([
  ['mainnet01', 5],
  ['testnet04', 7],
  ['development', 1],
  ['recap-development', 2],
]);

const NAMES: ReadonlyMap<number, string> = new Map([...CODES].map(([name, code]) => [code, name]));

const UNNAMED = /^code (\d{1,10})$/;

/**
 * @param network a network id, or a text such as `code 123`, which `networkOf` returns for an unknown number
 * @returns the network's number; undefined if it is unknown
 */
export function versionCodeOf(network: string): number | undefined {
  const code = CODES.get(network) ?? Number(UNNAMED.exec(network)?.[1]);
  return code < 2 ** 32 ? code : undefined;
}

/** Ids of networks whose numbers differ between versions of the node's software. */
const DEVELOPMENT: ReadonlySet<string> = new Set(['development', 'recap-development']);
const DEVELOPMENT_CODES: ReadonlySet<number> = new Set([1, 2]);

/**
 * @param code the number of a network, u32
 * @returns whether a header with this number may belong to the network. True if the network's number is unknown
 */
export function mayBeOf(network: string, code: number): boolean {
  if (DEVELOPMENT.has(network)) return DEVELOPMENT_CODES.has(code);
  return (versionCodeOf(network) ?? code) === code;
}

/** @param code the network's number, u32 @returns the network id; if it is unknown, a text such as `code 123` */
export function networkOf(code: number): string {
  return NAMES.get(code) ?? `code ${code}`;
}
