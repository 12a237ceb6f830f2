/** The blocks of one chain. The tip and its ancestors are canonical; all other blocks are orphans. */

import { hash } from 'node:crypto';
import { type BlockHeader, parseHeader } from '../../protocol/ledger/header.ts';
import { encodeBase64url } from '../../protocol/ledger/json.ts';
import type { PayloadContent, PayloadRoots, PayloadWithOutputs } from '../../protocol/ledger/payload.ts';
import type { ChainState } from '../execution/chain-state.ts';

/** Number of heights whose blocks are kept: the tip's height, and the heights just below it. */
const KEPT_HEIGHTS = 500n;
/** Limit for the size of a chain's orphans, in bytes. `addOrphan` does not add a block that would exceed it. */
const MOST_ORPHAN_BYTES = 8 * 1024 * 1024;
/** Approximate size of a block without its payload, in bytes. */
const BLOCK_BYTES = 2_000;

export class BlockStore {
  readonly #byId = new Map<string, Block>();
  /** The payloads of all blocks, by payload hash as text. */
  readonly #payloads = new Map<string, BlockPayload>();
  /** All blocks by height. The blocks of one height are in order of arrival. */
  readonly #byHeight = new Map<bigint, Block[]>();
  readonly #canonical = new Map<bigint, Block>();
  #orphanBytes = 0;
  #lowest: bigint;
  #tip: Block;

  /** @param first the oldest block that the node has of this chain */
  constructor(first: Block) {
    this.#tip = first;
    this.#lowest = first.header.height;
    this.add(first);
    this.#setCanonical(first.header.height, first);
  }

  get tip(): Block {
    return this.#tip;
  }

  get lowest(): bigint {
    return this.#lowest;
  }

  get(id: string): Block | undefined {
    return this.#byId.get(id);
  }

  /** @param hash the payload hash, as text */
  payload(hash: string): BlockPayload | undefined {
    return this.#payloads.get(hash);
  }

  canonical(height: bigint): Block | undefined {
    return this.#canonical.get(height);
  }

  isCanonical(block: Block): boolean {
    return this.#canonical.get(block.header.height) === block;
  }

  /** Like `isCanonical`, for the block with this hash (as text). */
  hasCanonical(id: string): boolean {
    const block = this.get(id);
    return block !== undefined && this.isCanonical(block);
  }

  parentOf({ header }: Pick<Block, 'header'>): Block | undefined {
    return this.#at(header.height - 1n).find(({ hash }) => Buffer.compare(hash, header.parent) === 0);
  }

