/** The blocks of one chain: the canonical ones, from which the tip can be reached, and orphans. */

import { encodeBase64url } from '../../ledger/base64url.ts';
import type { Block, BlockPayload } from './block.ts';

/** How many heights below the tip are kept. */
const KEPT_HEIGHTS = 500n;

export class BlockStore {
  readonly #byId = new Map<string, Block>();
  /** By payload hash, as text. */
  readonly #payloads = new Map<string, BlockPayload>();
  /** The blocks of each height in the order in which they came; the heights ascend, but for those of orphans. */
  readonly #byHeight = new Map<bigint, Block[]>();
  readonly #canonical = new Map<bigint, Block>();
  #lowest: bigint;
  #tip: Block;

  /** @param first the chain's oldest block that the node has */
  constructor(first: Block) {
    this.#tip = first;
    this.#lowest = first.header.height;
    this.add(first);
    this.#canonical.set(first.header.height, first);
  }

  get tip(): Block {
    return this.#tip;
  }

  /** The height of the lowest blocks that are kept. */
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

  /** @returns the block of this height from which the tip can be reached */
  canonical(height: bigint): Block | undefined {
    return this.#canonical.get(height);
  }

  isCanonical(block: Block): boolean {
    return this.#canonical.get(block.header.height) === block;
  }

  /** The same for a block named by its hash as text. */
  hasCanonical(id: string): boolean {
    const block = this.get(id);
    return block !== undefined && this.isCanonical(block);
  }

  parentOf({ header }: Pick<Block, 'header'>): Block | undefined {
    return this.#at(header.height - 1n).find(({ hash }) => Buffer.compare(hash, header.parent) === 0);
  }

  /** @returns all blocks with `min <= height <= max`, ascending by height, orphans included */
  *between(min: bigint, max: bigint): Generator<Block> {
    const highest = this.#highest();
    const last = max < highest ? max : highest;
    for (let height = min > this.#lowest ? min : this.#lowest; height <= last; height++) yield* this.#at(height);
  }

  /** @returns the block and its ancestors that are kept, descending */
  *ancestry(block: Block): Generator<Block> {
    for (let it: Block | undefined = block; it; it = this.parentOf(it)) yield it;
  }

  /** Adds a block that is not the tip, unless it is below everything that is kept. */
  add(block: Block): void {
    if (block.header.height < this.#lowest) return;
    this.#byId.set(block.id, block);
    this.#payloads.set(encodeBase64url(block.header.payloadHash), block.payload);
    const same = this.#byHeight.get(block.header.height);
    if (same) same.push(block);
    else this.#byHeight.set(block.header.height, [block]);
  }

  /** Makes a block of this store the tip, whatever its branch. */
  moveTip(block: Block): void {
    for (let height = this.#tip.header.height; height > block.header.height; height--) this.#canonical.delete(height);
    for (const it of this.ancestry(block)) {
      if (this.isCanonical(it)) break;
      this.#canonical.set(it.header.height, it);
    }
    this.#tip = block;
    while (this.#lowest + KEPT_HEIGHTS <= block.header.height) this.#forgetLowest();
  }

  #at(height: bigint): readonly Block[] {
    return this.#byHeight.get(height) ?? [];
  }

  /** A tip that has gone back leaves higher orphans. */
  #highest(): bigint {
    let height = this.#tip.header.height;
    while (this.#byHeight.has(height + 1n)) height++;
    return height;
  }

  #forgetLowest(): void {
    for (const { id, header } of this.#at(this.#lowest)) {
      this.#byId.delete(id);
      this.#payloads.delete(encodeBase64url(header.payloadHash));
    }
    this.#byHeight.delete(this.#lowest);
    this.#canonical.delete(this.#lowest);
    this.#lowest++;
  }
}
