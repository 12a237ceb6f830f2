/** The known names of tables, settings and networks, which unknown names are compared with. */

import { distance } from 'fastest-levenshtein';
import { ENTRIES } from './settings.ts';
import { type Entry, kebab } from './settings-table.ts';

/** Names, each with its aliases: those in one table, and then the paths (`table.key`) in all other tables. */
type PlacedNames = readonly [
  here: ReadonlyMap<string, readonly string[]>,
  elsewhere: ReadonlyMap<string, readonly string[]>,
];

/** @param table the table that has an unknown name; undefined for the top level */
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

/** Maximum length of a misspelt name. Longer ones are not compared. */
const MAX_NAME = 64;

/** @returns a sentence to append to an error, or an empty text if no name is similar */
export function suggestion(...about: Parameters<typeof meant>): string {
  const nearest = meant(...about);
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}

/** @param groups names with their other names, preferred groups first @returns undefined if no name is similar */
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
  for (const [name, alias] of [...names].flatMap(([name, others]) =>
    [name, ...others].map((each) => [name, plain(each)]),
  )) {
    // The distance is at least the difference of the lengths.
    if (Math.abs(alias.length - wanted.length) >= least) continue;
    const far = distance(wanted, alias);
    if (far < least) [least, nearest] = [far, name];
  }
  return nearest;
}

/** @returns the same for `publicKeys`, `public_keys` and `Public-Keys` */
function plain(name: string): string {
  return (/^[A-Z_]+$/.test(name) ? name : kebab(name)).toLowerCase().replace(/[_ -]+/g, '-');
}

/* Known networks. */

const KNOWN = ['mainnet01', 'testnet04', 'development', 'test-singleton'];
/** Names of numbered networks. Later networks may have other numbers. */
const NUMBERED = /^(mainnet|testnet)\d\d$/;
/** Maximum number of wrong letters. Names that differ by more letters are names of other networks. */
const MAX_WRONG_LETTERS = 2;

/** @returns the known network whose name is probably meant; undefined when the name is fine */
export function misspeltNetwork(name: string): string | undefined {
  if (KNOWN.includes(name) || NUMBERED.test(name)) return undefined;
  return KNOWN.find((known) => distance(name.toLowerCase(), known) <= MAX_WRONG_LETTERS);
}
