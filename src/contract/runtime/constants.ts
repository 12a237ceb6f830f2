/** Names that stand for a value in all code. */

import type { Value } from '../values/values.ts';

/** Sets of characters, for the native `is-charset`. */
export const CHARSET_ASCII = 0n;
export const CHARSET_LATIN1 = 1n;

export const CONSTANTS: ReadonlyMap<string, Value> = new Map(Object.entries({ CHARSET_ASCII, CHARSET_LATIN1 }));
