/** Computes the power from an energy counter. Intel's drivers report no power. */

import type { Clock } from '../../../system/clock.ts';
import { readInteger } from './read-line.ts';

/** Drivers update the counter every few milliseconds, so a shorter time gives no exact power. */
const MIN_MS = 100;

export class EnergyMeter {
  readonly #file: string;
  readonly #clock: Clock;
  #last: { readonly uJ: number; readonly ms: number } | undefined;

  /** @param file holds a count of microjoules since some time in the past */
  constructor(file: string, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
  }

  /** @returns the mean power in W since the last reading; undefined for the first reading, and after a reset of the counter */
  async readW(): Promise<number | undefined> {
    const uJ = await readInteger(this.#file);
    const ms = this.#clock.monotonicMs();
    const last = this.#last;
    if (last && ms - last.ms < MIN_MS) return undefined;
    this.#last = uJ === undefined ? undefined : { uJ, ms };
    // The drivers extend the chip's 32 bits to 64, so a counter that has become smaller was reset and did not wrap around.
    if (uJ === undefined || !last || uJ < last.uJ) return undefined;
    return (uJ - last.uJ) / (ms - last.ms) / 1000;
  }
}
