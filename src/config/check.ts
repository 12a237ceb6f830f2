/** Checks the settings of one place (a file, the environment, the flags) and parses them into values. */

import { dirname } from 'node:path';
import type { Entry } from './entries.ts';
import { namesIn } from './known-names.ts';
import { type Issue, problemsOf } from './problems.ts';
import type { Path, Said, Tables } from './said.ts';
import { fileSchema } from './schema.ts';
import { ENTRIES } from './settings.ts';
import { meant } from './suggest.ts';
import { rigNamedBy, rigOfPoolUser } from './worker-name.ts';

/** The value of a setting in one place. */
interface Found {
  readonly value: unknown;
  readonly where: string;
  readonly at: string;
}

export interface Checked {
  /** The values that are right, by the settings' paths. */
  readonly values: ReadonlyMap<string, Found>;
  readonly problems: readonly string[];
  /** The paths of the settings that are probably meant to be set here, but to what is not known, because something is wrong. */
  readonly unknown: readonly string[];
}

export function check(said: Said): Checked {
  const { document, problems: earlier = [], unread = [] } = said;
  const { error, data } = fileSchema.safeParse(document);
  const issues: readonly Issue[] = [...(error?.issues ?? []), ...unread.flatMap(misnamed)];
  // A list may have several faults, which all get the same sentence.
  const problems = new Set([...earlier, ...issues.flatMap((issue) => problemsOf(issue, said))]);
  const sound = error ? fileSchema.safeParse(withoutFaults(document, issues)).data : data;
  const open = new Set([...unread, ...issues.slice(0, MOST_MEANT).flatMap(leavesOpen)].map(placeOf));
  const isOpen = ({ table, key }: Entry) => [[], [table], [table, key]].some((path) => open.has(placeOf(path)));
  return {
    values: valuesOf((sound ?? {}) as Tables, said),
    problems: [...problems].sort(byPosition),
    unknown: ENTRIES.filter(isOpen).map(({ path }) => path),
  };
}

/** The name of a setting whose value could not be read can be wrong, too. */
function misnamed([table, key]: Path): Issue[] {
  const isKnown =
    !key || typeof key !== 'string' || ENTRIES.some((entry) => entry.table === table && entry.key === key);
  return isKnown || !ENTRIES.some((entry) => entry.table === table)
    ? []
    : [{ code: 'unrecognized_keys', path: [table], keys: [key] }];
}

/** Sorts problems by the lines and columns that they begin with. */
const { compare: byPosition } = new Intl.Collator('en', { numeric: true });

/** So many unknown names at most are compared with the known ones, because that takes time, and a hostile file may have many. */
const MOST_MEANT = 100;

/** @returns a name for a table or a setting; a place within a setting's value has that of the setting */
function placeOf(path: Path): string {
  return JSON.stringify(path.slice(0, 2));
}

/** @returns what an issue is about */
function placesOf({ path, keys }: Issue): Path[] {
  return keys ? keys.map((key) => [...(path as Path), key]) : [path as Path];
}

/**
 * @returns what has an unknown value because of an issue: the setting with the fault, or the one that an unknown name was probably
 *   meant to be
 */
function leavesOpen(issue: Issue): Path[] {
  if (!issue.keys) return placesOf(issue);
  const [table] = issue.path as Path;
  const names = namesIn(table === undefined ? undefined : String(table));
  return issue.keys.slice(0, MOST_MEANT).flatMap((unknown) => {
    const name = meant(unknown, ...names);
    if (name === undefined) return [];
    if (name.includes('.')) return [name.split('.')];
    return [table === undefined ? [name] : [table, name]];
  });
}

/** @returns the tables and settings that no issue is about */
function withoutFaults(document: unknown, issues: readonly Issue[]): Tables {
  const faulty = new Set(issues.flatMap(placesOf).map(placeOf));
  if (typeof document !== 'object' || document === null || faulty.has(placeOf([]))) return {};
  const tables = Object.entries(document).filter(([table]) => !faulty.has(placeOf([table])));
  const settings = (table: string, all: unknown) =>
    typeof all === 'object' ? Object.entries(all ?? {}).filter(([key]) => !faulty.has(placeOf([table, key]))) : [];
  return Object.fromEntries(tables.map(([table, all]) => [table, Object.fromEntries(settings(table, all))]));
}

function valuesOf(tables: Tables, said: Said): Checked['values'] {
  const { where, at, file } = said;
  const values = new Map<string, Found>();
  for (const { table, key, path, setting } of ENTRIES) {
    const value = tables[table]?.[key];
    if (value === undefined) continue;
    const started = file === undefined ? value : (setting.type.startAt?.(dirname(file), value) ?? value);
    values.set(path, { value: started, where: where([table, key]), at: at([table, key]) });
  }
  nameRig(values, said);
  return values;
}

/** The settings that name the rig where this place does not set rig.name itself. */
const OWNERS = [
  ['miner', 'public-keys', rigNamedBy],
  ['miner', 'account', rigNamedBy],
  ['pool', 'user', rigOfPoolUser],
] as const;

function nameRig(values: Map<string, Found>, { document, where, at }: Said): void {
  if (values.has('rig.name')) return;
  for (const [table, key, rigIn] of OWNERS) {
    if (!values.has(`${table}.${key}`)) continue;
    const value = rigIn((document as Tables)[table]?.[key]);
    if (value === undefined) continue;
    values.set('rig.name', { value, where: where([table, key]), at: at([table, key]) });
    return;
  }
}
