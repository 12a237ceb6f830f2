/**
 * Hands out the 2 bytes of nonce1: one value for each session, and none of them the lane of the local miner, so that no
 * two search the same nonces. Pure.
 */

import { LANES } from '../../chain/nonce.ts';
import type { Work } from '../../chain/work.ts';

/**
 * After so long a nonce1 is free again in any case: nodes forget work after five minutes, and by then every job has a
 * later creation time.
 */
const FORGOTTEN_MS = 600_000;
/**
 * How many released values are looked at for one session. 64 attempts look at all of them, and none keeps other clients
 * waiting.
 */
const LOOKS = 1_024;

interface Released {
  readonly value: number;
  readonly atMs: number;
  /** What its session had jobs of. */
  readonly works: ReadonlySet<Work>;
}

interface Nonce1PoolOptions {
  /** The local miner's lane. */
  readonly taken: number;
  readonly isStale: (work: Work) => boolean;
}

export class Nonce1Pool {
  readonly #options: Nonce1PoolOptions;
  /** How many values have been looked at for the first time; the first one is the value after the local miner's. */
  #begun = 0;
  /** A ring: the order is that of their release, but those that were looked at and were not free come last. */
  readonly #released: Released[] = [];
  #first = 0;
  #count = 0;

  constructor(options: Nonce1PoolOptions) {
    this.#options = options;
  }

  /**
   * @returns 0 … 65,535, of no session; undefined when none was found that is neither taken nor needed for shares of a
   *   former session
   */
  take(nowMs: number): number | undefined {
    // Values that nobody has had come first, so that a value is used again as late as possible.
    if (this.#begun < LANES - 1) return (this.#options.taken + ++this.#begun) % LANES;
    for (let looks = Math.min(LOOKS, this.#count); looks > 0; looks--) {
      const released = this.#shift();
      if (this.#isFree(released, nowMs)) return released.value;
      this.#push(released);
    }
    return undefined;
  }

  /** @param works what the session had jobs of */
  release(value: number, works: Iterable<Work>, nowMs: number): void {
    this.#push({ value, works: new Set(works), atMs: nowMs });
  }

  #push(released: Released): void {
    this.#released[(this.#first + this.#count++) % LANES] = released;
  }

  #shift(): Released {
    const released = this.#released[this.#first];
    this.#first = (this.#first + 1) % LANES;
    this.#count--;
    return released;
  }

  #isFree({ works, atMs }: Released, nowMs: number): boolean {
    return nowMs - atMs >= FORGOTTEN_MS || [...works].every(this.#options.isStale);
  }
}
