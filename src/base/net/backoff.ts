/** Growing pauses between attempts to reach a server. Pure, apart from the given randomness. */

export interface BackoffLimits {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Longest `retry-after` that is obeyed. A longer one is shortened: the server may be back sooner than it expects. */
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
   * @param retryAfterMs the pause that the server asked for, if it did
   * @returns the next pause: between half a limit and the limit, at random, so that rigs do not all come back at the
   * same moment. The limit doubles with each call
   */
  nextMs(retryAfterMs = 0): number {
    const { firstMs, mostMs } = this.#limits;
    // The bound of 30 keeps the power finite. By then, any limit is exceeded.
    const grownMs = Math.min(mostMs, firstMs * 2 ** Math.min(this.#attempts, 30));
    this.#attempts += 1;
    return Math.max(grownMs * (0.5 + this.#random() / 2), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  }

  reset(): void {
    this.#attempts = 0;
  }
}
