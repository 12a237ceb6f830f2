/**
 * Ends waits that a sign of life from the node makes pointless. A New Cut, or a stream that opens, shows that the node answers
 * again and may have new work.
 */

import type { NodeLimits } from '../../node/limits.ts';
import { onAbort } from '../../system/abort.ts';
import type { Clock } from '../../system/clock.ts';
import { Bell } from './bell.ts';

/** After this many doublings the patience is longer than the time limit of a fetch. */
const MOST_DOUBLINGS = 5;

export class Haste {
  readonly #clock: Clock;
  readonly #limits: Pick<NodeLimits, 'burstMs' | 'hurryMs'>;
  readonly #pauses = new Bell();
  #lastSignMs = Number.NEGATIVE_INFINITY;
  /** How often `letGo` has been called. */
  #releases = 0;
  #burstEnd: NodeJS.Timeout | undefined;
  /** Cancels the fetch that is under way. */
  #fetching: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** How many fetches in a row were canceled. */
  #letGoInARow = 0;

  constructor(clock: Clock, limits: Pick<NodeLimits, 'burstMs' | 'hurryMs'>) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Notes a sign of life. In a burst, the first one takes effect at once, and all others together at the burst's end. */
  signOfLife(): void {
    const nowMs = this.#clock.monotonicMs();
    const burstLeftMs = this.#lastSignMs + this.#limits.burstMs - nowMs;
    if (burstLeftMs > 0) {
      // No fetch is canceled here: the one that is under way by then began after the first sign.
      this.#burstEnd ??= setTimeout(() => {
        this.#burstEnd = undefined;
        this.#pauses.ring();
      }, burstLeftMs);
      return;
    }
    this.#lastSignMs = nowMs;
    this.#pauses.ring();
    if (!this.#fetching) return;
    // The answer may be on its way, so the fetch is canceled only after some time, which doubles for a slow node.
    const patienceMs = this.#limits.hurryMs * 2 ** Math.min(this.#letGoInARow, MOST_DOUBLINGS);
    this.#timer ??= setTimeout(() => this.#fetching?.abort(), patienceMs);
  }

  /** Ends all pauses and cancels the fetch that is under way, at once. */
  letGo(): void {
    this.#releases += 1;
    this.#pauses.ring();
    this.#fetching?.abort();
  }

  /**
   * Runs one fetch, which signs of life may cancel.
   * @returns false when the fetch was canceled
   * @throws what `fetch` throws, unless it was canceled
   */
  async hurried(stop: AbortSignal, fetch: (stop: AbortSignal) => Promise<void>): Promise<boolean> {
    const fetching = new AbortController();
    const release = onAbort(stop, () => fetching.abort());
    this.#fetching = fetching;
    try {
      await fetch(fetching.signal);
    } catch (error) {
      if (!fetching.signal.aborted || stop.aborted) throw error;
    } finally {
      release();
      this.#fetching = undefined;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#letGoInARow = fetching.signal.aborted ? this.#letGoInARow + 1 : 0;
    }
    return !fetching.signal.aborted;
  }

  /** Waits for this long, for a sign of life while `isEager`, for `letGo`, or for `stop`. Never throws. */
  async pause(ms: number, stop: AbortSignal, isEager: () => boolean = () => true): Promise<void> {
    const releases = this.#releases;
    const untilMs = this.#clock.monotonicMs() + ms;
    for (let leftMs = ms; leftMs > 0 && !stop.aborted; leftMs = untilMs - this.#clock.monotonicMs()) {
      await this.#pauses.wait(leftMs, stop);
      if (isEager() || this.#releases !== releases) return;
    }
  }
}
