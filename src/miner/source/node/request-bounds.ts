/**
 * Bounds how often work is fetched and streams are requested from one node. A node, or a fault of pickaxe, can cause
 * one fetch after the other. Without bounds, the rig would then change its work all the time instead of searching.
 * Pure; times are monotonic milliseconds.
 */

import { TokenBucket } from '../../../base/system/bounded.ts';

/**
 * Maximum average rate of fetches. A fetch after an accepted solution (see `ALL_FETCHES_PER_SECOND`) does not count.
 * Each change of work costs a rig some milliseconds of its search. Real networks need a few fetches a minute; test
 * networks with a block every 50 ms need about 20 fetches a second.
 */
export const FETCHES_PER_SECOND = 25;
/**
 * Maximum number of fetches in a burst. It is enough for the start, for a node that was out of reach, and for ten
 * seconds of a test network with 50 blocks a second.
 */
const FETCHES_AT_ONCE = 250;
/**
 * Maximum average rate of all fetches. Each accepted solution allows one fetch beyond `FETCHES_PER_SECOND`, so that a
 * network with easy blocks can be mined as fast as its node answers. Those fetches need a bound, too, because the node
 * chooses how easy its blocks are.
 */
const ALL_FETCHES_PER_SECOND = 250;
/** Maximum number of fetches that accepted solutions have allowed and that are still unused. */
const MOST_PAID = 16;
/**
 * Maximum average rate of requests for streams. Far fewer are usual: a stream ends after about 240 s, so 20 chains need
 * one request every 12 s.
 */
const STREAMS_PER_SECOND = 5;
/** Maximum number of requests for streams in a burst: enough to open the streams of 20 chains three times. */
const STREAMS_AT_ONCE = 60;

export class RequestBounds {
  readonly #fetches: TokenBucket;
  readonly #allFetches: TokenBucket;
  readonly #streams: TokenBucket;
  #paid = 0;

  constructor(nowMs: number) {
    this.#fetches = new TokenBucket(FETCHES_AT_ONCE, FETCHES_PER_SECOND, nowMs);
    this.#allFetches = new TokenBucket(FETCHES_AT_ONCE, ALL_FETCHES_PER_SECOND, nowMs);
    this.#streams = new TokenBucket(STREAMS_AT_ONCE, STREAMS_PER_SECOND, nowMs);
  }

  accepted(): void {
    this.#paid = Math.min(MOST_PAID, this.#paid + 1);
  }

  /** @returns whether work may be fetched now; if so, the fetch is counted */
  mayFetch(nowMs: number): boolean {
    if (!this.#allFetches.take(1, nowMs)) return false;
    if (this.#paid > 0) {
      this.#paid--;
      return true;
    }
    return this.#fetches.take(1, nowMs);
  }

  /** @returns whether a stream may be requested now; if so, the request is counted */
  mayOpenStream(nowMs: number): boolean {
    return this.#streams.take(1, nowMs);
  }
}
