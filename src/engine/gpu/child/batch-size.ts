/** How many counters a dispatch has, so that it takes a given time. */

/** Weight of the newest measurement in the moving averages: about 5 batches count. Only good enough. */
const NEWEST = 0.2;
/** A batch grows or shrinks by this factor at most: one odd measurement must not make a dispatch of seconds. */
const STEP = 2;

interface BatchSizeOptions {
  readonly goalMs: number;
  /** Sizes are multiples of this, and at least this. */
  readonly unit: number;
  readonly most: number;
  /** The first size: tiny where the rate is unknown, since Windows resets a GPU that is busy for 2 s. */
  readonly first: number;
}

export class BatchSize {
  readonly #options: BatchSizeOptions;
  /** Counters and milliseconds of a batch, on average. */
  #counters = 0;
  #ms = 0;
  #size: number;

  constructor(options: BatchSizeOptions) {
    this.#options = options;
    this.#size = this.#rounded(options.first);
  }

  /** Counters for the next batch. */
  get size(): number {
    return this.#size;
  }

  /**
   * How long `counters` should take; 0 while nothing is known. It is no longer than batches took so far: a forecast that
   * was too long would otherwise confirm itself, twice as long with each batch that is twice as large.
   */
  expectedMs(counters: number): number {
    return this.#counters === 0 ? 0 : Math.min(counters / this.#counters, 1) * this.#ms;
  }

  /** Learns that `counters` took `ms`. */
  observe(counters: number, ms: number): void {
    // When the end of one batch is seen late and that of the next one at once, the first seems to have taken too long and
    // the second no time. Averages of counters and of milliseconds make up for that; an average of rates would not.
    const newest = this.#counters === 0 ? 1 : NEWEST;
    this.#counters += newest * (counters - this.#counters);
    // A clock that stood still says nothing about the rate, but the batch was surely short.
    this.#ms += newest * (Math.max(ms, 0.001) - this.#ms);
    const wanted = (this.#counters / this.#ms) * this.#options.goalMs;
    this.#size = this.#rounded(Math.min(this.#size * STEP, Math.max(this.#size / STEP, wanted)));
  }

  #rounded(counters: number): number {
    const { unit, most } = this.#options;
    return Math.max(unit, Math.floor(Math.min(counters, most) / unit) * unit);
  }
}
