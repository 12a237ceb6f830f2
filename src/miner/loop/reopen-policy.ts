/** When a failed device is reopened, and when it is parked instead. Pure. */

import type { DeviceError } from '../engine/engine.ts';

/** Maximum number of attempts. With doubling waits, five take half a minute; a driver resets a card within seconds. */
const MOST_IN_A_ROW = 5;
/** The wait before the first attempt. Each further wait is twice as long. */
const FIRST_WAIT_MS = 1_000;
/** Time in service after which earlier attempts no longer count. */
const STEADY_MS = 60_000;
/**
 * Time in service after which earlier attempts no longer count if the device failed with wrong hashes. Their causes,
 * heat and overclocking, can take a while to show again.
 */
const STEADY_AFTER_WRONG_HASHES_MS = 3_600_000;

export class ReopenPolicy {
  readonly #firstWaitMs: number;
  #inARow = 0;
  #hasOpened = false;

  constructor(firstWaitMs = FIRST_WAIT_MS) {
    this.#firstWaitMs = firstWaitMs;
  }

  /** Number of attempts since the device was last in service for long enough. */
  get inARow(): number {
    return this.#inARow;
  }

  opened(): void {
    this.#hasOpened = true;
  }

  /**
   * @param servedMs time in service, in ms; 0 if the device did not open
   * @returns ms to wait before reopening it; undefined to park it
   */
  waitAfter(fault: DeviceError['fault'], servedMs: number): number | undefined {
    if (servedMs > (fault === 'wrong-hashes' ? STEADY_AFTER_WRONG_HASHES_MS : STEADY_MS)) this.#inARow = 0;
    // A device that has opened before can be missing while its driver resets. A device that has never opened stays
    // missing.
    const mayReturn = fault !== 'missing' || this.#hasOpened;
    if (!mayReturn || this.#inARow >= MOST_IN_A_ROW) return undefined;
    return this.#firstWaitMs * 2 ** this.#inARow++;
  }
}
