/**
 * Writes JSON with the same bytes as the contract tool: without spaces, and with the tool's order of keys, form of
 * numbers and escapes.
 */

import { type Decimal, PLACES } from '../decimal.ts';
import {
  type ExactJson,
  type ExactJsonObject,
  isExactJsonObject,
  JsonNumber,
  LedgerFormatError,
  quoted,
} from '../json.ts';

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** @throws LedgerFormatError like `jsonText`, and for a number with an exponent of more than 9 digits */
export function toolJson(value: ExactJson): string {
  if (value === null || typeof value === 'boolean') return `${value}`;
  if (typeof value === 'string') return jsonText(value);
  if (value instanceof JsonNumber) return numberText(scientificOf(value.text));
  if (isList(value)) return jsonList(value.map(toolJson));
  return jsonObject(inToolOrder(Object.keys(value)).map((key) => [key, toolJson(value[key])]));
}

/** @param values JSON texts */
export function jsonList(values: readonly string[]): string {
  return `[${values.join(',')}]`;
}

/** @param fields keys, each with the JSON text of its value. A key whose text is undefined is left out */
export function jsonObject(fields: readonly (readonly [key: string, json: string | undefined])[]): string {
  const present = fields.filter(([, json]) => json !== undefined);
  return `{${present.map(([key, json]) => `${jsonText(key)}:${json}`).join(',')}}`;
}

/**
 * Writes a string. A character below U+0020 without a short escape is written like `\u001f`, with 4 hex digits.
 * @throws LedgerFormatError for half of a surrogate pair
 */
export function jsonText(text: string): string {
  if (/\p{Surrogate}/u.test(text))
    throw new LedgerFormatError('A text has half of a surrogate pair, so it is not Unicode');
  return `"${text.replace(/["\\]|\p{Cc}/gu, escaped)}"`;
}

function escaped(character: string): string {
  if (character >= '\x7f') return character;
  return SHORT_ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function isList(value: ExactJson): value is readonly ExactJson[] {
  return Array.isArray(value);
}

/*
 * The contract tool orders keys by the 64-bit FNV-1 hash of their UTF-16LE bytes. Hashes are compared 4 bits at a time,
 * beginning with the lowest bits.
 */

const START = -2578643520546668380n;
const PRIME = 16777619n;
/** Number of hex digits in a hash. */
const DIGITS = 16;

/** @param keys without duplicates */
export function inToolOrder(keys: Iterable<string>): string[] {
  const places = new Map([...keys].map((key) => [key, placeOf(key)]));
  // As characters, hex digits have the same order as their values, so the texts can be compared.
  return [...places.keys()].sort((a, b) => (places.get(a)! < places.get(b)! ? -1 : 1));
}

/** @returns the hex digits of the key's hash, lowest digit first */
function placeOf(key: string): string {
  let hash = BigInt.asUintN(64, START);
  for (const byte of Buffer.from(key, 'utf16le')) hash = BigInt.asUintN(64, hash * PRIME) ^ BigInt(byte);
  return [...hash.toString(16).padStart(DIGITS, '0')].reverse().join('');
}

/*
 * The contract tool writes a number without decimal places in digits alone. A number with decimal places gets a decimal
 * point if its magnitude is 0, or is at least 0.1 and below 10^7. Otherwise it gets an exponent, as in `1.0e-8`. The
 * number 110.0 has a decimal place, so it is written as `110.0`. After `normalised`, it is written as `110`.
 */

/** The number `coefficient` × 10^`exponent`. */
interface Scientific {
  readonly coefficient: bigint;
  readonly exponent: number;
}

const NUMBER = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/;
/** The greatest `exponent` of a number that is written in digits alone. */
const MAX_PLAIN_EXPONENT = 1024;
/** A number with decimal places is written with an exponent if it is at least 10 to the power of this constant. */
const MAX_PLAIN_POINT = 7;

/** @param text a JSON number with an exponent of at most 9 digits @throws LedgerFormatError for any other text */
export function scientificOf(text: string): Scientific {
  const parts = NUMBER.exec(text);
  if (!parts) throw new LedgerFormatError(`${quoted(text)} is not a number such as 91.0 or 1.0e-8`);
  const [, whole, fraction = '', exponent = '0'] = parts;
  return { coefficient: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

export function scientificOfDecimal(decimal: Decimal): Scientific {
  return normalised({ coefficient: decimal, exponent: -PLACES });
}

/** @returns the same number without trailing zeros in its fraction: 110.0 becomes 110 */
export function normalised({ coefficient, exponent }: Scientific): Scientific {
  const zeros = /0*$/.exec(`${coefficient}`)![0].length;
  const dropped = coefficient === 0n ? Math.max(0, -exponent) : Math.min(zeros, Math.max(0, -exponent));
  return { coefficient: coefficient / 10n ** BigInt(dropped), exponent: exponent + dropped };
}

/** @returns the number as the contract tool writes it. This text is also valid JSON */
export function numberText({ coefficient, exponent }: Scientific): string {
  if (exponent >= 0 && exponent <= MAX_PLAIN_EXPONENT) return `${coefficient * 10n ** BigInt(exponent)}`;
  const sign = coefficient < 0n ? '-' : '';
  const all = `${coefficient < 0n ? -coefficient : coefficient}`;
  const digits = all.replace(/(?!^)0+$/, '');
  // The number's magnitude is 0.digits × 10^point.
  const point = coefficient === 0n ? 0 : all.length + exponent;
  if (point < 0 || point > MAX_PLAIN_POINT) return `${sign}${digits[0]}.${digits.slice(1) || '0'}e${point - 1}`;
  return `${sign}${digits.slice(0, point).padEnd(point, '0') || '0'}.${digits.slice(point) || '0'}`;
}

/*
 * In a capability's argument, a JSON number means a decimal. The contract tool writes a decimal as a JSON number if its
 * digits without the point are at most 2^53 − 1, and as `{"decimal": "…"}` otherwise.
 */

/** Greatest permitted magnitude of `Scientific.exponent`. Numbers beyond it are treated as typing errors. */
const MAX_EXPONENT = 255;
const PLAIN_NUMBER = /^-?\d{1,255}(\.\d{1,255})?$/;
const DEFAULT_PREDICATE = 'keys-all';

/**
 * @returns a capability's argument as the contract tool writes it
 * @throws LedgerFormatError for null, for numbers whose `Scientific.exponent` is beyond ±255, and for a malformed
 *   decimal, integer or keyset
 */
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

/** The contract tool reads the keys as a set, so they are sorted and have no duplicates. */
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
