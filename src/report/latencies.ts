/** How long something took the last few hundred times: median, 99th percentile and last. */

/** This covers hours of New Cuts, and is enough for a 99th percentile. */
const REMEMBERED = 500;

/** Seconds. */
export interface Latency {
  /** The median. */
  readonly p50: number;
  /** The 99th percentile. */
  readonly p99: number;
  readonly last: number;
  /** How many times it happened, those that are forgotten included. */
  readonly count: number;
}

export class Latencies {
  readonly #seconds: number[] = [];
  #count = 0;

  add(seconds: number): void {
    this.#count++;
    this.#seconds.push(seconds);
    if (this.#seconds.length > REMEMBERED) this.#seconds.shift();
  }

  /** Undefined before the first time. */
  get spread(): Latency | undefined {
    const last = this.#seconds.at(-1);
    if (last === undefined) return undefined;
    const sorted = [...this.#seconds].sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
    return { p50: at(0.5), p99: at(0.99), last, count: this.#count };
  }
}
