/** Schemas of the fields in the JSON forms of headers, payloads, cuts, peers and proofs. */

import { z } from 'zod';
import { targetToInteger } from '../chain/target.ts';
import {
  decodeBase64url,
  type ExactJson,
  HASH_TEXT,
  integerOf,
  JsonNumber,
  LedgerFormatError,
  quoted,
} from './json.ts';
import { HASH_BYTES } from './merkle.ts';

const MAX_U32 = 2n ** 32n - 1n;
export const MAX_U64 = 2n ** 64n - 1n;
/** Latest time in microseconds since the UNIX epoch. Binary headers have times as signed 64-bit integers. */
export const MAX_TIME_US = 2n ** 63n - 1n;

/** @param what name of the value in the error's message @throws LedgerFormatError that names the first wrong field */
export function checked<T>(schema: z.ZodType<T>, json: ExactJson, what: string): T {
  const { success, data, error } = schema.safeParse(json);
  if (success) return data;
  const [{ path, message }] = error.issues;
  throw new LedgerFormatError(`${[what, ...path].join('.')}: ${message}`);
}

/**
 * @param read transforms the values of `source`. A LedgerFormatError that `read` throws becomes an issue of the schema
 */
export function reading<In, Out>(source: z.ZodType<In>, read: (value: In) => Out) {
  return source.transform((value, context): Out => {
    try {
      return read(value);
    } catch (error) {
      if (!(error instanceof LedgerFormatError)) throw error;
      context.addIssue(error.message);
      return z.NEVER;
    }
  });
}

export const bytes = reading(z.string(), (text) => decodeBase64url(text));

/** A hash or a target: 32 bytes in base64url, 43 characters. */
export const hash = reading(z.string(), (text) => decodeBase64url(text, HASH_BYTES));

/** A weight: 32 bytes, little-endian, in base64url. */
export const weight = reading(z.string(), (text) => targetToInteger(decodeBase64url(text, HASH_BYTES)));

/** An id without a known meaning: 43 characters of base64url. */
export const opaqueId = z.string().regex(HASH_TEXT, 'must be 43 characters of base64url');

/** An integer from 0 to `most`, written in digits without a decimal point or an exponent. */
export function natural(most: bigint) {
  const number = z.instanceof(JsonNumber, { error: ({ input }) => noInteger(input) });
  return reading(number, (json) => inRange(integerOf(json), most));
}

/** A value of type `number` was read by `JSON.parse`, which rounds numbers and does not keep their texts. */
function noInteger(value: unknown): string {
  if (value === undefined) return 'is missing';
  return typeof value === 'number' ? 'must be read with its exact text, by parseExactJson' : 'must be an integer';
}

export const u32 = natural(MAX_U32).transform(Number);

/** A u64 that is a string in JSON, such as a nonce. */
export const u64Text = reading(z.string(), (text) => {
  if (!/^(?:0|[1-9]\d{0,19})$/.test(text))
    throw new LedgerFormatError(`${quoted(text)} is not a whole number in digits`);
  return inRange(BigInt(text), MAX_U64);
});

/** Maximum number of chains in an object: the greatest number of adjacents that a header can have (a u16). */
const MAX_CHAINS = 2 ** 16 - 1;

/**
 * An object whose keys are chain numbers. It is read as pairs of a chain and a value, in ascending order of chains,
 * because JavaScript orders keys that are integers.
 */
export function byChain<T>(value: z.ZodType<T>) {
  const chain = z.string().regex(/^(?:0|[1-9]\d{0,9})$/);
  return reading(z.record(chain, value), (record) => {
    const entries = Object.entries(record);
    if (entries.length > MAX_CHAINS) throw new LedgerFormatError(`has ${entries.length} chains`);
    return entries.map(([key, each]) => [Number(inRange(BigInt(key), MAX_U32)), each] as const);
  });
}

function inRange(value: bigint, most: bigint): bigint {
  if (value < 0n || value > most) throw new LedgerFormatError(`must be from 0 to ${most}, not ${value}`);
  return value;
}
