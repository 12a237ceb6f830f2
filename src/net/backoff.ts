/** Computes the pauses between attempts, which grow and have a random part (exponential backoff with jitter). */

export interface BackoffLimits {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** The longest pause that a server may ask for (`retry-after`): it may be back sooner than it expects. */
export const MAX_RETRY_AFTER_MS = 60_000;

export class Backoff {
  readonly #limits: BackoffLimits;
  readonly #random: () => number;
  #attempts = 0;

  /** @param random returns uniformly distributed numbers in [0, 1) */
  constructor(limits: BackoffLimits, random: () => number) {
    this.#limits = limits;
    this.#random = random;
  }

  /**
   * Returns the next pause. The limit doubles each time, and the pause is a random time from half of the limit to all of it, so
   * that many rigs do not come back at the same moment.
   * @param retryAfterMs the pause that the server asked for, if it did
   */
  nextMs(retryAfterMs = 0): number {
    const { firstMs, mostMs } = this.#limits;
    // 2^30 first pauses are beyond any limit, and the bound keeps the power finite.
    const grownMs = Math.min(mostMs, firstMs * 2 ** Math.min(this.#attempts, 30));
    this.#attempts += 1;
    return Math.max(grownMs * (0.5 + this.#random() / 2), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  }

  reset(): void {
    this.#attempts = 0;
  }
}
