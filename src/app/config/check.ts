/** Checks the settings of one place (a file, the environment, the flags) and parses them into values. */

import { dirname } from 'node:path';
import { oneLine } from '../../base/text/plain-text.ts';
import { meant, namesIn, suggestion } from './known-names.ts';
import type { Path, RawSettings, Tables } from './raw-settings.ts';
import { fileSchema } from './schema.ts';
import { redact, whereSecretBelongs, withoutUser } from './secrets.ts';
import { whyOf } from './setting-types/basic.ts';
import { rigNamedBy, rigOfPoolUser } from './setting-types/rig.ts';
import { ENTRIES } from './settings.ts';
import type { Entry } from './settings-table.ts';

interface Found {
  readonly value: unknown;
  readonly where: string;
  readonly at: string;
}

export interface Checked {
  /** Valid values, by the settings' paths. */
  readonly values: ReadonlyMap<string, Found>;
  readonly problems: readonly string[];
  /** Paths of the settings that this place probably sets, but whose values are not known because of an error. */
  readonly unknown: readonly string[];
}

export function check(raw: RawSettings): Checked {
  const { document, problems: earlier = [], unread = [] } = raw;
  const { error, data } = fileSchema.safeParse(document);
  const issues: readonly Issue[] = [...(error?.issues ?? []), ...unread.flatMap(misnamed)];
  // Issues can have the same sentence, as for two equal items of a list. The set keeps each sentence once.
  const problems = new Set([...earlier, ...issues.flatMap((issue, at) => problemsOf(issue, raw, at < MOST_MEANT))]);
  const sound = error ? fileSchema.safeParse(withoutFaults(document, issues)).data : data;
  const open = new Set([...unread, ...issues.slice(0, MOST_MEANT).flatMap(leavesOpen)].map(placeOf));
  const isOpen = ({ table, key }: Entry) => [[], [table], [table, key]].some((path) => open.has(placeOf(path)));
  return {
    values: valuesOf((sound ?? {}) as Tables, raw),
    problems: [...problems].sort(byPosition),
    unknown: ENTRIES.filter(isOpen).map(({ path }) => path),
  };
}

/** Checks the name of a setting whose value could not be read. @returns an issue if a known table lacks such a name */
function misnamed([table, key]: Path): Issue[] {
  const isKnown =
    !key || typeof key !== 'string' || ENTRIES.some((entry) => entry.table === table && entry.key === key);
  return isKnown || !ENTRIES.some((entry) => entry.table === table)
    ? []
    : [{ code: 'unrecognized_keys', path: [table], keys: [key] }];
}

const { compare: byPosition } = new Intl.Collator('en', { numeric: true });

/**
 * Maximum number of issues, and of names in an issue, that are compared with known names. A hostile file may have many
 * more.
 */
const MOST_MEANT = 20;

/** @returns a text that identifies the path's table or setting. All paths into a setting's value have the same text */
function placeOf(path: Path): string {
  return JSON.stringify(path.slice(0, 2));
}

function placesOf({ path, keys }: Issue): Path[] {
  return keys ? keys.map((key) => [...(path as Path), key]) : [path as Path];
}

/**
 * @returns the paths of settings and tables whose values are not known because of an issue. For a faulty value, this is
 *   the setting itself. For unknown names, these are the settings and tables with similar names
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

function valuesOf(tables: Tables, raw: RawSettings): Checked['values'] {
  const { where, at, file } = raw;
  const values = new Map<string, Found>();
  for (const { table, key, path, setting } of ENTRIES) {
    const value = tables[table]?.[key];
    if (value === undefined) continue;
    const started = file === undefined ? value : (setting.type.startAt?.(dirname(file), value) ?? value);
    values.set(path, { value: started, where: where([table, key]), at: at([table, key]) });
  }
  nameRig(values, raw);
  return values;
}

/**
 * Settings whose values may contain the rig's name. The first name counts, unless the same place also sets rig.name.
 */
const OWNERS = [
  ['miner', 'public-keys', rigNamedBy],
  ['miner', 'account', rigNamedBy],
  ['pool', 'user', rigOfPoolUser],
] as const;

function nameRig(values: Map<string, Found>, { document, where, at }: RawSettings): void {
  if (values.has('rig.name')) return;
  for (const [table, key, rigIn] of OWNERS) {
    const value = rigIn((document as Tables)[table]?.[key]);
    if (value === undefined) continue;
    values.set('rig.name', { value, where: where([table, key]), at: at([table, key]) });
    return;
  }
}

