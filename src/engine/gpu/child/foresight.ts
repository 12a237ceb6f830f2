/**
 * When the next dispatch should be done. The GPU runs one after the other, whether the end of one is seen at once or late:
 * so each is foreseen from where the one before it should have ended, not from when that was seen.
 */

/**
 * Part of a dispatch's time after which its end is foreseen. Were it all of it, a rate that was measured too low would
 * prove itself for ever; so one look in some comes too early, and tells where the end is.
 */
const PART = 0.995;
/** An end that is seen later than this after it was foreseen was missed by the look before. */
const LOOK_MS = 1;

interface Flight {
  readonly beganMs: number;
  readonly lengthMs: number;
}

export class Foresight {
  /** In the order of their submission, which is that of their end. */
  readonly #flights: Flight[] = [];
  /** Of the last dispatch that is done, as far as is known. */
  #endMs = Number.NEGATIVE_INFINITY;

  get inFlight(): number {
    return this.#flights.length;
  }

  /** What the oldest dispatch in flight should take, and when it is worth looking for its end. */
  get next(): { readonly lengthMs: number; readonly dueMs: number } | undefined {
    const [oldest] = this.#flights;
    if (!oldest) return undefined;
    const { beganMs, lengthMs } = oldest;
    return { lengthMs, dueMs: Math.max(beganMs, this.#endMs) + PART * lengthMs };
  }

  /** @param lengthMs what it should take once it runs; 0 when nobody knows */
  submitted(nowMs: number, lengthMs: number): void {
    this.#flights.push({ beganMs: nowMs, lengthMs });
  }

  /** The oldest one is seen to be done. */
  done(nowMs: number): void {
    const dueMs = this.next?.dueMs ?? nowMs;
    this.#endMs = nowMs < dueMs + LOOK_MS ? Math.min(dueMs, nowMs) : nowMs;
    this.#flights.shift();
  }
}
