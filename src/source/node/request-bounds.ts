/**
 * Bounds how often one node is asked for work, and for update streams, whatever the reason is: an announcement of a
 * block, a stream that has opened, a poll, a verdict, a lost connection. A node, or a fault of ours, that always gives
 * another reason would otherwise keep the rig changing its work instead of searching, and the node busy with its
 * requests. Pure; times are monotonic milliseconds.
 */

import { TokenBucket } from '../../system/buckets.ts';

/**
 * Each change of work costs a rig some milliseconds of its search. On real networks a rig fetches work a few times a
 * minute; on test networks with a block each 50 ms about 20 times a second.
 */
export const FETCHES_PER_SECOND = 25;
/** Enough for the start, for nodes that have been away, and for 10 s of a test network that is far too quick. */
const FETCHES_AT_ONCE = 250;
/**
 * A solution that the node has accepted pays for one fetch, so that a network whose blocks are easy can be mined as
 * fast as its node answers. This bounds even that, because the node also says how easy its blocks are.
 */
const ALL_FETCHES_PER_SECOND = 250;
/** So many accepted solutions are remembered until their fetches. */
const MOST_PAID = 16;
/** Streams end after minutes, so a node with 20 chains is asked for about one stream in 12 s. */
const STREAMS_PER_SECOND = 5;
/** Enough to open the streams of 20 chains three times. */
const STREAMS_AT_ONCE = 60;

export class RequestBounds {
  readonly #fetches: TokenBucket;
  readonly #allFetches: TokenBucket;
  readonly #streams: TokenBucket;
  /** How many fetches accepted solutions have paid for. */
  #paid = 0;

  constructor(nowMs: number) {
    this.#fetches = new TokenBucket(FETCHES_AT_ONCE, FETCHES_PER_SECOND, nowMs);
    this.#allFetches = new TokenBucket(FETCHES_AT_ONCE, ALL_FETCHES_PER_SECOND, nowMs);
    this.#streams = new TokenBucket(STREAMS_AT_ONCE, STREAMS_PER_SECOND, nowMs);
  }

  /** Notes that the node has accepted a solution. */
  accepted(): void {
    this.#paid = Math.min(MOST_PAID, this.#paid + 1);
  }

  /** @returns whether work may be fetched now. If so, that counts as done */
  mayFetch(nowMs: number): boolean {
    if (!this.#allFetches.take(1, nowMs)) return false;
    if (this.#paid > 0) {
      this.#paid--;
      return true;
    }
    return this.#fetches.take(1, nowMs);
  }

  /** @returns whether a stream may be asked for now. If so, that counts as done */
  mayOpenStream(nowMs: number): boolean {
    return this.#streams.take(1, nowMs);
  }
}