/* Sentences for people about faulty settings. */

/** Maximum number of characters of a text that an error repeats. Of a longer text, the error says the length only. */
const MAX_SHOWN = 60;

interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  /** May contain the reason that a setting type gives. `whyOf` reads the reason. */
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly keys?: readonly string[];
  /** For a union of types: the issues of the value with each of the types. */
  readonly errors?: readonly (readonly Issue[])[];
}

/** @param suggests whether unknown names are compared with known ones @returns a sentence for each problem */
function problemsOf(issue: Issue, raw: RawSettings, suggests = true): string[] {
  const { code, keys = [], errors = [] } = issue;
  const { document, at, file } = raw;
  const path = issue.path as Path;
  if (code === 'unrecognized_keys')
    return keys.map((key, index) => unknown([...path, key], at, suggests && index < MOST_MEANT));
  const entry = ENTRIES.find(({ table, key }) => table === path[0] && key === path[1]);
  const value = path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)?.[key], document);
  // A list setting is a union of a list and a single value. For a list, the problems of the items are reported.
  if (code === 'invalid_union' && Array.isArray(value)) {
    return errors[0].flatMap((inner) => problemsOf({ ...inner, path: [...path, ...inner.path] }, raw));
  }
  const subject = file === undefined ? at(path) : `${at(path)}: ${nameOf(path)}`;
  // If the setting is the path of a secret's file, the value is not shown, because the user may have written the secret
  // itself.
  const { secretFile, hidden, shown } = entry?.setting ?? {};
  const what = secretFile ? 'not a path' : hidden ? 'not valid' : show(shown ? withoutPath(value) : value);
  const why = hidden ? undefined : whyOf([issue, ...errors.flat()]);
  const hint = entry?.setting.type.hint ?? expectTable(path);
  return [`${subject} is ${what}${why === undefined ? '' : `: ${why}`}. ${hint}`];
}

function expectTable(path: Path): string {
  const keys = keysOf(path[0]);
  if (path.length === 0) return 'A configuration file must contain tables.';
  return keys.length > 0 ? `It must be a table with ${keys.join(', ')}.` : 'Give a text.';
}

function unknown(path: Path, at: RawSettings['at'], suggests: boolean): string {
  const [table, key] = path.map(String);
  const belongs = whereSecretBelongs(key ?? table);
  const place = `${at(path)}: `;
  if (belongs !== undefined) return `${place}there is no setting ${nameOf(path)}. ${belongs}`;
  const what = key === undefined ? 'table' : 'setting';
  const instead = suggests ? suggestion(key ?? table, ...namesIn(key === undefined ? undefined : table)) : '';
  return `${place}there is no ${what} ${nameOf(path)}.${instead || choiceIn(table)}`;
}

/** @returns a sentence to append, with the settings of a table; an empty text if there is no such table */
function choiceIn(table: string): string {
  const keys = keysOf(table);
  return keys.length === 0 ? '' : ` The table ${table} has ${keys.join(', ')}.`;
}

function keysOf(table: unknown): string[] {
  return ENTRIES.filter((entry) => entry.table === table).map(({ key }) => key);
}

/** @returns the path as a text: `node.urls[1]`. Names that are not plain are quoted and cut short */
function nameOf(path: Path): string {
  if (path.length === 0) return 'it';
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      const name = /^[\w$-]{1,64}$/.test(key) ? key : oneLine(JSON.stringify(key.slice(0, MAX_SHOWN)));
      return index === 0 ? name : `.${name}`;
    })
    .join('');
}

/**
 * Removes the path of a faulty URL, because it may contain a key. The rest shows the user which URL is wrong.
 * @returns the text without the path, the query, the user and the password; any other value as it is
 */
function withoutPath(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // The user and password are removed first, because a password may contain slashes.
  const text = value.includes('://') ? withoutUser(value) : value.replace(/^.*@/s, '***@');
  const host = text.indexOf('://') < 0 ? 0 : text.indexOf('://') + '://'.length;
  const length = text.slice(host).search(/[/?#]/);
  return length < 0 ? text : `${text.slice(0, host + length)}/…`;
}

function show(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return `${value}`;
  if (typeof value === 'string') {
    if (value.length > MAX_SHOWN) return `a text of ${value.length} characters`;
    // The whole text is treated as one URL, because a password may contain spaces and quotes.
    return redact(oneLine(JSON.stringify(withoutUser(value))));
  }
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (value instanceof Date) return 'a date';
  return value === null ? 'null' : 'a table';
}
