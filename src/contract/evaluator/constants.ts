/** Names that stand for a value in all code. */

import type { PrimitiveType } from '../syntax/tree.ts';
import type { Value } from '../values/values.ts';

/** Sets of characters, for the native `is-charset`. */
export const CHARSET_ASCII = 0n;
export const CHARSET_LATIN1 = 1n;

/** The schemas that the language knows in dialect 4, of what the natives `chain-data` and `describe-namespace` return. */
export const SCHEMAS: ReadonlyMap<string, Readonly<Record<string, PrimitiveType>>> = new Map([
  [
    'public-chain-data',
    {
      'block-height': 'integer',
      'block-time': 'time',
      'chain-id': 'string',
      'gas-limit': 'integer',
      'gas-price': 'decimal',
      'prev-block-hash': 'string',
      sender: 'string',
    },
  ],
  ['described-namespace', { 'admin-guard': 'guard', 'namespace-name': 'string', 'user-guard': 'guard' }],
]);

export const CONSTANTS: ReadonlyMap<string, Value> = new Map(Object.entries({ CHARSET_ASCII, CHARSET_LATIN1 }));
