/** The ranges that the child process has received and not yet dispatched. */

import type { Puzzle } from '../../../chain/job.ts';
import type { Range } from '../../../chain/nonce.ts';

/** A search, from the parent's first message about it until it has ended. */
export interface QueuedSearch {
  readonly id: number;
  readonly puzzle: Puzzle;
  readonly waiting: Range[];
  /** The most counters of a dispatch. It shrinks when a dispatch had more hits than the result has room for. */
  most: number;
  /** How many dispatches are in flight. */
  dispatched: number;
  stopped: boolean;
}

export interface Piece {
  readonly search: QueuedSearch;
  readonly range: Range;
}

export class WorkQueue {
  /** All searches that have not ended, oldest first. */
  readonly #searches = new Map<number, QueuedSearch>();

  begin(id: number, puzzle: Puzzle): void {
    this.#searches.set(id, {
      id,
      puzzle,
      waiting: [],
      most: Number.POSITIVE_INFINITY,
      dispatched: 0,
      stopped: false,
    });
  }

  add(id: number, range: Range): void {
    this.#searches.get(id)?.waiting.push(range);
  }

  /** Drops the waiting ranges of a search. Dispatches in flight go on. */
  stop(id: number): QueuedSearch | undefined {
    const search = this.#searches.get(id);
    if (search) {
      search.stopped = true;
      search.waiting.length = 0;
    }
    return search;
  }

  forget(id: number): void {
    this.#searches.delete(id);
  }

  /** Cuts off the next dispatch's range. The newest search goes first, because older ones are about to be stopped. */
  next(size: number): Piece | undefined {
    const search = [...this.#searches.values()].findLast(({ waiting }) => waiting.length > 0);
    if (!search) return undefined;
    const strip = search.waiting[0];
    const counters = Math.min(strip.counters, size, search.most);
    if (counters === strip.counters) search.waiting.shift();
    else search.waiting[0] = { ...strip, counter: strip.counter + counters, counters: strip.counters - counters };
    search.dispatched++;
    return { search, range: { ...strip, counters } };
  }

  /** Puts back a piece that had too many hits, to be searched again in parts of at most `most` counters. */
  again({ search, range }: Piece, most: number): void {
    search.most = Math.min(search.most, most);
    if (!search.stopped) search.waiting.unshift(range);
  }
}
