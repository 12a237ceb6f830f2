/** Chooses how many counters a dispatch has, so that it takes a given time. */

/** Weight of the newest measurement in the moving averages, of about 5 batches. The exact value does not matter. */
const NEWEST = 0.2;
/** The size changes by this factor at most: one wrong measurement must not lead to a dispatch of seconds. */
const STEP = 2;

interface BatchSizeOptions {
  readonly goalMs: number;
  /** All sizes are multiples of this. */
  readonly unit: number;
  readonly most: number;
  /** The first size. It must be tiny when the rate is unknown, because Windows resets a GPU that is busy for 2 s. */
  readonly first: number;
}

export class BatchSize {
  readonly #options: BatchSizeOptions;
  /** Moving averages of a batch's counters and milliseconds. */
  #counters = 0;
  #ms = 0;
  #size: number;

  constructor(options: BatchSizeOptions) {
    this.#options = options;
    this.#size = this.#rounded(options.first);
  }

  /** How many counters the next batch should have. */
  get size(): number {
    return this.#size;
  }

  /**
   * How many milliseconds a batch should take; 0 before the first measurement. The forecast is never longer than the average
   * so far. Otherwise a forecast that is too long would confirm itself and double with each batch that is twice as large.
   */
  expectedMs(counters: number): number {
    return this.#counters === 0 ? 0 : Math.min(counters / this.#counters, 1) * this.#ms;
  }

  /** Learns that a batch took `ms`. */
  observe(counters: number, ms: number): void {
    // When the end of one batch is noticed late and the end of the next at once, the first seems too slow and the second
    // infinitely fast. Averages of counters and of milliseconds balance that; an average of rates would not.
    const newest = this.#counters === 0 ? 1 : NEWEST;
    this.#counters += newest * (counters - this.#counters);
    // When the clock shows no time at all, the batch was short, but its rate must not become infinite.
    this.#ms += newest * (Math.max(ms, 0.001) - this.#ms);
    const wanted = (this.#counters / this.#ms) * this.#options.goalMs;
    this.#size = this.#rounded(Math.min(this.#size * STEP, Math.max(this.#size / STEP, wanted)));
  }

  #rounded(counters: number): number {
    const { unit, most } = this.#options;
    return Math.max(unit, Math.floor(Math.min(counters, most) / unit) * unit);
  }
}
