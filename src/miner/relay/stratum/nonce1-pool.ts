/** Assigns nonce1 (2 bytes), so that no two sessions, nor one and the local miner, search the same nonces. Pure. */

import { LANES } from '../../../protocol/chain/nonce.ts';
import type { Work } from '../../../protocol/chain/work.ts';

/** Time after its release at which a nonce1 is free in any case: nodes drop work after five minutes. */
const FORGOTTEN_MS = 600_000;
/** Number of released values that one session checks: a few, so that no login takes long. 64 logins check all. */
const LOOKS = 1_024;

interface Released {
  readonly value: number;
  readonly atMs: number;
  /** The works of the session's jobs. */
  readonly works: ReadonlySet<Work>;
}

interface Nonce1PoolOptions {
  /** The local miner's lane, which no session gets. */
  readonly taken: number;
  readonly isStale: (work: Work) => boolean;
}

export class Nonce1Pool {
  readonly #options: Nonce1PoolOptions;
  /** Number of values assigned so far, in order, beginning with the one after the local miner's lane. */
  #begun = 0;
  /** A ring in the order of release. A value that turns out to be in use moves to the end. */
  readonly #released: Released[] = [];
  #first = 0;
  #count = 0;

  constructor(options: Nonce1PoolOptions) {
    this.#options = options;
  }

  /** @returns 0 … 65,535; undefined if no checked value is free: a former session's shares may still need it */
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
