/** Decides when a failed device is reopened, and when it is parked. */

import type { DeviceError } from '../engine/engine.ts';

/** Five attempts take half a minute with the doubling waits. A driver resets a card within seconds. */
const MOST_IN_A_ROW = 5;
/** The wait before the first attempt. Each further wait is twice as long. */
const FIRST_WAIT_MS = 1_000;
/** After this time in service, earlier failures no longer count. */
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

  /** How many attempts there were since the device was last in service for long enough. */
  get inARow(): number {
    return this.#inARow;
  }

  /** Notes that the device has come into service. */
  opened(): void {
    this.#hasOpened = true;
  }

  /**
   * @param servedMs how long the device was in service; 0 when it did not open
   * @returns how many milliseconds to wait before the device is reopened; undefined when it must be parked
   */
  waitAfter(fault: DeviceError['fault'], servedMs: number): number | undefined {
    if (servedMs > (fault === 'wrong-hashes' ? STEADY_AFTER_WRONG_HASHES_MS : STEADY_MS)) this.#inARow = 0;
    // A device that was in service before can be missing while its driver resets. One that has never opened stays
    // missing.
    const mayReturn = fault !== 'missing' || this.#hasOpened;
    if (!mayReturn || this.#inARow >= MOST_IN_A_ROW) return undefined;
    return this.#firstWaitMs * 2 ** this.#inARow++;
  }
}
