/** The known names of tables, settings and networks, and the comparison of unknown names with them. */

import { distance } from 'fastest-levenshtein';
import { ENTRIES } from './settings.ts';
import { type Entry, kebab } from './settings-table.ts';

/**
 * Names with their aliases. `here` has the keys of one table or, for the top level, the names of all tables.
 * `elsewhere` has the paths (`table.key`) of the settings in other tables.
 */
type PlacedNames = readonly [
  here: ReadonlyMap<string, readonly string[]>,
  elsewhere: ReadonlyMap<string, readonly string[]>,
];

/** @param table the table in which an unknown name was found; undefined for the top level */
export function namesIn(table: string | undefined): PlacedNames {
  const aliases = ({ key, flag }: Entry) => [key, ...(flag === undefined ? [] : [flag.slice(2)])];
  const here = ENTRIES.filter((entry) => entry.table === table);
  const elsewhere = ENTRIES.filter((entry) => entry.table !== table);
  const tables = table === undefined ? ENTRIES.map((entry): [string, string[]] => [entry.table, []]) : [];
  return [
    new Map([...tables, ...here.map((entry): [string, string[]] => [entry.key, aliases(entry)])]),
    new Map(elsewhere.map((entry): [string, string[]] => [entry.path, aliases(entry)])),
  ];
}

/** Maximum length of a misspelt name. Longer names are not compared. */
const MAX_NAME = 64;

/** @returns a sentence to append to an error, or an empty text if no name is similar */
export function suggestion(...about: Parameters<typeof meant>): string {
  const nearest = meant(...about);
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}

/**
 * @param groups names with their aliases. Earlier groups are preferred
 * @returns the most similar name of the first group that has a similar one; undefined if no name is similar
 */
export function meant(unknown: string, ...groups: readonly Names[]): string | undefined {
  if (unknown.length > MAX_NAME) return undefined;
  return groups.reduce<string | undefined>((found, names) => found ?? nearestIn(names, unknown), undefined);
}

type Names = ReadonlyMap<string, readonly string[]>;

function nearestIn(names: Names, unknown: string): string | undefined {
  const wanted = plain(unknown);
  let nearest: string | undefined;
  // Up to a third of the letters may be wrong, and one letter in names of one or two letters.
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const [name, alias] of [...names].flatMap(([name, others]) =>
    [name, ...others].map((each) => [name, plain(each)]),
  )) {
    // The difference of the lengths is a lower bound of the distance.
    if (Math.abs(alias.length - wanted.length) >= least) continue;
    const far = distance(wanted, alias);
    if (far < least) [least, nearest] = [far, name];
  }
  return nearest;
}

/** @returns a spelling for comparisons, the same for `publicKeys`, `public_keys` and `PUBLIC_KEYS` */
function plain(name: string): string {
  return (/^[A-Z_]+$/.test(name) ? name : kebab(name)).toLowerCase().replace(/[_ -]+/g, '-');
}

/* Known networks. */

const KNOWN = ['mainnet01', 'testnet04', 'development', 'test-singleton'];
/** Matches names of numbered networks. They are accepted with any number, because later networks have other numbers. */
const NUMBERED = /^(mainnet|testnet)\d\d$/;
/** Maximum number of wrong letters in a misspelt name. A name with more is taken for the name of another network. */
const MAX_WRONG_LETTERS = 2;

/** @returns the known network that is probably meant; undefined if the name is known or resembles no known name */
export function misspeltNetwork(name: string): string | undefined {
  if (KNOWN.includes(name) || NUMBERED.test(name)) return undefined;
  return KNOWN.find((known) => distance(name.toLowerCase(), known) <= MAX_WRONG_LETTERS);
}
