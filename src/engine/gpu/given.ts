/** What a GPU's child process has been given to search and has not reported on. */

import { COUNTERS, type Range } from '../../chain/nonce.ts';
import { DeviceError, type Ranges } from '../engine.ts';
import { common, without } from './strips.ts';

/** Work in a chunk, two of which are with the child: long against a busy moment of this process's. Good enough. */
const CHUNK_MS = 300;
/** Chunks are at least this long, and a used-up space can leave many small ones: so many are with the child at most. */
const MOST_CHUNKS = 64;
export const LEAST_COUNTERS = 2 ** 16;

/** Counters of a chunk, at a rate: two batches at least, of which one is in flight while the next one waits. */
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
   * @param send told of each, in order
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
   * @param searched can reach over several of the ranges that were given, where those follow each other
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
      throw new DeviceError('lost', 'the GPU was lost: its process reported on what it was not given');
    }
    this.rest = rest;
  }
}
