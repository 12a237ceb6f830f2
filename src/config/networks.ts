/** The networks that pickaxe knows, to recognize misspelt names. Pure. */

import { distance } from 'fastest-levenshtein';

const KNOWN = ['mainnet01', 'testnet04', 'development', 'test-singleton'];
/** Later networks may have the same names with other digits. */
const NUMBERED = /^(mainnet|testnet)\d\d$/;
/** A name with more wrong letters is a network of its own. */
const MAX_WRONG_LETTERS = 2;

/** @returns the known network that a name is probably meant to be; undefined when the name is fine */
export function misspeltNetwork(name: string): string | undefined {
  if (KNOWN.includes(name) || NUMBERED.test(name)) return undefined;
  return KNOWN.find((known) => distance(name.toLowerCase(), known) <= MAX_WRONG_LETTERS);
}
