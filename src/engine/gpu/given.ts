/** What a GPU's child process has been given to search and has not reported on. */

import type { Range } from '../../chain/nonce.ts';
import { DeviceError } from '../engine.ts';
import { common, without } from './strips.ts';

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
