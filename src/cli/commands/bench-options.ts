/** The options of `pickaxe bench`, for measurements, `--stress` and `--tune`. */

export interface BenchOptions {
  /** How long each run takes. The default depends on what is done. */
  readonly seconds?: number;
  /** How many runs each device has. The default is 1. */
  readonly repeat?: number;
  readonly seed: string;
  /** Nonces of the hash sum, or of each round with `stress`. */
  readonly count?: number;
  /** All devices at once. */
  readonly together: boolean;
  /** Check all devices under load instead. */
  readonly stress: boolean;
  /** Measure the kernels of each device instead, and remember the fastest. */
  readonly tune: boolean;
  readonly json: boolean;
  readonly csv: boolean;
}
