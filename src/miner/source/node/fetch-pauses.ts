/**
 * Pauses before fetches, and fetches, that end early when the node gives a sign of life. Signs of life are a New Cut
 * and the opening of a stream.
 */

import { onAbort, pause, sharedController } from '../../../base/system/abort.ts';
import type { Clock, Timer } from '../../../base/system/clock.ts';
import type { NodeLimits } from '../../../node/http/request-limits.ts';

/** Maximum number of doublings of `hurryMs`. With five, the result exceeds the time limit of a fetch. */
const MOST_DOUBLINGS = 5;

export class FetchImpatience {
  readonly #clock: Clock;
  readonly #limits: Pick<NodeLimits, 'burstMs' | 'hurryMs'>;
  readonly #pauses: WakeSignal;
  #lastSignMs = Number.NEGATIVE_INFINITY;
  /** Number of calls of `letGo`. */
  #releases = 0;
  #burstEnd: Timer | undefined;
  /** Cancels the fetch in progress; undefined without one. */
  #fetching: AbortController | undefined;
  #timer: Timer | undefined;
  /** Number of fetches in a row that were canceled. */
  #letGoInARow = 0;

  constructor(clock: Clock, limits: Pick<NodeLimits, 'burstMs' | 'hurryMs'>) {
    this.#clock = clock;
    this.#pauses = new WakeSignal(clock);
    this.#limits = limits;
  }

  /**
   * Called for a sign of life. The first sign of a burst ends all pauses at once, and limits the time of the fetch in
   * progress. Further signs within `burstMs` together end the pauses once more, when `burstMs` have passed.
   */
  signOfLife(): void {
    const nowMs = this.#clock.monotonicMs();
    const burstLeftMs = this.#lastSignMs + this.#limits.burstMs - nowMs;
    if (burstLeftMs > 0) {
      // A fetch in progress needs no limit here: it began after the first sign, or that sign has limited it already.
      this.#burstEnd ??= this.#clock.setTimeout(() => {
        this.#burstEnd = undefined;
        this.#pauses.ring();
      }, burstLeftMs);
      return;
    }
    this.#lastSignMs = nowMs;
    this.#pauses.ring();
    if (!this.#fetching) return;
    // The answer may come soon, so the fetch is canceled only after some time. Each canceled fetch doubles this time.
    const patienceMs = this.#limits.hurryMs * 2 ** Math.min(this.#letGoInARow, MOST_DOUBLINGS);
    this.#timer ??= this.#clock.setTimeout(() => this.#fetching?.abort(), patienceMs);
  }

  /** Ends all pauses and cancels the fetch in progress, both at once. */
  letGo(): void {
    this.#releases += 1;
    this.#pauses.ring();
    this.#fetching?.abort();
  }

  /**
   * Runs one fetch, which may be canceled after a sign of life, or by `letGo`.
   * @returns whether the fetch has ended without being canceled
   * @throws what `fetch` throws, unless the fetch was canceled while `stop` had not fired
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
      this.#timer?.cancel();
      this.#timer = undefined;
      this.#letGoInARow = fetching.signal.aborted ? this.#letGoInARow + 1 : 0;
    }
    return !fetching.signal.aborted;
  }

  /**
   * Waits until `ms` have passed, `letGo` is called or `stop` fires, or until a sign of life comes while `isEager`
   * returns true. Never throws.
   */
  async pause(ms: number, stop: AbortSignal, isEager: () => boolean = () => true): Promise<void> {
    const releases = this.#releases;
    const untilMs = this.#clock.monotonicMs() + ms;
    for (let leftMs = ms; leftMs > 0 && !stop.aborted; leftMs = untilMs - this.#clock.monotonicMs()) {
      await this.#pauses.wait(leftMs, stop);
      if (isEager() || this.#releases !== releases) return;
    }
  }
}

/** A pause that can be cut short: `ring` ends all calls of `wait` that have not ended yet. */
export class WakeSignal {
  readonly #clock: Clock;
  #ringing = sharedController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    const ended = this.#ringing;
    this.#ringing = sharedController();
    ended.abort();
  }

  /** Waits until `ms` have passed, `ring` is called or `stop` fires. Never throws. */
  async wait(ms: number, stop: AbortSignal): Promise<void> {
    await pause(this.#clock, ms, this.#ringing.signal, stop);
  }
}
