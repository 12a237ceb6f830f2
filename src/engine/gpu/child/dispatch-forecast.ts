/**
 * Forecasts when the next dispatch will be done. The GPU runs dispatches one after the other, and each end may be noticed
 * late. So the forecast starts at the time when the previous dispatch should have ended, not when its end was noticed.
 */

/**
 * The end is expected after this fraction of the forecast time. With the full time, a rate that was measured too low would
 * confirm itself forever. With less, some looks come a little early and show the true end.
 */
const PART = 0.995;
/** When an end is noticed later than this after the expected time, the forecast was wrong and the present time counts. */
const LOOK_MS = 1;

interface Flight {
  readonly beganMs: number;
  readonly lengthMs: number;
}

export class DispatchForecast {
  /** The dispatches in flight, in the order of submission, which is also the order of their ends. */
  readonly #flights: Flight[] = [];
  /** The best estimate of the last end. */
  #endMs = Number.NEGATIVE_INFINITY;

  get inFlight(): number {
    return this.#flights.length;
  }

  /** How long the oldest dispatch in flight should run, and when to look for its end. */
  get next(): { readonly lengthMs: number; readonly dueMs: number } | undefined {
    const [oldest] = this.#flights;
    if (!oldest) return undefined;
    const { beganMs, lengthMs } = oldest;
    return { lengthMs, dueMs: Math.max(beganMs, this.#endMs) + PART * lengthMs };
  }

  /** @param lengthMs how long the dispatch should run; 0 when that is not known */
  submitted(nowMs: number, lengthMs: number): void {
    this.#flights.push({ beganMs: nowMs, lengthMs });
  }

  /** Notes that the oldest dispatch in flight is done. */
  done(nowMs: number): void {
    const dueMs = this.next?.dueMs ?? nowMs;
    this.#endMs = nowMs < dueMs + LOOK_MS ? Math.min(dueMs, nowMs) : nowMs;
    this.#flights.shift();
  }
}
