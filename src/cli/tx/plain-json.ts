/** Makes JSON with exact numbers printable without losing digits. */

import { type ExactJson, isExactJsonObject, JsonNumber } from '../../ledger/exact-json.ts';

/** A JSON value as `JSON.stringify` takes it. */
export type PlainJson = null | boolean | string | number | PlainJson[] | { [key: string]: PlainJson };

/** @returns the same value; a number that JavaScript would round becomes a text with its digits */
export function plainJson(json: ExactJson): PlainJson {
  if (json instanceof JsonNumber) return plainNumber(json.text);
  if (isExactJsonObject(json))
    return Object.fromEntries(Object.entries(json).map(([key, each]) => [key, plainJson(each)]));
  return Array.isArray(json) ? json.map(plainJson) : (json as null | boolean | string);
}

/** Smaller doubles have fewer digits. */
const LEAST_NORMAL = 2 ** -1022;

/** Doubles keep 15 digits, whatever these are. */
function plainNumber(text: string): number | string {
  const digits = text.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  const value = Number(text);
  const isKept = digits === '' || (Number.isFinite(value) && Math.abs(value) >= LEAST_NORMAL);
  return digits.length <= 15 && isKept ? value : text;
}
