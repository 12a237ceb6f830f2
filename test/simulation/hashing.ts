/** The slow part of simulated hashers, which really hash: a search of a few thousand nonces. */

import { type Puzzle, puzzleOf, solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce, type Lane } from '#pickaxe/protocol/chain/nonce.js';

/** Searches the nonces of a lane, one after the other. */
export class Search {
  readonly #puzzle: Puzzle;
  readonly #lane: Lane;
  #counter: number;

  /** @param header 286 bytes @param target 32 bytes, little-endian @param counter where the search begins */
  constructor(header: Uint8Array, target: Uint8Array, lane: Lane, counter = 0) {
    this.#puzzle = puzzleOf(header, target);
    this.#lane = lane;
    this.#counter = counter;
  }

  /** The next counter. */
  get counter(): number {
    return this.#counter;
  }

  /** @returns the nonces among the next `hashes` that meet the target */
  next(hashes: number): bigint[] {
    const found: bigint[] = [];
    for (const end = this.#counter + hashes; this.#counter < end; this.#counter++) {
      const nonce = { ...this.#lane, counter: this.#counter, page: 0 };
      if (solves(this.#puzzle, nonce)) found.push(joinNonce(nonce));
    }
    return found;
  }
}
