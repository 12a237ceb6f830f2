/** Block hashes (document 1, "Block hashes"). */

import { ascending, branch } from '../block-query.ts';
import { CHAIN, JSON_TYPE, type Route } from '../route.ts';

const HASHES = { cap: 4096, json: ({ id }: { readonly id: string }) => id };

export const hashRoutes: readonly Route[] = [
  {
    endpoint: 'hash',
    side: 'service',
    method: 'GET',
    path: new RegExp(`^${CHAIN}/hash$`),
    gives: [JSON_TYPE],
    answer: (asked) => ascending(asked, HASHES),
  },
  {
    endpoint: 'hash',
    side: 'service',
    method: 'POST',
    path: new RegExp(`^${CHAIN}/hash/branch$`),
    takes: JSON_TYPE,
    gives: [JSON_TYPE],
    answer: (asked) => branch(asked, HASHES),
  },
];
