/** For a name that is none: the one that was probably meant. */

import { distance } from 'fastest-levenshtein';
import { kebab } from './setting.ts';

/** Longer ones are no misspelt names. */
const MAX_NAME = 64;

/**
 * @param names to suggest, each with what else people may call it
 * @returns a sentence to put after an error, or nothing when no name is near
 */
export function suggestion(unknown: string, names: ReadonlyMap<string, readonly string[]>): string {
  if (unknown.length > MAX_NAME) return '';
  const wanted = plain(unknown);
  let nearest: string | undefined;
  // A third of the letters may be wrong.
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const [name, others] of names) {
    for (const alias of [name, ...others]) {
      const far = distance(wanted, plain(alias));
      if (far < least) [least, nearest] = [far, name];
    }
  }
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}

/** The same for `publicKeys`, `public_keys`, `Public-Keys`. */
function plain(name: string): string {
  return (/^[A-Z_]+$/.test(name) ? name : kebab(name)).toLowerCase().replace(/[_ -]+/g, '-');
}
