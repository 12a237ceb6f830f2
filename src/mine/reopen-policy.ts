/** When a device that failed is opened again, and when it is given up. */

import type { DeviceError } from '../engine/engine.ts';

/** With the doubling waits, five attempts take half a minute. A driver resets a card in seconds. */
const MOST_IN_A_ROW = 5;
/** The wait before the first attempt; each further one is twice as long. */
const FIRST_WAIT_MS = 1_000;
/** After so long in service, earlier failures no longer count. */
const STEADY_MS = 60_000;
/** Wrong hashes come from heat or overclocking and can take a while to reappear, so a clean hour is required. */
const STEADY_AFTER_WRONG_HASHES_MS = 3_600_000;

export class ReopenPolicy {
  readonly #firstWaitMs: number;
  #inARow = 0;
  #hasOpened = false;

  constructor(firstWaitMs = FIRST_WAIT_MS) {
    this.#firstWaitMs = firstWaitMs;
  }

  /** Attempts since the device last worked well. */
  get inARow(): number {
    return this.#inARow;
  }

  /** Notes that the device has come into service. */
  opened(): void {
    this.#hasOpened = true;
  }

  /**
   * @param servedMs how long the device was in service; 0 when it did not open
   * @returns milliseconds to wait before it is opened again; undefined when it is to be parked
   */
  waitAfter(fault: DeviceError['fault'], servedMs: number): number | undefined {
    if (servedMs > (fault === 'wrong-hashes' ? STEADY_AFTER_WRONG_HASHES_MS : STEADY_MS)) this.#inARow = 0;
    // A device that has worked before is missing for a while when its driver is reset; one that never opened stays missing.
    const mayReturn = fault !== 'missing' || this.#hasOpened;
    if (!mayReturn || this.#inARow >= MOST_IN_A_ROW) return undefined;
    return this.#firstWaitMs * 2 ** this.#inARow++;
  }
}
