/** The integers of contracts: exact, as `bigint`, and bounded. */

import { ContractError } from '../errors.ts';

/**
 * Maximum number of bits of an integer and of a decimal's mantissa: about 19,700 digits. The language itself has no
 * maximum. With this maximum, every operation takes at most some milliseconds.
 */
export const MAX_BITS = 65_536;
const LIMIT = 1n << BigInt(MAX_BITS);

/** @returns the integer itself @throws ContractError if it has more than 65,536 bits */
export function bounded(integer: bigint): bigint {
  if (integer >= LIMIT || integer <= -LIMIT) throw tooLarge();
  return integer;
}

export function tooLarge(): ContractError {
  return new ContractError('eval', `A number has more than ${MAX_BITS} bits`);
}

/** Every number with this many digits, without leading zeros, has more than 65,536 bits. */
export const MAX_DIGITS = 20_000;

/** @returns undefined unless the text has only digits, perhaps after a minus sign @throws ContractError as `bounded` */
export function parseInteger(text: string): bigint | undefined {
  if (!/^-?\d+$/.test(text)) return undefined;
  if (text.length > MAX_DIGITS) throw tooLarge();
  return bounded(BigInt(text));
}

export function absolute(integer: bigint): bigint {
  return integer < 0n ? -integer : integer;
}

/** @param divisor not 0 @returns the quotient rounded down: −7 / 2 is −4 */
export function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const isRounded = dividend % divisor !== 0n;
  return isRounded && dividend < 0n !== divisor < 0n ? quotient - 1n : quotient;
}

/** @param divisor not 0 @returns the remainder of `floorDivide`, with the divisor's sign: −7 mod 2 is 1 */
export function floorModulo(dividend: bigint, divisor: bigint): bigint {
  const rest = dividend % divisor;
  return rest !== 0n && rest < 0n !== divisor < 0n ? rest + divisor : rest;
}

/** @param divisor at least 1 @returns the quotient rounded to the nearest integer; halves to the even one */
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
  // The power has at least (bits − 1) × exponent bits, so most results that are too large are refused before the power
  // is computed.
  const bits = magnitude.toString(2).length;
  if (exponent > MAX_BITS || (bits - 1) * Number(exponent) > MAX_BITS) throw tooLarge();
  return bounded(base ** exponent);
}

/**
 * @param places to the left. A negative number shifts to the right and keeps the sign
 * @throws ContractError if the result has more than 65,536 bits
 */
export function shiftInteger(integer: bigint, places: bigint): bigint {
  if (integer === 0n) return 0n;
  if (places > MAX_BITS) throw tooLarge();
  // Every further place to the right gives the same 0 or −1.
  return bounded(integer << (places < -MAX_BITS ? BigInt(-MAX_BITS) : places));
}

const POWERS_OF_TEN: bigint[] = [1n];

/** @param exponent 0 … 65,536 */
export function powerOfTen(exponent: number): bigint {
  // Powers up to the sum of two decimals' places are used often, so these are cached.
  if (exponent > 1024) return 10n ** BigInt(exponent);
  for (let next = POWERS_OF_TEN.length; next <= exponent; next++) POWERS_OF_TEN.push(POWERS_OF_TEN[next - 1] * 10n);
  return POWERS_OF_TEN[exponent];
}
