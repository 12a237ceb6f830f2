/** The decimals of contracts: mantissa × 10^−places. 1.0 and 1.00 are equal, but have different numbers of places. */

import type { Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import { absolute, bounded, floorDivide, MAX_DIGITS, powerOfTen, roundDivide, tooLarge } from './integers.ts';

/** Maximum number of digits after the decimal point. */
export const MAX_PLACES = 255;

/** `half-even` rounds to the nearest number. Of two equally near numbers, it takes the one with an even last digit. */
export type Rounding = 'half-even' | 'floor' | 'ceiling';

const PLAIN = /^(-?\d+)(?:\.(\d+))?$/;
const SCIENTIFIC = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

export class Decimal {
  /** Has at most 65,536 bits. */
  readonly mantissa: bigint;
  /** The number of digits after the decimal point: 0 … 255. */
  readonly places: number;

  /**
   * @param places at least 0
   * @throws ContractError for more than 255 places, or for a mantissa of more than 65,536 bits
   */
  constructor(mantissa: bigint, places: number) {
    if (places > MAX_PLACES) throw new ContractError('eval', `decimal precision overflow (${MAX_PLACES} max)`);
    this.mantissa = bounded(mantissa);
    this.places = places;
  }

  /**
   * @param text digits, perhaps with a minus sign and a decimal point: `-1.50`, `3`
   * @returns the decimal with as many places as the text has; undefined for any other text
   * @throws ContractError for more than 255 places, a mantissa of more than 65,536 bits, or more than 20,000 characters
   */
  static parse(text: string): Decimal | undefined {
    const [, whole, fraction = ''] = PLAIN.exec(text) ?? [];
    if (whole === undefined) return undefined;
    if (fraction.length > MAX_PLACES) return new Decimal(0n, fraction.length);
    if (text.length > MAX_DIGITS) throw tooLarge();
    return new Decimal(BigInt(whole + fraction), fraction.length);
  }

  /**
   * @param text a JSON number, perhaps with an exponent: `1.0e-8`
   * @returns the number rounded half-even to 255 places, without trailing zeros after the decimal point; undefined for
   *   any other text
   * @throws ContractError for a mantissa of more than 65,536 bits, or a text of more than 20,000 characters
   */
  static parseScientific(text: string): Decimal | undefined {
    const [, whole, fraction = '', exponent = '0'] = SCIENTIFIC.exec(text) ?? [];
    if (whole === undefined) return undefined;
    if (text.length > MAX_DIGITS) throw tooLarge();
    const mantissa = BigInt(whole + fraction);
    const places = fraction.length - Number(exponent);
    if (mantissa === 0n) return ZERO;
    // The mantissa has at most 20,000 digits. So with more than 20,256 places, the number is below 10^−256 and rounds
    // to 0. With fewer than −20,000 places, the number has more than 20,000 digits, and is refused.
    if (places > MAX_DIGITS + MAX_PLACES + 1) return ZERO;
    if (places < -MAX_DIGITS) throw tooLarge();
    return places < 0 ? new Decimal(mantissa * powerOfTen(-places), 0) : normalised(mantissa, places);
  }

  static ofInteger(integer: bigint): Decimal {
    return new Decimal(integer, 0);
  }

  /** @param number finite @returns the exact value of the number, rounded half-even if it has more than 255 places */
  static ofNumber(number: number): Decimal {
    const { significand, exponent } = partsOf(number);
    if (exponent >= 0) return new Decimal(significand << BigInt(exponent), 0);
    // 2^−n is 5^n × 10^−n.
    return normalised(significand * 5n ** BigInt(-exponent), -exponent);
  }

  /** @returns the nearest number of the format binary64; ±Infinity for a decimal out of the range of this format */
  toNumber(): number {
    return Number(this.toString());
  }

  /** @returns all digits, with trailing zeros: `-1.50`. Without places, there is no decimal point: `3` */
  toString(): string {
    if (this.places === 0) return this.mantissa.toString();
    const digits = absolute(this.mantissa)
      .toString()
      .padStart(this.places + 1, '0');
    const point = digits.length - this.places;
    return `${this.mantissa < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
  }

  get isWhole(): boolean {
    return this.mantissa % powerOfTen(this.places) === 0n;
  }

  /** @returns the sum, with as many places as the operand that has more of them */
  add(other: Decimal): Decimal {
    const places = Math.max(this.places, other.places);
    return new Decimal(this.#scaledTo(places) + other.#scaledTo(places), places);
  }

  /** @returns the difference, with as many places as the operand that has more of them */
  subtract(other: Decimal): Decimal {
    const places = Math.max(this.places, other.places);
    return new Decimal(this.#scaledTo(places) - other.#scaledTo(places), places);
  }

  /** @returns the product, rounded half-even to 255 places, without trailing zeros after the decimal point */
  multiply(other: Decimal): Decimal {
    return normalised(this.mantissa * other.mantissa, this.places + other.places);
  }

  /**
   * @param divisor not 0
   * @returns the quotient, rounded half-even to 255 places, without trailing zeros after the decimal point
   */
  divide(divisor: Decimal): Decimal {
    const dividend = this.mantissa * powerOfTen(MAX_PLACES + divisor.places);
    const sign = divisor.mantissa < 0n ? -1n : 1n;
    const whole = absolute(divisor.mantissa) * powerOfTen(this.places);
    return normalised(roundDivide(sign * dividend, whole), MAX_PLACES);
  }

  negate(): Decimal {
    return new Decimal(-this.mantissa, this.places);
  }

  abs(): Decimal {
    return this.mantissa < 0n ? this.negate() : this;
  }

  /** @returns −1 if this decimal is less than the other, 1 if it is greater, 0 if both are equal, like 1.0 and 1.00 */
  compare(other: Decimal): number {
    const places = Math.max(this.places, other.places);
    const mine = this.#scaledTo(places);
    const theirs = other.#scaledTo(places);
    return mine < theirs ? -1 : mine > theirs ? 1 : 0;
  }

  equals(other: Decimal): boolean {
    return this.compare(other) === 0;
  }

  /** @returns this decimal, rounded to an integer */
  round(rounding: Rounding): bigint {
    return divided(this.mantissa, powerOfTen(this.places), rounding);
  }

  /**
   * @param places number of places of the result. In dialect 5, a negative number is taken as 0
   * @returns this decimal, rounded or extended with zeros to this number of places
   * @throws ContractError for more than 255 places, in dialect 4 for a negative number, or if the mantissa of the
   *   result has more than 65,536 bits
   */
  roundTo(places: bigint, rounding: Rounding, dialect: Dialect): Decimal {
    if (places < 0n && dialect === 4) throw new ContractError('eval', 'Negative precision not allowed');
    const wanted = places < 0n ? 0 : places > MAX_PLACES ? MAX_PLACES + 1 : Number(places);
    if (wanted >= this.places) return new Decimal(wanted > MAX_PLACES ? 0n : this.#scaledTo(wanted), wanted);
    return new Decimal(divided(this.mantissa, powerOfTen(this.places - wanted), rounding), wanted);
  }

  /** @param places at least `this.places` @returns the mantissa of the same number with this many places */
  #scaledTo(places: number): bigint {
    return places === this.places ? this.mantissa : this.mantissa * powerOfTen(places - this.places);
  }
}

const ZERO = new Decimal(0n, 0);

/**
 * @param places at least 0, and perhaps more than 255
 * @returns mantissa × 10^−places, rounded half-even to 255 places, without trailing zeros after the decimal point
 */
function normalised(mantissa: bigint, places: number): Decimal {
  const excess = places - MAX_PLACES;
  let left = excess > 0 ? roundDivide(mantissa, powerOfTen(excess)) : mantissa;
  let kept = Math.min(places, MAX_PLACES);
  // Removing up to 128 zeros with one division needs fewer divisions than removing each zero on its own.
  for (let step = 128; step >= 1; step /= 2) {
    while (kept >= step && left % powerOfTen(step) === 0n) {
      left /= powerOfTen(step);
      kept -= step;
    }
  }
  return new Decimal(left, kept);
}

function divided(dividend: bigint, divisor: bigint, rounding: Rounding): bigint {
  if (rounding === 'half-even') return roundDivide(dividend, divisor);
  return rounding === 'floor' ? floorDivide(dividend, divisor) : -floorDivide(-dividend, divisor);
}

const FRACTION_BITS = 52;
const EXPONENT_BIAS = 1075;

/**
 * Splits a finite number of the format binary64.
 * @returns parts for which number = significand × 2^exponent. If the exponent is negative, the significand is odd
 */
function partsOf(number: number): { significand: bigint; exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  const bits = view.getBigUint64(0);
  const fraction = BigInt.asUintN(FRACTION_BITS, bits);
  const biased = Number((bits >> BigInt(FRACTION_BITS)) & 0x7ffn);
  let significand = biased === 0 ? fraction : fraction | (1n << BigInt(FRACTION_BITS));
  let exponent = Math.max(biased, 1) - EXPONENT_BIAS;
  if (significand === 0n) return { significand, exponent: 0 };
  while (exponent < 0 && significand % 2n === 0n) {
    significand /= 2n;
    exponent++;
  }
  return { significand: number < 0 ? -significand : significand, exponent };
}
