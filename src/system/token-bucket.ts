/** A limit on a rate: a bucket of tokens that fills up slowly. Pure. */

export class TokenBucket {
  readonly #most: number;
  readonly #perMs: number;
  #tokens: number;
  #atMs: number;

  /** @param most so many may be taken at once @param perSecond so many more come each second */
  constructor(most: number, perSecond: number, nowMs: number) {
    this.#most = most;
    this.#perMs = perSecond / 1000;
    this.#tokens = most;
    this.#atMs = nowMs;
  }

  /** @returns whether there were so many tokens. If not, none is taken */
  take(count: number, nowMs: number): boolean {
    this.#tokens = Math.min(this.#most, this.#tokens + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
    if (this.#tokens < count) return false;
    this.#tokens -= count;
    return true;
  }
}
