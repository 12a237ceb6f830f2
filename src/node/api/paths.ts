/** Builds the paths and queries of requests, from values that are checked first. */

import { HASH_CHARACTERS } from '../../ledger/base64url.ts';

/** The highest chain that a header can name. */
const MAX_CHAIN = 2 ** 32 - 1;

/** Where a collection of blocks is cut. Both heights belong to it. */
export interface HeightRange {
  readonly minHeight?: number | bigint;
  readonly maxHeight?: number | bigint;
}

/** @throws RangeError unless the chain is a whole number from 0 on */
export function chainPath(chain: number, rest: string): string {
  if (!Number.isInteger(chain) || chain < 0 || chain > MAX_CHAIN) throw new RangeError(`${chain} is not a chain`);
  return `chain/${chain}/${rest}`;
}

/**
 * @param values numbers must be whole and not negative; what is undefined is left out
 * @returns the query with its question mark; empty when there is nothing in it
 * @throws RangeError for other numbers
 */
export function query(values: Readonly<Record<string, string | number | bigint | boolean | undefined>>): string {
  const pairs = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const isWrong = typeof value === 'bigint' ? value < 0n : typeof value === 'number' && !isNatural(value);
      if (isWrong) throw new RangeError(`${name} must be a whole number from 0 on, not ${value}`);
      return `${name}=${value}`;
    });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** More blocks than any chain has at one height. */
const MOST_AT_A_HEIGHT = 1000n;

/** @returns the range as the API's query has it, and the most blocks that can be in it; undefined for a range without an end */
export function heights({ minHeight, maxHeight }: HeightRange) {
  const query = { minheight: minHeight, maxheight: maxHeight };
  if (maxHeight === undefined) return { query, most: undefined };
  const count = BigInt(maxHeight) - BigInt(minHeight ?? 0) + 1n;
  return { query, most: count > 0n ? count * MOST_AT_A_HEIGHT : 0n };
}

export function isInRange(height: bigint, { minHeight = 0, maxHeight = height }: HeightRange): boolean {
  return height >= minHeight && height <= maxHeight;
}

const REQUEST_KEY = new RegExp(`^[\\w-]{${HASH_CHARACTERS}}$`);

/** @throws RangeError unless the text is 43 characters of base64url */
export function requestKey(text: string): string {
  if (!REQUEST_KEY.test(text)) throw new RangeError(`${JSON.stringify(text)} is not a request key`);
  return text;
}

function isNatural(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
