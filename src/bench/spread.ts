/** What several measurements of the same thing say together. */

export interface Spread {
  readonly mean: number;
  readonly median: number;
  /** The 90th percentile: one of ten values is higher. On a busy machine it varies less than the median. */
  readonly p90: number;
  readonly min: number;
  readonly max: number;
  /** The standard deviation as a part of the mean (the coefficient of variation); 0 for a single value. */
  readonly spread: number;
}

/** @param values at least one, none below 0 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0;
  return {
    mean,
    median: quantileOf(sorted, 0.5),
    p90: quantileOf(sorted, 0.9),
    min: sorted[0],
    max: sorted[sorted.length - 1],
    spread: mean > 0 ? deviation / mean : 0,
  };
}

/** @returns the value below which this part of the values lies; between two values it is interpolated */
function quantileOf(sorted: readonly number[], part: number): number {
  const position = part * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.ceil(position);
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

/** @param values at least one */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @param digits how many are kept after the point */
export function roundTo(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