  /** @returns all blocks with `min <= height <= max`, ascending by height, including orphans */
  *between(min: bigint, max: bigint): Generator<Block> {
    const highest = this.#highest();
    const last = max < highest ? max : highest;
    for (let height = min > this.#lowest ? min : this.#lowest; height <= last; height++) yield* this.#at(height);
  }

  /** @returns the block and its kept ancestors, descending by height */
  *ancestry(block: Block): Generator<Block> {
    for (let it: Block | undefined = block; it; it = this.parentOf(it)) yield it;
  }

  /**
   * Adds a block that is not canonical.
   * @returns false if the block's height is no longer kept, or there are too many orphans
   */
  addOrphan(block: Block): boolean {
    if (block.header.height < this.#lowest || this.#orphanBytes + sizeOf(block) > MOST_ORPHAN_BYTES) return false;
    if (!this.#byId.has(block.id)) this.add(block);
    return true;
  }

  /** Adds a block as an orphan, even if there are too many orphans. `moveTip` can then make it canonical. */
  add(block: Block): void {
    this.#orphanBytes += sizeOf(block);
    this.#byId.set(block.id, block);
    this.#payloads.set(encodeBase64url(block.header.payloadHash), block.payload);
    const same = this.#byHeight.get(block.header.height);
    if (same) same.push(block);
    else this.#byHeight.set(block.header.height, [block]);
  }

  /** Makes a block of this store the tip. The block may be on another branch than the old tip. */
  moveTip(block: Block): void {
    for (let height = this.#tip.header.height; height > block.header.height; height--)
      this.#setCanonical(height, undefined);
    for (const it of this.ancestry(block)) {
      if (this.isCanonical(it)) break;
      this.#setCanonical(it.header.height, it);
    }
    this.#tip = block;
    while (this.#lowest + KEPT_HEIGHTS <= block.header.height) this.#dropLowest();
  }

  #setCanonical(height: bigint, block: Block | undefined): void {
    const before = this.#canonical.get(height);
    if (before) this.#orphanBytes += sizeOf(before);
    if (block) {
      this.#orphanBytes -= sizeOf(block);
      this.#canonical.set(height, block);
    } else {
      this.#canonical.delete(height);
    }
  }

  #at(height: bigint): readonly Block[] {
    return this.#byHeight.get(height) ?? [];
  }

  /** @returns the greatest height of a block. After the tip has moved down, there can be orphans above the tip */
  #highest(): bigint {
    let height = this.#tip.header.height;
    while (this.#byHeight.has(height + 1n)) height++;
    return height;
  }

  #dropLowest(): void {
    this.#setCanonical(this.#lowest, undefined);
    for (const block of this.#at(this.#lowest)) {
      this.#orphanBytes -= sizeOf(block);
      this.#byId.delete(block.id);
      this.#payloads.delete(encodeBase64url(block.header.payloadHash));
    }
    this.#byHeight.delete(this.#lowest);
    this.#lowest++;
  }
}

function sizeOf({ payload }: Block): number {
  return BLOCK_BYTES + payloadSize(payload);
}

/** @returns the size of a payload in bytes */
export function payloadSize({ minerData, coinbase, transactions, outputs }: PayloadContent): number {
  return [minerData, coinbase, ...transactions, ...outputs].reduce((sum, { length }) => sum + length, 0);
}

/** A payload, and the state of the chain after the block with this payload. */
export interface BlockPayload extends PayloadWithOutputs {
  readonly state: ChainState;
}

export interface Block {
  readonly header: BlockHeader;
  /** The header without its hash: 286 bytes if its chain has three neighbours. */
  readonly bytes: Uint8Array;
  /** The block hash, 32 bytes. */
  readonly hash: Uint8Array;
  /** The block hash as text, 43 characters. */
  readonly id: string;
  readonly payload: BlockPayload;
}

/** @param bytes a header without its hash */
export function blockOf(bytes: Uint8Array, payload: BlockPayload): Block {
  const header = parseHeader(bytes);
  const hash = blockHashOf(bytes);
  return { header, bytes, hash, id: encodeBase64url(hash), payload };
}

/*
 * The hashes of blocks and payloads, computed from their bytes. OpenSSL computes the hashes fast, and miners wait for
 * them. This code is independent of `header.ts` and `payload.ts` in `protocol/ledger/`, which check the hashes.
 */

/**
 * A field of a header: the tag of its Merkle leaf (undefined for a field that is itself a hash), and its length in
 * bytes.
 */
type Field = readonly [tag: number | undefined, length: number];
/** The fields before the adjacents. */
const BEFORE: readonly Field[] = [
  [0x06, 8],
  [0x07, 8],
  [undefined, 32],
];
/** The fields after the adjacents. */
const AFTER: readonly Field[] = [
  [0x11, 32],
  [undefined, 32],
  [0x02, 4],
  [0x04, 32],
  [0x03, 8],
  [0x08, 4],
  [0x19, 8],
  [0x20, 8],
];
/** The hash of an inner node of a Merkle tree is made from this byte and the two hashes below the node. */
const NODE = Uint8Array.of(1);
const ADJACENTS_OFFSET = 50;
const ADJACENT_BYTES = 36;
const AFTER_BYTES = AFTER.reduce((sum, [, length]) => sum + length, 0);

/** @param header without its hash @returns the block hash, 32 bytes */
function blockHashOf(header: Uint8Array): Uint8Array {
  const end = header.length - AFTER_BYTES;
  const adjacents: Uint8Array[] = [];
  for (let at = ADJACENTS_OFFSET; at < end; at += ADJACENT_BYTES) {
    adjacents.push(header.subarray(at + 4, at + ADJACENT_BYTES));
  }
  return rootOf([...leavesIn(header, 0, BEFORE), ...leavesIn(header, end, AFTER), ...adjacents]);
}

export function rootsOf({ minerData, transactions, coinbase, outputs }: PayloadContent): PayloadRoots {
  const transactionsHash = rootOf([leaf(0x17, minerData), ...transactions.map((each) => leaf(0x13, each))]);
  const outputsHash = rootOf([leaf(0x18, coinbase), ...outputs.map((each) => leaf(0x14, each))]);
  return { transactionsHash, outputsHash, payloadHash: rootOf([transactionsHash, outputsHash]) };
}

function leavesIn(header: Uint8Array, start: number, fields: readonly Field[]): Uint8Array[] {
  let at = start;
  return fields.map(([tag, length]) => {
    const bytes = header.subarray(at, at + length);
    at += length;
    return tag === undefined ? bytes : leaf(tag, bytes);
  });
}

function rootOf(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 1) return hashes[0];
  const split = 2 ** Math.floor(Math.log2(hashes.length - 1));
  return truncatedSha512(Buffer.concat([NODE, rootOf(hashes.slice(0, split)), rootOf(hashes.slice(split))]));
}

function leaf(tag: number, bytes: Uint8Array): Uint8Array {
  return truncatedSha512(Buffer.concat([Uint8Array.of(0, 0, tag), bytes]));
}

/** SHA-512/256. @returns a plain Uint8Array, because deep comparisons treat a Buffer as different */
function truncatedSha512(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(hash('sha512-256', bytes, 'buffer'));
}
