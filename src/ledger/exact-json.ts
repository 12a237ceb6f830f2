/**
 * JSON whose numbers keep their text. `JSON.parse` rounds integers beyond 2^53, such as the feature flags of real
 * headers, and decimals of many digits, such as amounts.
 */

import { LedgerFormatError, quoted } from './errors.ts';
import { readJson } from './json-reader.ts';

/** Far more than a node's longest answer, a page of whole blocks, has. */
const MAX_CHARACTERS = 2 ** 25;
/** Far deeper than commands and their results are; what is too deep would exhaust the stack. */
const MAX_DEPTH = 200;
/** More digits than any value of the ledger has; what is too long would take long to compute with. */
const MAX_NUMBER_CHARACTERS = 1000;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?\d+$/;

/** A JSON number as it was written. */
export class JsonNumber {
  readonly text: string;

  /** @throws LedgerFormatError unless the text is a JSON number of at most 1000 characters. */
  constructor(text: string) {
    if (text.length > MAX_NUMBER_CHARACTERS || !NUMBER.test(text)) {
      throw new LedgerFormatError(
        `${quoted(text)} is not a JSON number of at most ${MAX_NUMBER_CHARACTERS} characters`,
      );
    }
    this.text = text;
  }
}

export type ExactJson = null | boolean | string | JsonNumber | readonly ExactJson[] | ExactJsonObject;
export interface ExactJsonObject {
  readonly [key: string]: ExactJson;
}

export function isExactJsonObject(value: ExactJson): value is ExactJsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/**
 * Parses JSON (RFC 8259) of at most 2^25 characters, nested at most 200 deep. Every object has the prototype of plain
 * objects, and a key such as `__proto__` is an ordinary key. A key that comes twice in one object is refused. Keys that
 * are integers come first in an object, in ascending order, as in all objects.
 * @throws LedgerFormatError for all else.
 */
export function parseExactJson(text: string): ExactJson {
  if (text.length > MAX_CHARACTERS) {
    throw new LedgerFormatError(`The JSON has ${text.length} characters, but may have at most ${MAX_CHARACTERS}`);
  }
  return readJson(text, { number: (number) => new JsonNumber(number), mostDepth: MAX_DEPTH });
}

/** Parses JSON in UTF-8. @throws LedgerFormatError as `parseExactJson`, and for bytes that are not UTF-8. */
export function parseExactJsonBytes(bytes: Uint8Array): ExactJson {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new LedgerFormatError('This is not JSON: its bytes are not UTF-8');
  }
  return parseExactJson(text);
}

/** @returns JSON without spaces; numbers as they were written, keys in the object's order */
export function stringifyExactJson(value: ExactJson): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(stringifyExactJson)}]`;
  if (!isExactJsonObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${stringifyExactJson(each)}`)}}`;
}

/**
 * @returns the integer that the number's text spells in digits
 * @throws LedgerFormatError for a number with a point or an exponent, even if its value is an integer.
 */
export function integerOf({ text }: JsonNumber): bigint {
  if (!INTEGER.test(text)) throw new LedgerFormatError(`${quoted(text)} is not an integer in digits`);
  return BigInt(text);
}

/** @throws LedgerFormatError unless the number is an integer in digits, at least −(2^53 − 1) and at most 2^53 − 1. */
export function safeInteger(number: JsonNumber): number {
  const value = Number(integerOf(number));
  if (!Number.isSafeInteger(value)) throw new LedgerFormatError(`${quoted(number.text)} is beyond 2^53`);
  return value;
}

/** @param value an integer; if it is a number, a safe one */
export function jsonInteger(value: bigint | number): JsonNumber {
  return new JsonNumber(String(value));
}
