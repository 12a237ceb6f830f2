/** Decides when a failed device is reopened, and when it is parked. Pure. */

import type { DeviceError } from '../engine/engine.ts';

/**
 * Maximum number of attempts in a row. The waits double, so five attempts take half a minute. A driver resets a card
 * within seconds.
 */
const MOST_IN_A_ROW = 5;
/** The wait before the first attempt. Each further wait is twice as long as the one before. */
const FIRST_WAIT_MS = 1_000;
/** If a device was in service for longer than this, earlier attempts no longer count. */
const STEADY_MS = 60_000;
/**
 * After a failure because of wrong hashes, this time replaces `STEADY_MS`. It is longer, because heat or overclocking
 * usually causes wrong hashes, and can take a while to cause them again.
 */
const STEADY_AFTER_WRONG_HASHES_MS = 3_600_000;

export class ReopenPolicy {
  readonly #firstWaitMs: number;
  #inARow = 0;
  #hasOpened = false;

  constructor(firstWaitMs = FIRST_WAIT_MS) {
    this.#firstWaitMs = firstWaitMs;
  }

  /** Number of attempts since the device was last in service for long enough (see `STEADY_MS`). */
  get inARow(): number {
    return this.#inARow;
  }

  opened(): void {
    this.#hasOpened = true;
  }

  /**
   * Counts an attempt, unless the device is parked.
   * @param servedMs time in service, in ms; −∞ if the device did not open
   * @returns ms to wait before the device is reopened; undefined if it must be parked
   */
  waitAfter(fault: DeviceError['fault'], servedMs: number): number | undefined {
    if (servedMs > (fault === 'wrong-hashes' ? STEADY_AFTER_WRONG_HASHES_MS : STEADY_MS)) this.#inARow = 0;
    // A device that has opened before may be missing for a short time, while its driver resets. A missing device that
    // has never opened is not expected to appear.
    const mayReturn = fault !== 'missing' || this.#hasOpened;
    if (!mayReturn || this.#inARow >= MOST_IN_A_ROW) return undefined;
    return this.#firstWaitMs * 2 ** this.#inARow++;
  }
}
