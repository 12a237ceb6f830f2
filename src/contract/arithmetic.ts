/** Arithmetic on integers and decimals. Where the two meet, the integer becomes a decimal. */

import { Decimal } from './decimal.ts';
import type { Dialect } from './dialect.ts';
import { ContractError } from './errors.ts';
import { absolute, bounded, floorDivide, floorModulo, integerPower } from './integers.ts';

export type Numeric = bigint | Decimal;

/** In this file, every function throws ContractError when its result has more than 65,536 bits. */
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

/** Two integers give the quotient rounded down. @throws ContractError for a divisor of 0 */
export function divide(a: Numeric, b: Numeric, dialect: Dialect): Numeric {
  const divisor = toDecimal(b);
  if (divisor.mantissa === 0n) throw divisionByZero(a, b, dialect);
  return typeof a === 'bigint' && typeof b === 'bigint' ? floorDivide(a, b) : toDecimal(a).divide(divisor);
}

/** @returns the rest of the quotient rounded down, with the divisor's sign @throws ContractError for a divisor of 0 */
export function modulo(a: bigint, b: bigint, dialect: Dialect): bigint {
  if (b === 0n) throw divisionByZero(a, b, dialect);
  return floorModulo(a, b);
}

export function negate(a: Numeric): Numeric {
  return typeof a === 'bigint' ? -a : a.negate();
}

export function abs(a: Numeric): Numeric {
  return typeof a === 'bigint' ? absolute(a) : a.abs();
}

/**
 * A power of two integers is exact. All else is computed with binary64, and the result is that number exactly, as a
 * decimal.
 * @throws ContractError for a negative exponent of an integer, and for a result that is no finite number
 */
export function power(base: Numeric, exponent: Numeric): Numeric {
  if (typeof base !== 'bigint' || typeof exponent !== 'bigint') {
    return Decimal.ofNumber(finite(binaryPower(toNumber(base), toNumber(exponent))));
  }
  if (exponent < 0n) {
    throw new ContractError('eval', `Integral power must be >= 0: (${base}, ${exponent})`);
  }
  return integerPower(base, exponent);
}

/** Two integers give the logarithm rounded to an integer. @throws ContractError unless the result is a finite number */
export function logarithm(base: Numeric, argument: Numeric): Numeric {
  const result = Decimal.ofNumber(finite(Math.log(toNumber(argument)) / Math.log(toNumber(base))));
  const isInteger = typeof base === 'bigint' && typeof argument === 'bigint';
  return isInteger ? result.round('half-even') : result;
}

/** @throws ContractError unless the argument is above 0 */
export function naturalLogarithm(argument: Numeric): Decimal {
  return Decimal.ofNumber(finite(Math.log(toNumber(argument))));
}

/** @throws ContractError when the result is beyond the range of binary64 */
export function exponential(argument: Numeric): Decimal {
  return Decimal.ofNumber(finite(Math.exp(toNumber(argument))));
}

/** @throws ContractError for a negative argument */
export function squareRoot(argument: Numeric): Decimal {
  return Decimal.ofNumber(finite(Math.sqrt(toNumber(argument))));
}

/** The natives' `minutes`, `hours` and `days`. @returns seconds, always as a decimal */
export function seconds(count: Numeric, secondsEach: bigint): Decimal {
  return toDecimal(count).multiply(Decimal.ofInteger(secondsEach));
}

export function toDecimal(a: Numeric): Decimal {
  return typeof a === 'bigint' ? Decimal.ofInteger(a) : a;
}

function toNumber(a: Numeric): number {
  return typeof a === 'bigint' ? Number(a) : a.toNumber();
}

function divisionByZero(a: Numeric, b: Numeric, dialect: Dialect): ContractError {
  if (dialect === 4) return new ContractError('eval', `Division by 0: (${shown(a)}, ${shown(b)})`);
  const isInteger = typeof a === 'bigint' && typeof b === 'bigint';
  return new ContractError('eval', `Arithmetic exception: div by zero${isInteger ? '' : ', decimal'}`);
}

/** As dialect 4 prints numbers. */
function shown(a: Numeric): string {
  return typeof a === 'bigint' || a.places > 0 ? `${a}` : `${a}.0`;
}

/** The C library raises 1 to any power, and −1 to an infinite one. ECMAScript does not. */
function binaryPower(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && !Number.isFinite(exponent))) return 1;
  return base ** exponent;
}

function finite(number: number): number {
  if (!Number.isFinite(number)) throw new ContractError('eval', 'Operation resulted in +- infinity or NaN');
  return number;
}
