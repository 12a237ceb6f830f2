/** The ranges that a GPU's child process has been given and has not reported on. */

import { COUNTERS, type Range } from '../../chain/nonce.ts';
import { DeviceError, type Ranges } from '../engine.ts';
import { common, without } from './strips.ts';

/** How long a chunk of work takes. The child has two: that is long against a busy moment of this process. Good enough. */
const CHUNK_MS = 300;
/** The most chunks that the child has: a space that is nearly used up can leave many small ones. */
const MOST_CHUNKS = 64;
/** Chunks have at least this many counters. */
export const LEAST_COUNTERS = 2 ** 16;

/** Counters of a chunk: at least two batches, so that one waits while the other is in flight. */
export function chunkCounters(hashesPerSecond: number, batchMs: number): number {
  const counters = Math.round((hashesPerSecond * Math.max(CHUNK_MS, 2 * batchMs)) / 1000);
  return Math.min(COUNTERS, Math.max(LEAST_COUNTERS, counters));
}

export class Given {
  rest: readonly Range[] = [];

  get isEmpty(): boolean {
    return this.rest.length === 0;
  }

  get counters(): number {
    return this.rest.reduce((sum, range) => sum + range.counters, 0);
  }

  add(range: Range): void {
    this.rest = [...this.rest, range];
  }

  /**
   * Takes chunks until two are with the child.
   * @param counters of a chunk
   * @param send called for each, in order
   */
  topUp(ranges: Ranges, counters: number, send: (range: Range) => void): void {
    while (this.counters <= counters && this.rest.length < MOST_CHUNKS) {
      const range = ranges.take({ counters, pages: 1 });
      if (!range) return;
      this.add(range);
      send(range);
    }
  }

  /**
   * @param searched it may span several of the given ranges, where those follow each other
   * @throws DeviceError when any of it was not given, or is reported for the second time.
   */
  settle(searched: Range): void {
    let settled = 0;
    const rest = this.rest.flatMap((range) => {
      const part = common(range, searched);
      settled += part?.counters ?? 0;
      return part ? without(range, part) : range;
    });
    if (settled !== searched.counters) {
      throw new DeviceError('lost', 'the GPU was lost: its process reported a range that it was not given');
    }
    this.rest = rest;
  }
}
