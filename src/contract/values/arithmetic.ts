/**
 * Arithmetic on integers and decimals. If only one of two operands is a decimal, the other one is converted to a
 * decimal. Each function throws ContractError for a result of more than 65,536 bits.
 */

import type { Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import { Decimal } from './decimal.ts';
import { absolute, bounded, floorDivide, floorModulo, integerPower } from './integers.ts';

export type Numeric = bigint | Decimal;

export function add(a: Numeric, b: Numeric): Numeric {
  if (typeof a === 'bigint' && typeof b === 'bigint') return bounded(a + b);
  return toDecimal(a).add(toDecimal(b));
}

export function subtract(a: Numeric, b: Numeric): Numeric {
  if (typeof a === 'bigint' && typeof b === 'bigint') return bounded(a - b);
  return toDecimal(a).subtract(toDecimal(b));
}

export function multiply(a: Numeric, b: Numeric): Numeric {
  if (typeof a === 'bigint' && typeof b === 'bigint') return bounded(a * b);
  return toDecimal(a).multiply(toDecimal(b));
}

/**
 * @returns the quotient of two integers, rounded towards −∞; otherwise as `Decimal.divide`
 * @throws ContractError for a divisor of 0
 */
export function divide(a: Numeric, b: Numeric, dialect: Dialect): Numeric {
  const divisor = toDecimal(b);
  if (divisor.mantissa === 0n) throw divisionByZero(a, b, dialect);
  return typeof a === 'bigint' && typeof b === 'bigint' ? floorDivide(a, b) : toDecimal(a).divide(divisor);
}

/** @returns the remainder: 0, or with the sign of the divisor `b` @throws ContractError for a divisor of 0 */
export function modulo(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new ContractError('eval', 'divide by zero');
  return floorModulo(a, b);
}

export function negate(a: Numeric): Numeric {
  return typeof a === 'bigint' ? -a : a.negate();
}

export function abs(a: Numeric): Numeric {
  return typeof a === 'bigint' ? absolute(a) : a.abs();
}

/**
 * If both operands are integers, the power is exact. Any other power is computed in the format binary64 and converted
 * with `Decimal.ofNumber`.
 * @throws ContractError if the operands are integers and the exponent is negative, or if the result is not finite
 */
export function power(base: Numeric, exponent: Numeric, dialect: Dialect): Numeric {
  if (typeof base === 'bigint' && typeof exponent === 'bigint') {
    if (exponent >= 0n) return integerPower(base, exponent);
    if (dialect === 5) throw arithmeticFault('negative exponent in integer power');
    throw new ContractError('eval', `Integral power must be >= 0: (${base}, ${exponent})`);
  }
  if (dialect === 5 && signOf(base) === 0 && signOf(exponent) < 0) {
    throw new ContractError('eval', 'Floating point error: zero to a negative power is undefined');
  }
  return finite(binaryPower(toNumber(base), toNumber(exponent)), dialect);
}

/**
 * @returns the logarithm of the argument to the base. If both operands are integers, the logarithm is rounded half-even
 *   to an integer
 * @throws ContractError if the base is negative or 1, if the argument is not above 0, or if the result is not finite
 */
export function logarithm(base: Numeric, argument: Numeric, dialect: Dialect): Numeric {
  if (dialect === 4 && (signOf(base) < 0 || signOf(argument) <= 0)) {
    throw new ContractError('eval', 'Illegal base or argument in log');
  }
  if (dialect === 5 && toNumber(base) === 1) throw arithmeticFault('Base 1 not supported');
  if (dialect === 5 && signOf(base) < 0) throw arithmeticFault('Negative log base');
  if (dialect === 5 && signOf(argument) <= 0) throw arithmeticFault('Non-positive log argument');
  const result = finite(lnOf(argument, dialect) / lnOf(base, dialect), dialect);
  const isInteger = typeof base === 'bigint' && typeof argument === 'bigint';
  return isInteger ? result.round('half-even') : result;
}

/**
 * @throws ContractError for an argument that is not above 0; in dialect 5, also for a decimal that is Infinity in
 *   binary64
 */
export function naturalLogarithm(argument: Numeric, dialect: Dialect): Decimal {
  if (signOf(argument) <= 0) {
    // The reference implementation's message also has `then` instead of `than`.
    if (dialect === 5) throw arithmeticFault('Natural logarithm must be greater then 0');
    throw new ContractError('eval', 'Illegal argument for ln: must be greater than zero');
  }
  return unbounded(lnOf(argument, dialect), dialect);
}

const SIGNIFICANT_BITS = 64;

/**
 * @param argument at least 0
 * @returns the natural logarithm; −Infinity for 0. For an integer beyond the range of binary64, dialect 5 computes it
 *   as ln(m · 2^e) = ln m + e · ln 2. For any other number beyond this range, it is Infinity
 */
function lnOf(argument: Numeric, dialect: Dialect): number {
  const number = toNumber(argument);
  if (dialect === 4 || typeof argument !== 'bigint' || Number.isFinite(number)) return Math.log(number);
  const bits = argument.toString(16).length * 4;
  const mantissa = Number(argument >> BigInt(bits - SIGNIFICANT_BITS)) / 2 ** SIGNIFICANT_BITS;
  return Math.log(mantissa) + bits * Math.LN2;
}

/** @returns e to the power of the argument @throws ContractError in dialect 5 if the result is infinite in binary64 */
export function exponential(argument: Numeric, dialect: Dialect): Decimal {
  return unbounded(Math.exp(toNumber(argument)), dialect);
}

/** @throws ContractError for a negative argument, and in dialect 5 for an argument that is Infinity in binary64 */
export function squareRoot(argument: Numeric, dialect: Dialect): Decimal {
  if (signOf(argument) < 0) {
    if (dialect === 5) throw arithmeticFault('Square root must be non-negative');
    throw new ContractError('eval', 'Sqrt must be non-negative');
  }
  return unbounded(Math.sqrt(toNumber(argument)), dialect);
}

/** The natives `minutes`, `hours` and `days`. @param secondsEach number of seconds of the unit @returns the seconds */
export function seconds(count: Numeric, secondsEach: bigint): Decimal {
  return toDecimal(count).multiply(Decimal.ofInteger(secondsEach));
}

export function toDecimal(a: Numeric): Decimal {
  return typeof a === 'bigint' ? Decimal.ofInteger(a) : a;
}

function toNumber(a: Numeric): number {
  return typeof a === 'bigint' ? Number(a) : a.toNumber();
}

/** @returns −1, 0 or 1 */
function signOf(a: Numeric): number {
  const mantissa = typeof a === 'bigint' ? a : a.mantissa;
  return mantissa < 0n ? -1 : mantissa > 0n ? 1 : 0;
}

function divisionByZero(a: Numeric, b: Numeric, dialect: Dialect): ContractError {
  if (dialect === 4) return new ContractError('eval', `Division by 0: (${shown(a)}, ${shown(b)})`);
  const isInteger = typeof a === 'bigint' && typeof b === 'bigint';
  return arithmeticFault(`div by zero${isInteger ? '' : ', decimal'}`);
}

/** @returns the error with dialect 5's message for a fault of arithmetic */
function arithmeticFault(fault: string): ContractError {
  return new ContractError('eval', `Arithmetic exception: ${fault}`);
}

/** @returns the number as dialect 4 prints it. A decimal without places gets one: `3.0` */
function shown(a: Numeric): string {
  return typeof a === 'bigint' || a.places > 0 ? `${a}` : `${a}.0`;
}

/**
 * As in C, 1 to the power of ±Infinity or NaN is 1, and −1 to the power of ±Infinity is 1. The operator `**` gives NaN.
 */
function binaryPower(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && !Number.isFinite(exponent))) return 1;
  return base ** exponent;
}

function finite(number: number, dialect: Dialect): Decimal {
  if (Number.isFinite(number)) return Decimal.ofNumber(number);
  if (dialect === 4) throw new ContractError('eval', 'Operation resulted in +- infinity or NaN');
  throw new ContractError('eval', 'Floating point error: Floating operation resulted in Infinity or NaN');
}

const INFINITY_OF_4 = Decimal.ofInteger(1n << 1024n);

/**
 * Converts a result of `ln`, `exp` or `sqrt`. For Infinity, dialect 4 returns 2^1024.
 * @throws ContractError for NaN, and in dialect 5 for Infinity
 */
function unbounded(number: number, dialect: Dialect): Decimal {
  return dialect === 4 && number === Number.POSITIVE_INFINITY ? INFINITY_OF_4 : finite(number, dialect);
}
