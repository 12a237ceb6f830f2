/**
 * Hands out the 2 bytes of nonce1: one value for each session, and none of them the lane of the local miner, so that no two search
 * the same nonces. Pure.
 */

import { LANES } from '../../chain/nonce.ts';
import type { Work } from '../../chain/work.ts';

/**
 * After so long a nonce1 is free again in any case: nodes forget work after five minutes, and by then every job has a later
 * creation time.
 */
const FORGOTTEN_MS = 600_000;

interface Released {
  readonly value: number;
  readonly atMs: number;
  /** What its session had jobs of. */
  readonly works: ReadonlySet<Work>;
}

export interface Nonce1PoolOptions {
  /** The local miner's lane. */
  readonly taken: number;
  readonly isStale: (work: Work) => boolean;
}

export class Nonce1Pool {
  readonly #options: Nonce1PoolOptions;
  /** How many values have been looked at for the first time; the first one is the value after the local miner's. */
  #begun = 0;
  /** In the order of their release. */
  readonly #released: Released[] = [];

  constructor(options: Nonce1PoolOptions) {
    this.#options = options;
  }

  /** @returns 0 … 65,535, of no session; undefined when all are taken, or may still be needed for shares of former sessions */
  take(nowMs: number): number | undefined {
    // Values that nobody has had come first, so that a value is used again as late as possible.
    if (this.#begun < LANES - 1) return (this.#options.taken + ++this.#begun) % LANES;
    const [first] = this.#released;
    if (!first || !this.#isFree(first, nowMs)) return undefined;
    this.#released.shift();
    return first.value;
  }

  /** @param works what the session had jobs of */
  release(value: number, works: Iterable<Work>, nowMs: number): void {
    this.#released.push({ value, works: new Set(works), atMs: nowMs });
  }

  #isFree({ works, atMs }: Released, nowMs: number): boolean {
    return nowMs - atMs >= FORGOTTEN_MS || [...works].every(this.#options.isStale);
  }
}
