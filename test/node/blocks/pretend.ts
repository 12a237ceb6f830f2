/** Nodes that exist only in a test, blocks for them to have, and a clock that the test advances. */

import { readFileSync } from 'node:fs';
import type { Clock } from '#pickaxe/base/system/clock.js';
import type { TrackedBlock } from '#pickaxe/node/blocks/block-index.js';
import { JUST_FOUND } from '#pickaxe/node/blocks/confirmations.js';
import type { LedgerView } from '#pickaxe/node/blocks/observation.js';
import { type BlockRecord, recordOf } from '#pickaxe/node/blocks/record.js';
import type { LedgerHead } from '#pickaxe/node/client/ledger-reader.js';
import { type BlockHeader, encodeHeader, parseHeader } from '#pickaxe/protocol/ledger/header.js';
import { decodeBase64url, encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { type PayloadWithOutputs, type Proven, provePayload } from '#pickaxe/protocol/ledger/payload.js';
import { FakeClock } from '../../rig/status/fakes.ts';

/** A block of the vectors, which are real blocks of two chains, orphans included. */
export interface RealBlock {
  readonly height: number;
  readonly hash: string;
  readonly parent: string;
  readonly canonical: boolean;
  readonly everHeadOfACut: boolean;
  /** Base64url of the header and its block hash. */
  readonly binary: string;
}
const file = new URL('../../protocol/ledger/vectors/branches.json', import.meta.url);
export const branches: Record<string, RealBlock[]> = JSON.parse(readFileSync(file, 'utf8')).chains;

export const headerOf = ({ binary }: Pick<RealBlock, 'binary'>): Uint8Array => decodeBase64url(binary).subarray(0, 286);

const TEMPLATE = parseHeader(headerOf(branches['2'][0]));

/** @param chain of the vectors' network, at any height @param nonce distinguishes siblings */
export function madeHeader(chain: number, height: bigint, nonce = 0n, more: Partial<BlockHeader> = {}): Uint8Array {
  return encodeHeader({ ...TEMPLATE, chain, height, nonce, ...more });
}

export function madeRecord(header: Uint8Array, more: Partial<BlockRecord> = {}): BlockRecord {
  return recordOf({
    header,
    foundMs: 1_700_000_000_000,
    network: 'mainnet01',
    node: 'http://one',
    isAnswered: true,
    account: 'k:me',
    device: 'gpu0',
    isRelay: false,
    difficulty: 1e15,
    answerSeconds: 0.02,
    expectedBlocks: 1,
    ...more,
  });
}

export function madeBlock(header: Uint8Array, more: Partial<TrackedBlock> = {}): TrackedBlock {
  const record = madeRecord(header, more);
  return { ...record, standing: JUST_FOUND, sinceMs: record.foundMs, ...more };
}

/** A node with one chain of hashes whose length and further blocks the test sets. */
export class PretendNode implements LedgerView {
  readonly node: string;
  network = 'mainnet01';
  /** Every request, in order. */
  readonly asked: string[] = [];
  /** Thrown by every method. */
  fault: Error | undefined;
  readonly payloads = new Map<string, PayloadWithOutputs | Error>();
  readonly #heads = new Map<number, LedgerHead>();
  /** The chain's block hash at a height; others follow from the height. */
  readonly #chain = new Map<string, string>();
  readonly #kept = new Map<string, string[]>();
  readonly #clock: Clock | undefined;

  /** @param clock if given, each entry of `asked` ends with its time in milliseconds */
  constructor(node = 'http://one', clock?: Clock) {
    this.node = node;
    this.#clock = clock;
  }

  /** The chain has this block at this height. */
  has(chain: number, height: bigint, hash: string): void {
    this.#chain.set(`${chain} ${height}`, hash);
  }

  /** The node keeps this block, whether or not it is on the chain. */
  keeps(chain: number, height: bigint, hash: string): void {
    const place = `${chain} ${height}`;
    this.#kept.set(place, [...(this.#kept.get(place) ?? []), hash]);
  }

  headIs(chain: number, height: bigint): void {
    this.#heads.set(chain, { height, hash: this.#hashAt(chain, height) });
  }

  async heads(): Promise<ReadonlyMap<number, LedgerHead>> {
    this.#ask('heads');
    return this.#heads;
  }

  async ancestors(chain: number, upper: string, from: bigint, to: bigint): Promise<ReadonlyMap<bigint, string>> {
    this.#ask(`ancestors ${chain} ${from} ${to}`);
    if (this.#heads.get(chain)?.hash !== upper) throw new Error(`there is no block ${upper}`);
    const hashes = new Map<bigint, string>();
    for (let height = from; height <= to; height++) hashes.set(height, this.#hashAt(chain, height));
    return hashes;
  }

  async keptHashes(chain: number, from: bigint, to: bigint): Promise<ReadonlySet<string>> {
    this.#ask(`kept ${chain} ${from} ${to}`);
    const hashes = new Set<string>();
    for (let height = from; height <= to; height++) {
      hashes.add(this.#hashAt(chain, height));
      for (const hash of this.#kept.get(`${chain} ${height}`) ?? []) hashes.add(hash);
    }
    return hashes;
  }

  /** Proves the payload, as the client of a real node does. */
  async payloadWithOutputs(_chain: number, payloadHash: Uint8Array): Promise<Proven<PayloadWithOutputs> | undefined> {
    this.#ask('payload');
    const payload = this.payloads.get(encodeBase64url(payloadHash));
    if (payload instanceof Error) throw payload;
    try {
      return payload && provePayload(payload, payloadHash);
    } catch (cause) {
      throw new Error('the answer is not understood', { cause });
    }
  }

  #hashAt(chain: number, height: bigint): string {
    return this.#chain.get(`${chain} ${height}`) ?? encodeBase64url(Buffer.alloc(32, `${chain} at ${height}`));
  }

  #ask(what: string): void {
    this.asked.push(this.#clock ? `${what} at ${this.#clock.monotonicMs()}` : what);
    if (this.fault) throw this.fault;
  }
}

export { FakeClock };
