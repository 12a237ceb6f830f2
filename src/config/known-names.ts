/** The names that an unknown one is compared with. */

import type { Entry } from './entries.ts';
import { ENTRIES } from './settings.ts';

/** The names of one table, and then all others with their tables. */
type Names = readonly [here: ReadonlyMap<string, readonly string[]>, elsewhere: ReadonlyMap<string, readonly string[]>];

/** Names by table; undefined is the top, and '' any table that does not exist. They are kept, because a hostile file asks thousands of times. */
const names = new Map<string | undefined, Names>();

/** @param table where an unknown name stands; undefined for the top */
export function namesIn(table: string | undefined): Names {
  const known = table === undefined || ENTRIES.some((entry) => entry.table === table) ? table : '';
  const all = names.get(known) ?? gatherNames(known);
  names.set(known, all);
  return all;
}

function gatherNames(table: string | undefined): Names {
  const aliases = ({ key, flag }: Entry) => [key, ...(flag === undefined ? [] : [flag.slice(2)])];
  const here = ENTRIES.filter((entry) => entry.table === table);
  const elsewhere = ENTRIES.filter((entry) => entry.table !== table);
  const tables = table === undefined ? ENTRIES.map((entry): [string, string[]] => [entry.table, []]) : [];
  return [
    new Map([...tables, ...here.map((entry): [string, string[]] => [entry.key, aliases(entry)])]),
    new Map(elsewhere.map((entry): [string, string[]] => [entry.path, aliases(entry)])),
  ];
}
