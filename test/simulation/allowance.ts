/** A bound on how often somebody does something: so many times at once, and then so often a second. */

export interface Bound {
  readonly atOnce: number;
  readonly perSecond: number;
}

/** What arrives together may have been sent one after the other. */
const SLACK = 1.2;

export class Allowance {
  readonly #bound: Bound;
  #used = 0;
  #sinceMs = 0;

  constructor(bound: Bound) {
    this.#bound = bound;
  }

  /** @returns whether one more is within the bound */
  take(nowMs: number): boolean {
    const { atOnce, perSecond } = this.#bound;
    this.#used = Math.max(0, this.#used - ((nowMs - this.#sinceMs) / 1000) * perSecond) + 1;
    this.#sinceMs = nowMs;
    return this.#used <= SLACK * atOnce;
  }
}
