/** Finds the known name that an unknown name was probably meant to be. */

import { distance } from 'fastest-levenshtein';
import { kebab } from './entries.ts';

/** A longer name is not a misspelt one. */
const MAX_NAME = 64;

/** @returns a sentence to append to an error, or an empty text if no name is similar; it takes what `meant` takes */
export function suggestion(...about: Parameters<typeof meant>): string {
  const nearest = meant(...about);
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}

/**
 * @param groups names to suggest, each with its other names; a name of an earlier group is preferred
 * @returns the name that an unknown one was probably meant to be; undefined if no name is similar
 */
export function meant(unknown: string, ...groups: readonly Names[]): string | undefined {
  if (unknown.length > MAX_NAME) return undefined;
  return groups.reduce<string | undefined>((found, names) => found ?? nearestIn(names, unknown), undefined);
}

type Names = ReadonlyMap<string, readonly string[]>;

function nearestIn(names: Names, unknown: string): string | undefined {
  const wanted = plain(unknown);
  let nearest: string | undefined;
  // A third of the letters may be wrong.
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const { name, alias } of plainNames(names)) {
    // The distance is at least the difference of the lengths.
    if (Math.abs(alias.length - wanted.length) >= least) continue;
    const far = distance(wanted, alias);
    if (far < least) [least, nearest] = [far, name];
  }
  return nearest;
}

interface PlainName {
  readonly name: string;
  readonly alias: string;
}

/** A file can have thousands of unknown names, so the names to compare them with are prepared once. */
const prepared = new WeakMap<Names, PlainName[]>();

function plainNames(names: Names): readonly PlainName[] {
  let all = prepared.get(names);
  if (!all) {
    all = [...names].flatMap(([name, others]) => [name, ...others].map((alias) => ({ name, alias: plain(alias) })));
    prepared.set(names, all);
  }
  return all;
}

/** @returns the same for `publicKeys`, `public_keys` and `Public-Keys` */
function plain(name: string): string {
  return (/^[A-Z_]+$/.test(name) ? name : kebab(name)).toLowerCase().replace(/[_ -]+/g, '-');
}
