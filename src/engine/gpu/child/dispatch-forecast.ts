/**
 * Forecasts when the next dispatch will be done. The GPU runs one after the other, whether the end of one is seen at once
 * or late: so the forecast starts from where the dispatch before should have ended, not from when its end was seen.
 */

/**
 * Part of a dispatch's time after which its end is expected. With all of it, a rate that was measured too low would confirm
 * itself for ever; so some looks come a little too early, and show where the end is.
 */
const PART = 0.995;
/** An end that is seen later than this after it was expected was missed by the look before. */
const LOOK_MS = 1;

interface Flight {
  readonly beganMs: number;
  readonly lengthMs: number;
}

export class DispatchForecast {
  /** In the order of submission, which is the order in which they end. */
  readonly #flights: Flight[] = [];
  /** When the last finished dispatch ended, as far as is known. */
  #endMs = Number.NEGATIVE_INFINITY;

  get inFlight(): number {
    return this.#flights.length;
  }

  /** How long the oldest dispatch in flight should run, and when it is worth looking for its end. */
  get next(): { readonly lengthMs: number; readonly dueMs: number } | undefined {
    const [oldest] = this.#flights;
    if (!oldest) return undefined;
    const { beganMs, lengthMs } = oldest;
    return { lengthMs, dueMs: Math.max(beganMs, this.#endMs) + PART * lengthMs };
  }

  /** @param lengthMs how long it should run; 0 when that is not known */
  submitted(nowMs: number, lengthMs: number): void {
    this.#flights.push({ beganMs: nowMs, lengthMs });
  }

  /** The oldest dispatch in flight is seen to be done. */
  done(nowMs: number): void {
    const dueMs = this.next?.dueMs ?? nowMs;
    this.#endMs = nowMs < dueMs + LOOK_MS ? Math.min(dueMs, nowMs) : nowMs;
    this.#flights.shift();
  }
}
