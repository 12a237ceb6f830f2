/** Bounds lines of the log that others can cause at will. Pure. */

import { TokenBucket } from './token-bucket.ts';

/** So many lines may come each second when there were many at once, unless another rate is given: one each ten seconds. */
const PER_SECOND = 0.1;

export class LogBucket {
  readonly #bucket: TokenBucket;
  #leftOut = 0;

  /** @param most so many lines may come at once @param perSecond so many may come each second after that */
  constructor(most: number, nowMs: number, perSecond = PER_SECOND) {
    this.#bucket = new TokenBucket(most, perSecond, nowMs);
  }

  /** @returns how many lines were left out since the last one that was logged; undefined when this line must be left out as well */
  take(nowMs: number): number | undefined {
    if (!this.#bucket.take(1, nowMs)) {
      this.#leftOut++;
      return undefined;
    }
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    return leftOut;
  }
}
