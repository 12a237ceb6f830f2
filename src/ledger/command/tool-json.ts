/**
 * Writes JSON byte for byte as the contract tool does: no spaces, its order of keys, its numbers, and its escapes in
 * texts.
 */

import { LedgerFormatError } from '../errors.ts';
import { type ExactJson, JsonNumber } from '../exact-json.ts';
import { inToolOrder } from './key-order.ts';
import { numberText, scientificOf } from './numbers.ts';

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** @throws LedgerFormatError as `jsonText`, and for a number with an exponent of more than 9 digits. */
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

/** @param fields keys, each with a JSON text; a key whose text is undefined is left out */
export function jsonObject(fields: readonly (readonly [key: string, json: string | undefined])[]): string {
  const present = fields.filter(([, json]) => json !== undefined);
  return `{${present.map(([key, json]) => `${jsonText(key)}:${json}`).join(',')}}`;
}

/**
 * @returns the text in quotes. Control characters without a short escape are written as `\u001f`; U+007F and above stay
 * themselves
 * @throws LedgerFormatError for half of a surrogate pair, which has no UTF-8.
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
