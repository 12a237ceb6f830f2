/** Growing pauses between attempts to reach a server. Pure, apart from the random numbers that are passed in. */

export interface BackoffLimits {
  readonly firstMs: number;
  readonly mostMs: number;
}

/**
 * Maximum pause that a server can ask for with `retry-after`. A longer pause is shortened, because the server may
 * recover earlier.
 */
export const MAX_RETRY_AFTER_MS = 60_000;

export class Backoff {
  readonly #limits: BackoffLimits;
  readonly #random: () => number;
  #attempts = 0;

  /** @param random a function that returns uniformly distributed numbers in [0, 1) */
  constructor(limits: BackoffLimits, random: () => number) {
    this.#limits = limits;
    this.#random = random;
  }

  /**
   * Computes the next pause: a random time between half of a limit and the whole limit, so that rigs do not all
   * reconnect at the same moment. The limit is `firstMs` in the first call, and doubles with each call up to `mostMs`.
   * @param retryAfterMs the pause that the server asked for; 0 if it asked for none
   * @returns the pause in ms, at least the smaller one of `retryAfterMs` and `MAX_RETRY_AFTER_MS`
   */
  nextMs(retryAfterMs = 0): number {
    const { firstMs, mostMs } = this.#limits;
    // The exponent is at most 30, so that the power stays finite. Long before that, the limit has reached `mostMs`.
    const grownMs = Math.min(mostMs, firstMs * 2 ** Math.min(this.#attempts, 30));
    this.#attempts += 1;
    return Math.max(grownMs * (0.5 + this.#random() / 2), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  }

  reset(): void {
    this.#attempts = 0;
  }
}
