/** Reads numbers and hashes from queries, paths and bodies. */

import { z } from 'zod';
import { opaqueId } from '../../ledger/fields.ts';
import type { Message } from './answer.ts';

/** @returns an integer >= 0; undefined for all else */
export function naturalFrom(text: string): bigint | undefined {
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}

/** Whether a text is written like a hash: 43 characters of base64url. */
export function isHash(text: string): boolean {
  return opaqueId.safeParse(text).success;
}

/** @returns what a body says; otherwise the answer to it, which says what the body should be */
export function parsedBody<T>(schema: z.ZodType<T>, body: Buffer, shouldBe: string): { readonly value: T } | Message {
  try {
    return { value: schema.parse(JSON.parse(body.toString())) };
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    return { status: 400, text: `Error in $: the body is ${shouldBe}` };
  }
}
