/**
 * Assigns a nonce1 of 2 bytes to each session, so that no two sessions search the same nonces, and no session searches
 * the nonces of the local miner. Pure.
 */

import { LANES } from '../../../protocol/chain/nonce.ts';
import type { Work } from '../../../protocol/chain/work.ts';

/**
 * Time after which a released nonce1 can always be assigned again. By then no share of the former session counts any
 * more, because nodes drop work after five minutes.
 */
const FORGOTTEN_MS = 600_000;
/**
 * Maximum number of released values that are checked for one session. With this limit no login takes long, and 64
 * logins still check all values.
 */
const LOOKS = 1_024;

interface Released {
  readonly value: number;
  readonly atMs: number;
  /** The works of the former session's jobs. */
  readonly works: ReadonlySet<Work>;
}

interface Nonce1PoolOptions {
  /** The local miner's lane. No session gets it as its nonce1. */
  readonly taken: number;
  readonly isStale: (work: Work) => boolean;
}

export class Nonce1Pool {
  readonly #options: Nonce1PoolOptions;
  /**
   * Number of values that have been assigned at least once. They are assigned in order, beginning after the local
   * miner's lane.
   */
  #begun = 0;
  /**
   * The released values: a ring buffer in the order of release. A checked value that cannot be assigned yet moves to
   * the end.
   */
  readonly #released: Released[] = [];
  #first = 0;
  #count = 0;

  constructor(options: Nonce1PoolOptions) {
    this.#options = options;
  }

  /**
   * @returns 0 … 65,535; undefined if all values are in use, or if none of the checked values can be assigned yet,
   *   because shares of former sessions may still come with them
   */
  take(nowMs: number): number | undefined {
    // Values that were never assigned come first, so that released values are reused as late as possible.
    if (this.#begun < LANES - 1) return (this.#options.taken + ++this.#begun) % LANES;
    for (let looks = Math.min(LOOKS, this.#count); looks > 0; looks--) {
      const released = this.#shift();
      if (this.#isFree(released, nowMs)) return released.value;
      this.#push(released);
    }
    return undefined;
  }

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
