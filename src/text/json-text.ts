/** How public JSON is written. */

/** A fraction has at most this many decimal places, so that seconds are exact to the microsecond. */
const DECIMAL_PLACES = 6;
/** A fraction below 1, such as a few blocks that are to be expected, keeps this many digits. */
const DIGITS_BELOW_ONE = 6;

/**
 * @returns JSON without a newline. Fractions are rounded: clocks and averages give digits that mean nothing
 * (0.055899000000208615)
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'number' ? rounded(each) : each));
}

function rounded(figure: number): number {
  if (Number.isInteger(figure) || !Number.isFinite(figure)) return figure;
  return Number(Math.abs(figure) < 1 ? figure.toPrecision(DIGITS_BELOW_ONE) : figure.toFixed(DECIMAL_PLACES));
}
