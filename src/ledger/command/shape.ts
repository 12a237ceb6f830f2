/** What the schemas of commands and results have in common. They check JSON with exact numbers. */

import { z } from 'zod';
import { type ExactJson, type ExactJsonObject, isExactJsonObject, JsonNumber, safeInteger } from '../exact-json.ts';
import { reading } from '../fields.ts';

/** Any JSON value, which must be there. */
export const anyJson = z.custom<ExactJson>((value) => value !== undefined, 'is missing');
export const jsonObject = z.custom<ExactJsonObject>(
  (value) => value !== undefined && isExactJsonObject(value as ExactJson),
  'must be an object',
);
const jsonNumber = z.instanceof(JsonNumber, { error: 'must be a number' });
/** An integer up to 2^53 − 1 in digits. */
export const integer = reading(jsonNumber, safeInteger);

/** The schema of an object with these fields; others are left out. */
export function fields<Shape extends z.ZodRawShape>(shape: Shape) {
  // A JsonNumber is an object, too, but not one of JSON.
  return z.preprocess((value) => (value instanceof JsonNumber ? undefined : value), z.object(shape));
}

/** The schema of a value that writers leave out or set to null. */
export function orNull<Out, In>(schema: z.ZodType<Out, In>) {
  return schema.nullish().transform((value) => value ?? null);
}
