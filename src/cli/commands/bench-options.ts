/** The options of `pickaxe bench`, in all of its forms. */

export interface BenchOptions {
  /** How long each measurement takes. The default suits the form. */
  readonly seconds?: number;
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
}
