/** Power from a counter of energy, which is all that Intel's drivers tell. */

import type { Clock } from '../../../system/clock.ts';
import { readInteger } from './read-line.ts';

/** Drivers move the counter every few milliseconds: over less than this it tells too little. Only good enough. */
const MIN_MS = 100;

export class EnergyMeter {
  readonly #file: string;
  readonly #clock: Clock;
  #last: { readonly uJ: number; readonly ms: number } | undefined;

  /** @param file of microjoules since some time in the past */
  constructor(file: string, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
  }

  /** @returns the mean since the last reading; undefined for the first one, and where the counter began anew */
  async readW(): Promise<number | undefined> {
    const uJ = await readInteger(this.#file);
    const ms = this.#clock.monotonicMs();
    const last = this.#last;
    if (last && ms - last.ms < MIN_MS) return undefined;
    this.#last = uJ === undefined ? undefined : { uJ, ms };
    // The drivers extend the chip's 32 bits to 64 themselves: a counter that falls was reset, not wrapped around.
    if (uJ === undefined || !last || uJ < last.uJ) return undefined;
    return (uJ - last.uJ) / (ms - last.ms) / 1000;
  }
}
