/** How the blocks of a list follow each other. A node could leave some out, repeat some or turn them round. Pure. */

import { encodeBase64url } from '../../../ledger/base64url.ts';
import { LedgerFormatError } from '../../../ledger/errors.ts';
import type { BlockHeader } from '../../../ledger/header.ts';

export interface Links {
  /**
   * Takes the next block of the list.
   * @param hash its block hash in base64url
   * @throws LedgerFormatError when it cannot be the next one. What follows is compared with it all the same
   */
  check(hash: string, header: Pick<BlockHeader, 'height' | 'parent'>): void;
  /** What these links do not show, for people; absent where that is nothing. */
  readonly note?: string | undefined;
}

/** The links of all blocks of a stretch of heights, orphans included: upwards, with the parents of all but the lowest ones. */
export class UpwardLinks implements Links {
  #height: bigint | undefined;
  /** The hashes of the blocks of this height so far, and of all those of the height below; undefined for the lowest height. */
  #here = new Set<string>();
  #below: ReadonlySet<string> | undefined;

  check(hash: string, { height, parent }: Pick<BlockHeader, 'height' | 'parent'>): void {
    const last = this.#height;
    const isNext = last !== undefined && height === last + 1n;
    const isTwice = height === last && this.#here.has(hash);
    if (height !== last) {
      this.#below = isNext ? this.#here : undefined;
      this.#here = new Set();
    }
    this.#height = height;
    this.#here.add(hash);
    if (isTwice) throw new LedgerFormatError('it is there twice');
    if (last !== undefined && height !== last && !isNext) {
      throw new LedgerFormatError(`it follows a block of height ${last}`);
    }
    if (this.#below && !this.#below.has(encodeBase64url(parent))) {
      throw new LedgerFormatError('its parent is not among the blocks');
    }
  }
}

/** The links of a branch: downwards from its upper bounds, and each further block is the parent of one before it. */
export class BranchLinks implements Links {
  /** The hashes of the blocks that may come next. */
  readonly #next: Set<string>;
  readonly #maxHeight: bigint | undefined;
  #last: bigint | undefined;
  #isCut = false;

  /**
   * @param upper the hashes of the blocks whose ancestors these are, 32 bytes each
   * @param maxHeight the height above which blocks were not asked for
   */
  constructor(upper: readonly Uint8Array[], maxHeight?: bigint) {
    this.#next = new Set(upper.map(encodeBase64url));
    this.#maxHeight = maxHeight;
  }

  get note(): string | undefined {
    if (!this.#isCut) return undefined;
    return 'It is not shown that these are ancestors of --upper: that takes all blocks from there, without --max-height.';
  }

  check(hash: string, { height, parent }: Pick<BlockHeader, 'height' | 'parent'>): void {
    const last = this.#last;
    const isExpected = this.#next.delete(hash);
    this.#next.add(encodeBase64url(parent));
    this.#last = height;
    if (last !== undefined && height > last) throw new LedgerFormatError(`it follows a block of height ${last}`);
    if (isExpected) return;
    // What is between it and the upper bound was not asked for.
    if (height === this.#maxHeight && last === undefined) this.#isCut = true;
    else throw new LedgerFormatError('it is neither an upper bound nor the parent of a block before it');
  }
}
