/** When a failed device is tried again, and when it has had its chances. */

import type { DeviceError } from '../engine/engine.ts';

/** Restarts in a row before a device is parked: with the doubling waits, half a minute. A driver resets in seconds. */
const MOST = 5;
/** Before the first one; doubled for each that follows. */
const FIRST_MS = 1_000;
/** A device that has worked this long since its restart starts with a clean slate. */
const STEADY_MS = 60_000;
/** Wrong hashes come of heat, or of clocks a step too high: that it takes a while to show again is no good sign. */
const STEADY_HASHES_MS = 3_600_000;

export class Restarts {
  readonly #firstMs: number;
  #inARow = 0;
  #worked = false;

  constructor(firstMs = FIRST_MS) {
    this.#firstMs = firstMs;
  }

  /** How many there were since the device last worked well. */
  get inARow(): number {
    return this.#inARow;
  }

  /** The device has come into service. */
  opened(): void {
    this.#worked = true;
  }

  /**
   * @param servedMs how long it was in service; 0 of one that did not open
   * @returns how long to wait before it is tried again; undefined when it is to be parked
   */
  after(fault: DeviceError['fault'], servedMs: number): number | undefined {
    if (servedMs > (fault === 'wrong hashes' ? STEADY_HASHES_MS : STEADY_MS)) this.#inARow = 0;
    // A device that has worked is not there for a while when its driver is reset; one that never did is not there.
    const mayReturn = fault !== 'missing' || this.#worked;
    if (!mayReturn || this.#inARow >= MOST) return undefined;
    return this.#firstMs * 2 ** this.#inARow++;
  }
}
