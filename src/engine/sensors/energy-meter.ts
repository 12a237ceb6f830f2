/** Computes the power from an energy counter, for chips and cards that report no power. */

import { type Clock, wallMs } from '../../system/clock.ts';
import { type ReadSysfs, readInteger } from './read-line.ts';

/** Drivers update the counter every few milliseconds, so a shorter time gives no exact power. */
const MIN_MS = 100;

/**
 * Over a longer time, the mean says little about now, and a counter may have wrapped around twice: one of 65 kJ wraps around
 * after two minutes at 500 W.
 */
const MAX_MS = 30_000;

/** When the wall clock has gone this much further than the other one, the machine was asleep. */
const ASLEEP_MS = 1_000;

export interface EnergyMeterOptions {
  /** How many µJ the counter reaches before it begins again at 0. Without it, a counter that has become smaller was reset. */
  readonly rangeMicrojoules?: number | undefined;
  readonly read?: ReadSysfs | undefined;
}

interface Reading {
  readonly microjoules: number;
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export class EnergyMeter {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #options: EnergyMeterOptions;
  #last: Reading | undefined;

  /** @param file holds a count of microjoules since some time in the past */
  constructor(file: string, clock: Clock, options: EnergyMeterOptions = {}) {
    this.#file = file;
    this.#clock = clock;
    this.#options = options;
  }

  /**
   * @returns the mean power in W since the last reading; undefined for the first reading, after a reset of the counter, after
   *   a sleep of the machine, and while the counter stands still
   */
  async readW(): Promise<number | undefined> {
    const microjoules = await readInteger(this.#file, this.#options.read);
    const monotonicMs = this.#clock.monotonicMs();
    const last = this.#last;
    if (last && monotonicMs - last.monotonicMs < MIN_MS) return undefined;
    const now = { microjoules, monotonicMs, wallMs: wallMs(this.#clock) };
    this.#last = isCounted(now) ? now : undefined;
    return last && isCounted(now) ? this.#power(last, now) : undefined;
  }

  #power(last: Reading, now: Reading): number | undefined {
    const ms = now.monotonicMs - last.monotonicMs;
    // A chip may lose its count while it sleeps, which looks like a counter that has wrapped around.
    const wasAsleep = Math.abs(now.wallMs - last.wallMs - ms) > ASLEEP_MS;
    if (ms > MAX_MS || wasAsleep) return undefined;
    const { rangeMicrojoules = 0 } = this.#options;
    const risen = now.microjoules - last.microjoules;
    const used = risen < 0 ? rangeMicrojoules + risen : risen;
    // A counter that stands still is one that does not work: a chip that hashes, or reads this, uses energy.
    return used > 0 ? used / ms / 1000 : undefined;
  }
}

function isCounted(reading: Omit<Reading, 'microjoules'> & { microjoules: number | undefined }): reading is Reading {
  return reading.microjoules !== undefined;
}
