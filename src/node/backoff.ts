/** Growing, jittered pauses between attempts. */

export interface BackoffLimits {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** The longest pause that a server may ask for (`retry-after`): it may be back sooner than it thinks. */
export const MAX_RETRY_AFTER_MS = 60_000;

export class Backoff {
  readonly #limits: BackoffLimits;
  readonly #random: () => number;
  #attempts = 0;

  /** @param random uniform in [0, 1) */
  constructor(limits: BackoffLimits, random: () => number) {
    this.#limits = limits;
    this.#random = random;
  }

  /**
   * The next pause. It doubles each time, and a random part of it, at least half, is taken, so that rigs do not come back
   * in step.
   * @param retryAfterMs what the server asked for, if it did
   */
  nextMs(retryAfterMs = 0): number {
    const { firstMs, mostMs } = this.#limits;
    // 2^30 times any first pause is beyond any limit, and the power stays finite.
    const grownMs = Math.min(mostMs, firstMs * 2 ** Math.min(this.#attempts, 30));
    this.#attempts += 1;
    return Math.max(grownMs * (0.5 + this.#random() / 2), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  }

  reset(): void {
    this.#attempts = 0;
  }
}
