/** Counts hashes, and tells their rate over the windows that miners are used to. */

/** Hash counts are kept in steps of this length. */
const STEP_MS = 500;

/** Averages over these: what is now, what is steady, what is certain. */
export const WINDOWS_MS = { '10s': 10_000, '60s': 60_000, '15m': 900_000 } as const;
export type Window = keyof typeof WINDOWS_MS;
/** H/s; null while the window has not been filled. */
export type Windows = Readonly<Record<Window, number | null>>;

const LONGEST_MS = WINDOWS_MS['15m'];

export class Meter {
  /** All hashes. */
  total = 0;
  /** When the first hashes were counted. */
  firstMs: number | null = null;
  /** The highest rate over 10 s so far, H/s; null before the first 10 s. */
  highest: number | null = null;
  readonly #sinceMs: number;
  /** `[end of step, hashes in it]`, oldest first. */
  readonly #steps: [number, number][] = [];

  /** @param sinceMs when counting began */
  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
  }

  add(hashes: number, nowMs: number): void {
    this.total += hashes;
    if (hashes > 0) this.firstMs ??= nowMs;
    const last = this.#steps.at(-1);
    if (last && nowMs < last[0]) {
      last[1] += hashes;
      return;
    }
    const now = this.windows(nowMs)['10s'];
    if (now !== null) this.highest = Math.max(this.highest ?? 0, now);
    this.#steps.push([nowMs + STEP_MS, hashes]);
    while (this.#steps[0][0] < nowMs - LONGEST_MS) this.#steps.shift();
  }

  /** H/s over the last `windowMs`, or since the start while that is shorter. */
  rate(nowMs: number, windowMs: number): number {
    const fromMs = Math.max(this.#sinceMs, nowMs - windowMs);
    return nowMs > fromMs ? (1000 * this.#since(fromMs)) / (nowMs - fromMs) : 0;
  }

  windows(nowMs: number): Windows {
    const over = (windowMs: number) => (nowMs - this.#sinceMs < windowMs ? null : this.rate(nowMs, windowMs));
    return { '10s': over(WINDOWS_MS['10s']), '60s': over(WINDOWS_MS['60s']), '15m': over(WINDOWS_MS['15m']) };
  }

  #since(fromMs: number): number {
    let sum = 0;
    for (let i = this.#steps.length - 1; i >= 0 && this.#steps[i][0] > fromMs; i--) {
      const [endMs, hashes] = this.#steps[i];
      // Of a step that began before that, its share.
      sum += hashes * Math.min(1, (endMs - fromMs) / STEP_MS);
    }
    return sum;
  }
}
