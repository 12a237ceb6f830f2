/** Sizes tasks by time, so that a fast and a slow kernel get tasks of the same length. */

import { PAGES } from '../../chain/nonce.ts';
import { ROW_COUNTERS } from './kernels/kernel.ts';

/** The first task: half a millisecond for the slowest kernel. */
const FIRST_PAGES = 8;

/** Weight of the newest measurement in the average: only good enough. */
const NEWEST = 0.25;

export class BatchSize {
  readonly #batchMs: number;
  #hashesPerMs = 0;
  #pages = FIRST_PAGES;

  /** @param batchMs how long a task should take */
  constructor(batchMs: number) {
    this.#batchMs = batchMs;
  }

  /** Pages of the next task, of ROW_COUNTERS counters each. */
  get pages(): number {
    return this.#pages;
  }

  /** Learns from a task that was not cut short. It grows or shrinks by a factor of 2 at most. */
  learn(hashes: number, ms: number): void {
    const rate = hashes / Math.max(ms, 0.001);
    this.#hashesPerMs += (rate - this.#hashesPerMs) * (this.#hashesPerMs === 0 ? 1 : NEWEST);
    const wanted = (this.#hashesPerMs * this.#batchMs) / ROW_COUNTERS;
    const bounded = Math.min(2 * this.#pages, Math.max(this.#pages / 2, wanted));
    this.#pages = Math.min(PAGES, Math.max(FIRST_PAGES, Math.round(bounded)));
  }
}
