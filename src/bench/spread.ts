/** What several measurements of the same thing say together. */

export interface Spread {
  readonly mean: number;
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** The standard deviation as a part of the mean (the coefficient of variation); 0 for a single value. */
  readonly spread: number;
}

/** @param values at least one, none below 0 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const mean = meanOf(values);
  const middle = Math.floor(values.length / 2);
  const median = values.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0;
  return { mean, median, min: sorted[0], max: sorted[sorted.length - 1], spread: mean > 0 ? deviation / mean : 0 };
}

/** @param values at least one */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @param digits how many are kept after the point */
export function roundTo(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
