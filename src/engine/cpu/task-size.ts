/** Chooses the size of tasks so that they take the same time with a fast and with a slow kernel. */

import { COUNTERS, PAGES, type Range } from '../../chain/nonce.ts';
import { ROW_COUNTERS } from './kernels/kernel.ts';

/** Long enough that the cost of starting a task does not matter, short enough for a live hashrate. */
const LEAST_MS = 30;

/** Short enough for the hashrate over ten seconds: with 256 threads its error is at most 5 %. */
const MOST_MS = 1_000;

/**
 * How many tasks all threads together finish. Each wakes the main thread, which must also react to a New Cut at once.
 * bench/main-thread.mjs measures what that costs.
 */
const TASKS_PER_SECOND = 250;

/** The rows of the first task, which take the slowest kernel half a millisecond. */
const FIRST_ROWS = 8;

/** How many rows a lane has. */
const MOST_ROWS = PAGES * (COUNTERS / ROW_COUNTERS);

/** Weight of the newest measurement in the moving average. The exact value does not matter. */
const NEWEST = 0.25;

/** @returns how long a task should take, in ms, when this many threads search */
export function taskMsFor(threads: number): number {
  return Math.min(MOST_MS, Math.max(LEAST_MS, (1000 * threads) / TASKS_PER_SECOND));
}

export class TaskSize {
  readonly #taskMs: number;
  #hashesPerMs = 0;
  #rows = FIRST_ROWS;

  /** @param taskMs how long a task should take */
  constructor(taskMs: number) {
    this.#taskMs = taskMs;
  }

  /** The largest shape of the next task: part of one column of ROW_COUNTERS counters, or several whole columns. */
  get most(): Pick<Range, 'counters' | 'pages'> {
    const columns = Math.max(1, Math.round(this.#rows / PAGES));
    return { counters: columns * ROW_COUNTERS, pages: Math.min(PAGES, this.#rows) };
  }

  /** Learns from a task that ran to its end. The size changes by a factor of 2 at most. */
  learn(hashes: number, ms: number): void {
    const rate = hashes / Math.max(ms, 0.001);
    this.#hashesPerMs += (rate - this.#hashesPerMs) * (this.#hashesPerMs === 0 ? 1 : NEWEST);
    const wanted = (this.#hashesPerMs * this.#taskMs) / ROW_COUNTERS;
    const bounded = Math.min(2 * this.#rows, Math.max(this.#rows / 2, wanted));
    this.#rows = Math.min(MOST_ROWS, Math.max(FIRST_ROWS, Math.round(bounded)));
  }
}
