/** Arithmetic on the integers of contracts: exact, and limited to 65,536 bits. */

import { ContractError } from '../errors.ts';

/**
 * Maximum number of bits of an integer's magnitude, and of a decimal's mantissa. 65,536 bits are about 19,700
 * decimal digits. The language itself has no maximum. Here, the maximum limits each operation to some milliseconds.
 */
export const MAX_BITS = 65_536;
const LIMIT = 1n << BigInt(MAX_BITS);

/** @returns the given integer @throws ContractError if the integer has more than 65,536 bits */
export function bounded(integer: bigint): bigint {
  if (integer >= LIMIT || integer <= -LIMIT) throw tooLarge();
  return integer;
}

export function tooLarge(): ContractError {
  return new ContractError('eval', `A number has more than ${MAX_BITS} bits`);
}

/**
 * Maximum length of the text of a number, in characters. A number with this many digits has more than 65,536 bits,
 * unless it begins with zeros.
 */
export const MAX_DIGITS = 20_000;

/**
 * @param text decimal digits, perhaps after a minus sign
 * @returns undefined for any other text
 * @throws ContractError for an integer of more than 65,536 bits, or a text of more than 20,000 characters
 */
export function parseInteger(text: string): bigint | undefined {
  if (!/^-?\d+$/.test(text)) return undefined;
  if (text.length > MAX_DIGITS) throw tooLarge();
  return bounded(BigInt(text));
}

export function absolute(integer: bigint): bigint {
  return integer < 0n ? -integer : integer;
}

/** @param divisor not 0 @returns the quotient, rounded towards −∞: −7 / 2 is −4 */
export function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const isRounded = dividend % divisor !== 0n;
  return isRounded && dividend < 0n !== divisor < 0n ? quotient - 1n : quotient;
}

/**
 * @param divisor not 0
 * @returns the remainder of `floorDivide`: −7 mod 2 is 1. A remainder other than 0 has the sign of the divisor
 */
export function floorModulo(dividend: bigint, divisor: bigint): bigint {
  const rest = dividend % divisor;
  return rest !== 0n && rest < 0n !== divisor < 0n ? rest + divisor : rest;
}

/**
 * @param divisor at least 1
 * @returns the integer nearest to the quotient. If two integers are equally near, the even one
 */
export function roundDivide(dividend: bigint, divisor: bigint): bigint {
  const floor = floorDivide(dividend, divisor);
  const twice = 2n * (dividend - floor * divisor);
  const roundsUp = twice === divisor ? floor % 2n !== 0n : twice > divisor;
  return roundsUp ? floor + 1n : floor;
}

/** @param exponent at least 0 @throws ContractError if the power has more than 65,536 bits */
export function integerPower(base: bigint, exponent: bigint): bigint {
  const magnitude = absolute(base);
  if (exponent === 0n) return 1n;
  if (magnitude <= 1n) return exponent % 2n === 0n ? magnitude : base;
  // The power has more than (bits − 1) × exponent bits. So most powers that are too large are refused without being
  // computed.
  const bits = magnitude.toString(2).length;
  if (exponent > MAX_BITS || (bits - 1) * Number(exponent) > MAX_BITS) throw tooLarge();
  return bounded(base ** exponent);
}

/**
 * @param places number of bits by which to shift to the left. A negative number shifts to the right, and rounds
 *   towards −∞
 * @throws ContractError if the result has more than 65,536 bits
 */
export function shiftInteger(integer: bigint, places: bigint): bigint {
  if (integer === 0n) return 0n;
  if (places > MAX_BITS) throw tooLarge();
  // Shifting by 65,536 bits to the right leaves 0 or −1, which further shifts would not change.
  return bounded(integer << (places < -MAX_BITS ? BigInt(-MAX_BITS) : places));
}

const POWERS_OF_TEN: bigint[] = [1n];

/** @param exponent a non-negative integer */
export function powerOfTen(exponent: number): bigint {
  // Most exponents are sums of the places of two decimals, so at most 510. Powers up to 10^1024 are cached.
  if (exponent > 1024) return 10n ** BigInt(exponent);
  for (let next = POWERS_OF_TEN.length; next <= exponent; next++) POWERS_OF_TEN.push(POWERS_OF_TEN[next - 1] * 10n);
  return POWERS_OF_TEN[exponent];
}
