/**
 * How the contract tool writes numbers: integers plain, 0.1 to 10^7 plain with a point, all else with an exponent
 * (`1.0e-8`). It remembers the digits after the point, so 110.0 stays `110.0`, unless a value is normalised first.
 */

import { type Decimal, PLACES } from '../decimal.ts';
import { LedgerFormatError, quoted } from '../errors.ts';

/** The number coefficient × 10^exponent. */
export interface Scientific {
  readonly coefficient: bigint;
  readonly exponent: number;
}

const NUMBER = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/;
/** Integers with more zeros at their end are written with an exponent. */
const MAX_PLAIN_EXPONENT = 1024;
/** Numbers from 10^7 on are written with an exponent, unless they are integers. */
const MAX_PLAIN_POINT = 7;

/**
 * @param text a number as JSON writes it, with an exponent of at most 9 digits
 * @throws LedgerFormatError for all else.
 */
export function scientificOf(text: string): Scientific {
  const parts = NUMBER.exec(text);
  if (!parts) throw new LedgerFormatError(`${quoted(text)} is not a number such as 91.0 or 1.0e-8`);
  const [, whole, fraction = '', exponent = '0'] = parts;
  return { coefficient: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

export function scientificOfDecimal(decimal: Decimal): Scientific {
  return normalised({ coefficient: decimal, exponent: -PLACES });
}

/** @returns the same number without zeros at the end of its fraction: 110.0 becomes 110 */
export function normalised({ coefficient, exponent }: Scientific): Scientific {
  const zeros = /0*$/.exec(`${coefficient}`)![0].length;
  const dropped = coefficient === 0n ? Math.max(0, -exponent) : Math.min(zeros, Math.max(0, -exponent));
  return { coefficient: coefficient / 10n ** BigInt(dropped), exponent: exponent + dropped };
}

/** @returns the number as the tool writes it, which is also JSON */
export function numberText({ coefficient, exponent }: Scientific): string {
  if (exponent >= 0 && exponent <= MAX_PLAIN_EXPONENT) return `${coefficient * 10n ** BigInt(exponent)}`;
  const sign = coefficient < 0n ? '-' : '';
  const all = `${coefficient < 0n ? -coefficient : coefficient}`;
  const digits = all.replace(/(?!^)0+$/, '');
  // The number is 0.digits × 10^point.
  const point = coefficient === 0n ? 0 : all.length + exponent;
  if (point < 0 || point > MAX_PLAIN_POINT) return `${sign}${digits[0]}.${digits.slice(1) || '0'}e${point - 1}`;
  return `${sign}${digits.slice(0, point).padEnd(point, '0') || '0'}.${digits.slice(point) || '0'}`;
}
