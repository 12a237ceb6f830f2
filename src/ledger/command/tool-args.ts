/**
 * What the contract tool makes of a capability's argument before it writes it: every number is a decimal, and a decimal
 * is written as a number while its digits, without the point, fit in 2^53.
 */

import { LedgerFormatError } from '../errors.ts';
import { type ExactJson, type ExactJsonObject, isExactJsonObject, JsonNumber } from '../exact-json.ts';
import { normalised, numberText, type Scientific, scientificOf } from './numbers.ts';

/** Longer numbers are typing errors. */
const MAX_EXPONENT = 255;
const PLAIN_NUMBER = /^-?\d{1,255}(\.\d{1,255})?$/;
const DEFAULT_PREDICATE = 'keys-all';

/** @throws LedgerFormatError for null, and for numbers with an exponent beyond 255. */
export function toolArg(json: ExactJson): ExactJson {
  if (json === null) throw new LedgerFormatError('an argument cannot be null');
  if (json instanceof JsonNumber) return decimalArg(normalised(limited(scientificOf(json.text))));
  if (!isExactJsonObject(json)) return Array.isArray(json) ? json.map(toolArg) : json;
  const { decimal, int, keys, pred = DEFAULT_PREDICATE } = json;
  const names = Object.keys(json);
  if (names.length === 1 && decimal !== undefined) return decimalArg(scientificOf(plainNumber(decimal)));
  if (names.length === 1 && int !== undefined) return integerArg(int);
  if (Array.isArray(keys) && names.every((name) => name === 'keys' || name === 'pred')) return keysetArg(keys, pred);
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, toolArg(value)]));
}

function decimalArg(scientific: Scientific): ExactJson {
  const { coefficient, exponent } = scientific;
  const mantissa = coefficient * 10n ** BigInt(Math.max(0, exponent));
  if (isSafe(mantissa)) return new JsonNumber(numberText(normalised(scientific)));
  const places = Math.max(0, -exponent);
  const digits = `${mantissa < 0n ? -mantissa : mantissa}`.padStart(places + 1, '0');
  const point = digits.length - places;
  const fraction = places > 0 ? `.${digits.slice(point)}` : '';
  return { decimal: `${mantissa < 0n ? '-' : ''}${digits.slice(0, point)}${fraction}` };
}

function integerArg(json: ExactJson): ExactJsonObject {
  const text = json instanceof JsonNumber ? json.text : textOf(json);
  if (!/^-?\d{1,1000}$/.test(text)) throw new LedgerFormatError('{"int": …} needs the digits of an integer');
  const integer = BigInt(text);
  return { int: isSafe(integer) ? new JsonNumber(`${integer}`) : `${integer}` };
}

/** The tool reads a keyset as a set: its keys are sorted, and none is there twice. */
function keysetArg(keys: readonly ExactJson[], pred: ExactJson): ExactJsonObject {
  return { pred: textOf(pred), keys: [...new Set(keys.map(textOf))].sort() };
}

function textOf(json: ExactJson): string {
  if (typeof json !== 'string') throw new LedgerFormatError('decimals, keys and predicates must be texts');
  return json;
}

function plainNumber(json: ExactJson): string {
  const text = textOf(json);
  if (!PLAIN_NUMBER.test(text)) throw new LedgerFormatError('{"decimal": …} needs a plain number, such as "91.0"');
  return text;
}

function isSafe(integer: bigint): boolean {
  return integer >= -Number.MAX_SAFE_INTEGER && integer <= Number.MAX_SAFE_INTEGER;
}

function limited(scientific: Scientific): Scientific {
  if (Math.abs(scientific.exponent) <= MAX_EXPONENT) return scientific;
  throw new LedgerFormatError('a number has too many digits before or after its point');
}
