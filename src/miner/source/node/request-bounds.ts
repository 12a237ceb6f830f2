/**
 * Bounds how often one node is asked for work and for streams. Otherwise a node, or a fault of pickaxe, that always
 * gives another reason would keep the rig changing its work instead of searching. Pure; times are monotonic
 * milliseconds.
 */

import { TokenBucket } from '../../../base/system/bounded.ts';

/**
 * Each change of work costs a rig some milliseconds of its search. Real networks need a few fetches a minute; test
 * networks with a block each 50 ms need about 20 a second.
 */
export const FETCHES_PER_SECOND = 25;
/** Enough for the start, for nodes that were away, and for 10 s of a test network that is far too quick. */
const FETCHES_AT_ONCE = 250;
/**
 * An accepted solution pays for one fetch, so that a network with easy blocks can be mined as fast as its node answers.
 * This bounds even those fetches, because the node also says how easy its blocks are.
 */
const ALL_FETCHES_PER_SECOND = 250;
/** Maximum number of fetches that accepted solutions can have paid for in advance. */
const MOST_PAID = 16;
/** Streams end after minutes, so a node with 20 chains is asked for about one stream in 12 s. */
const STREAMS_PER_SECOND = 5;
/** Enough to open the streams of 20 chains three times. */
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

  /** @returns whether a stream may be asked for now; if so, it is counted */
  mayOpenStream(nowMs: number): boolean {
    return this.#streams.take(1, nowMs);
  }
}
