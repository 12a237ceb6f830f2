/** Assigns the 2 bytes of nonce1, different for all sessions and the local miner: none search the same nonces. Pure. */

import { LANES } from '../../../protocol/chain/nonce.ts';
import type { Work } from '../../../protocol/chain/work.ts';

/** Time after which a nonce1 is free in any case: nodes forget work after five minutes. */
const FORGOTTEN_MS = 600_000;
/** Number of released values checked for one session. 64 attempts check all, and none takes long. */
const LOOKS = 1_024;

interface Released {
  readonly value: number;
  readonly atMs: number;
  /** The works of the session's jobs. */
  readonly works: ReadonlySet<Work>;
}

interface Nonce1PoolOptions {
  /** The local miner's lane. */
  readonly taken: number;
  readonly isStale: (work: Work) => boolean;
}

export class Nonce1Pool {
  readonly #options: Nonce1PoolOptions;
  /** Number of values that were assigned for the first time, from the one after the local miner's. */
  #begun = 0;
  /** A ring in the order of release. Values that were checked and not free move to the end. */
  readonly #released: Released[] = [];
  #first = 0;
  #count = 0;

  constructor(options: Nonce1PoolOptions) {
    this.#options = options;
  }

  /** @returns 0 … 65,535; undefined if every checked value is in use, or needed for shares of a former session */
  take(nowMs: number): number | undefined {
    // New values come first, so that values are reused as late as possible.
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
