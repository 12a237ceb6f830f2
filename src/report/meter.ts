/** Counts hashes, and computes their rate over the windows that miners are used to. */

/** Hash counts are kept in steps of this length. */
const STEP_MS = 500;

/** Rates are averages over these times. */
const WINDOWS_MS = { last10s: 10_000, last60s: 60_000, last15m: 900_000 } as const;
type RateWindow = keyof typeof WINDOWS_MS;
/** H/s by the window of the average; null while so much time has not passed. */
export type RatesByWindow = Readonly<Record<RateWindow, number | null>>;

/** As many steps as the longest window has, and the two that reach into it. */
const STEPS = WINDOWS_MS.last15m / STEP_MS + 2;

export class Meter {
  /** How many hashes were counted. */
  total = 0;
  /** When the first hashes were counted. */
  firstMs: number | null = null;
  /** The highest rate over 10 s so far, H/s; null before the first 10 s. */
  highest: number | null = null;
  readonly #sinceMs: number;
  /** Rings: step number n is at n % STEPS. */
  readonly #endsMs = new Float64Array(STEPS);
  readonly #hashes = new Float64Array(STEPS);
  /** How many steps there have been. */
  #steps = 0;

  /** @param sinceMs when counting began */
  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
  }

  add(hashes: number, nowMs: number): void {
    this.total += hashes;
    if (hashes > 0) this.firstMs ??= nowMs;
    const last = (this.#steps - 1) % STEPS;
    if (this.#steps > 0 && nowMs < this.#endsMs[last]) {
      this.#hashes[last] += hashes;
      return;
    }
    const now = this.windows(nowMs).last10s;
    if (now !== null) this.highest = Math.max(this.highest ?? 0, now);
    const next = this.#steps++ % STEPS;
    this.#endsMs[next] = nowMs + STEP_MS;
    this.#hashes[next] = hashes;
  }

  /** H/s over the last `windowMs`, or since the start while that is shorter. */
  rate(nowMs: number, windowMs: number): number {
    const fromMs = Math.max(this.#sinceMs, nowMs - windowMs);
    return nowMs > fromMs ? (1000 * this.#since(fromMs)) / (nowMs - fromMs) : 0;
  }

  windows(nowMs: number): RatesByWindow {
    const over = (windowMs: number) => (nowMs - this.#sinceMs < windowMs ? null : this.rate(nowMs, windowMs));
    return { last10s: over(WINDOWS_MS.last10s), last60s: over(WINDOWS_MS.last60s), last15m: over(WINDOWS_MS.last15m) };
  }

  #since(fromMs: number): number {
    let sum = 0;
    for (let step = this.#steps - 1; step >= Math.max(0, this.#steps - STEPS); step--) {
      const ms = this.#endsMs[step % STEPS] - fromMs;
      if (ms <= 0) break;
      // A step that began before that counts by its share.
      sum += this.#hashes[step % STEPS] * Math.min(1, ms / STEP_MS);
    }
    return sum;
  }
}
