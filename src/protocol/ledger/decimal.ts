/**
 * Amounts, prices and rewards as exact integers, because 0.1 + 0.2 must be 0.3. Amounts of coins have at most 12
 * decimal places. Amounts of other tokens may have more.
 */

import { type ExactJson, integerOf, isExactJsonObject, JsonNumber, LedgerFormatError, quoted } from './json.ts';

/** A decimal as an integer, in units of 10^-12. */
export type Decimal = bigint;

/** An amount of any token as an integer, in units of 10^-255. */
export type TokenAmount = bigint;

export const PLACES = 12;
/** Maximum number of decimal places in the contract language. */
const TOKEN_PLACES = 255;
export const ONE: Decimal = 10n ** BigInt(PLACES);

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;
/** Maximum length of a decimal, in characters. All amounts are shorter. Computing with longer texts takes long. */
const MAX_CHARACTERS = 400;

/**
 * @param text plain or with an exponent: `91`, `91.0`, `-0.5`, `5.42e-10`
 * @throws LedgerFormatError for any other text, for more than 400 characters, and for more than 12 decimal places.
 *   Trailing zeros do not count as decimal places
 */
export function parseDecimal(text: string): Decimal {
  return parse(text, PLACES);
}

/**
 * @param json a number, `{"decimal": "91.0"}`, `{"int": 91}` or `{"int": "91"}`
 * @throws LedgerFormatError for anything else, and for more than 12 decimal places
 */
export function decimalOf(json: ExactJson): Decimal {
  return read(json, PLACES);
}

/** Like `decimalOf`, but with up to 255 decimal places. */
export function tokenAmountOf(json: ExactJson): TokenAmount {
  return read(json, TOKEN_PLACES);
}

/**
 * Reads a number in a command's metadata. Nodes and this function also accept a string with the number.
 * @throws LedgerFormatError for anything else, and for more than 12 decimal places
 */
export function metaDecimalOf(json: ExactJson): Decimal {
  return typeof json === 'string' ? parseDecimal(json) : decimalOf(json);
}

/** @returns the shortest text without an exponent, always with a decimal point: `91.0`, `0.000000000542`, `-0.5` */
export function formatDecimal(decimal: Decimal): string {
  return format(decimal, PLACES);
}

export function formatTokenAmount(amount: TokenAmount): string {
  return format(amount, TOKEN_PLACES);
}

/**
 * @param divisor at least 1
 * @returns the quotient, rounded to 12 places, half to even, as on the ledger
 * @throws RangeError for a smaller divisor
 */
export function divideDecimal(decimal: Decimal, divisor: bigint): Decimal {
  if (divisor < 1n) throw new RangeError('a decimal is divided by a positive integer');
  // BigInt division rounds towards zero. Here the quotient is rounded down, so that the remainder is 0 … divisor − 1
  // for negative decimals, too.
  const remainder = ((decimal % divisor) + divisor) % divisor;
  const floor = (decimal - remainder) / divisor;
  const twice = 2n * remainder;
  const roundsUp = twice === divisor ? floor % 2n !== 0n : twice > divisor;
  return roundsUp ? floor + 1n : floor;
}

function parse(text: string, places: number): bigint {
  const parts = text.length <= MAX_CHARACTERS ? DECIMAL.exec(text) : null;
  if (!parts) throw new LedgerFormatError(`${quoted(text)} is not a decimal such as 91.0 or 1.0e-8`);
  const [, sign, whole, fraction = '', exponent = '0'] = parts;
  const shift = places - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  const divisor = 10n ** BigInt(Math.max(0, -shift));
  if (digits % divisor !== 0n) throw new LedgerFormatError(`${quoted(text)} has more than ${places} decimal places`);
  const magnitude = (digits / divisor) * 10n ** BigInt(Math.max(0, shift));
  return sign === '-' ? -magnitude : magnitude;
}

function read(json: ExactJson, places: number): bigint {
  if (json instanceof JsonNumber) return parse(json.text, places);
  if (isExactJsonObject(json) && Object.keys(json).length === 1) {
    const { decimal, int } = json;
    if (typeof decimal === 'string') return parse(decimal, places);
    const one = 10n ** BigInt(places);
    if (int instanceof JsonNumber) return integerOf(int) * one;
    if (typeof int === 'string' && /^-?\d{1,400}$/.test(int)) return BigInt(int) * one;
  }
  throw new LedgerFormatError('A decimal is a number, {"decimal": "91.0"} or {"int": 91}');
}

function format(amount: bigint, places: number): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -places)}.${fraction || '0'}`;
}
