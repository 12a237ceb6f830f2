/**
 * Ends waits that a sign of life makes pointless: a New Cut, or a stream that opens, says that the node answers again and
 * may have other work to give.
 */

import type { NodeLimits } from '../../node/limits.ts';
import { onAbort } from '../../system/abort.ts';
import type { Clock } from '../../system/clock.ts';
import { Bell } from './bell.ts';

/** After this many the patience is longer than the time limit of a fetch. */
const MOST_DOUBLINGS = 5;

export class Haste {
  readonly #clock: Clock;
  readonly #limits: Pick<NodeLimits, 'burstMs' | 'hurryMs'>;
  readonly #pauses = new Bell();
  #lastSignMs = Number.NEGATIVE_INFINITY;
  /** How often `letGo` was called. */
  #releases = 0;
  #burstEnd: NodeJS.Timeout | undefined;
  /** The fetch under way. */
  #fetching: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** How many fetches in a row were let go. */
  #letGoInARow = 0;

  constructor(clock: Clock, limits: Pick<NodeLimits, 'burstMs' | 'hurryMs'>) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** The node has given a sign of life. In a burst the first one counts, and all the others together at its end. */
  signOfLife(): void {
    const nowMs = this.#clock.monotonicMs();
    const burstLeftMs = this.#lastSignMs + this.#limits.burstMs - nowMs;
    if (burstLeftMs > 0) {
      // A fetch that is under way by then was begun for the first sign.
      this.#burstEnd ??= setTimeout(() => {
        this.#burstEnd = undefined;
        this.#pauses.ring();
      }, burstLeftMs);
      return;
    }
    this.#lastSignMs = nowMs;
    this.#pauses.ring();
    if (!this.#fetching) return;
    // An answer that is on its way is better than a new question, and a slow node is given more time each time.
    const patienceMs = this.#limits.hurryMs * 2 ** Math.min(this.#letGoInARow, MOST_DOUBLINGS);
    this.#timer ??= setTimeout(() => this.#fetching?.abort(), patienceMs);
  }

  /** Ends every pause and the fetch under way, at once. */
  letGo(): void {
    this.#releases += 1;
    this.#pauses.ring();
    this.#fetching?.abort();
  }

  /**
   * Runs one fetch until it ends, until it is let go, or until `stop`.
   * @returns false when it was let go
   * @throws what `fetch` throws for another reason
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

  /** Waits this long, or until a sign of life while `isEager`, until `letGo`, or until `stop`. Never throws. */
  async pause(ms: number, stop: AbortSignal, isEager: () => boolean = () => true): Promise<void> {
    const releases = this.#releases;
    const untilMs = this.#clock.monotonicMs() + ms;
    for (let leftMs = ms; leftMs > 0 && !stop.aborted; leftMs = untilMs - this.#clock.monotonicMs()) {
      await this.#pauses.wait(leftMs, stop);
      if (isEager() || this.#releases !== releases) return;
    }
  }
}
