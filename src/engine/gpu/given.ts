/** The ranges that a GPU's child process has been given and has not yet reported as searched. */

import { COUNTERS, type Range } from '../../chain/nonce.ts';
import { DeviceError, type Ranges } from '../engine.ts';
import { common, without } from './strips.ts';

/** How long the search of a chunk takes. The child has two chunks, so that it has enough while this process is busy. */
const CHUNK_MS = 300;
/** The most chunks that the child may have. When a space is nearly used up, chunks can be small and many. */
const MOST_CHUNKS = 64;
/** The least counters of a chunk. */
export const LEAST_COUNTERS = 2 ** 16;

/** @returns the counters of a chunk: at least two batches, so that one waits while the other is in flight */
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
   * Takes chunks until the child has two.
   * @param counters the size of a chunk
   * @param send called with each chunk, in order
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
   * Removes a range that was reported as searched.
   * @param searched a range; it may span several consecutive chunks
   * @throws DeviceError when a part of it was not given or was reported before.
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
