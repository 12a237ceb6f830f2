/** The options of `pickaxe bench`, for measurements, `--stress` and `--tune`. This file imports nothing. */

/** An error's advice about --seconds. The first limit is that of a measurement. */
export const BENCH_TIME_SAYS = 'Give seconds, or a time like 90s or 5m: up to 1h, and with --stress up to 20d.';

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
