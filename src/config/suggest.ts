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
  for (const { name, alias } of plainNames(names)) {
    // Names whose lengths differ by as much are at least as far apart.
    if (Math.abs(alias.length - wanted.length) >= least) continue;
    const far = distance(wanted, alias);
    if (far < least) [least, nearest] = [far, name];
  }
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}

interface PlainName {
  readonly name: string;
  readonly alias: string;
}

/** A file can have thousands of unknown names: what they are compared with is prepared once. */
const prepared = new WeakMap<ReadonlyMap<string, readonly string[]>, PlainName[]>();

function plainNames(names: ReadonlyMap<string, readonly string[]>): readonly PlainName[] {
  let all = prepared.get(names);
  if (!all) {
    all = [...names].flatMap(([name, others]) => [name, ...others].map((alias) => ({ name, alias: plain(alias) })));
    prepared.set(names, all);
  }
  return all;
}

/** The same for `publicKeys`, `public_keys`, `Public-Keys`. */
function plain(name: string): string {
  return (/^[A-Z_]+$/.test(name) ? name : kebab(name)).toLowerCase().replace(/[_ -]+/g, '-');
}
