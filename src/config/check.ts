/** Checks what one place says (a file, the environment, the flags): values on one side, problems on the other. */

import { basename, dirname } from 'node:path';
import { oneLine } from '../text/one-line.ts';
import { fileSchema } from './schema.ts';
import { redact, whereSecretBelongs, withoutUser } from './secrets.ts';
import type { Entry } from './setting.ts';
import { ENTRIES } from './settings.ts';
import { suggestion } from './suggest.ts';

export type Path = readonly (string | number)[];

/** A place that settings come from, before they are checked. */
export interface Said {
  /** Tables of settings, as a file has them. */
  readonly document: unknown;
  /** Where a path of the document stands, for people: `pickaxe.toml:4`, `--threads`. */
  readonly where: (path: Path) => string;
  /** Of a file: paths in it start at its folder. */
  readonly file?: string;
  /** Nobody named the file: it was found. */
  readonly unasked?: true;
}

export interface Checked {
  /** By the settings' paths. */
  readonly values: ReadonlyMap<string, { readonly value: unknown; readonly where: string }>;
  readonly problems: readonly string[];
}

/** Longer values are not repeated in an error. */
const MAX_SHOWN = 60;

export function check(said: Said): Checked {
  const { error, data } = fileSchema.safeParse(said.document);
  // A list may have several faults; one says what is expected.
  const problems = new Set([...(error?.issues.flatMap((issue) => tell(issue, said)) ?? []), ...overreach(said)]);
  return { values: error ? new Map() : valuesOf(data as Tables, said), problems: [...problems].sort(byLine) };
}

/** Whoever left a file in the current folder, a repository that was cloned for one, is nobody to run commands here. */
function overreach({ document, where, file, unasked }: Said): string[] {
  if (!unasked || file === undefined) return [];
  const tables = document as Tables | null;
  const said = ENTRIES.filter(({ table, key, setting }) => setting.needsNaming && tables?.[table]?.[key] !== undefined);
  if (said.length === 0) return [];
  const [{ table, key }] = said;
  const names = said.map(({ path }) => path).join(', ');
  const remedy = `Name the file (--config ${basename(file)}), or write that into the user's own`;
  return [`${where([table, key])}: ${names} cannot be set by a file that was only found here. ${remedy}.`];
}

/** As they stand in the file. */
const { compare: byLine } = new Intl.Collator('en', { numeric: true });

type Tables = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

function valuesOf(tables: Tables, { where, file }: Said): Checked['values'] {
  const values = new Map<string, { value: unknown; where: string }>();
  for (const { table, key, path, setting } of ENTRIES) {
    const value = tables[table]?.[key];
    if (value === undefined) continue;
    const meant = file === undefined ? value : (setting.kind.startAt?.(dirname(file), value) ?? value);
    values.set(path, { value: meant, where: where([table, key]) });
  }
  return values;
}

interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
}

function tell({ code, path: issuePath, keys }: Issue, { document, where, file }: Said): string[] {
  const path = issuePath as Path;
  if (code === 'unrecognized_keys') return (keys ?? []).map((key) => tellUnknown([...path, key], where));
  const entry = ENTRIES.find(({ table, key }) => table === path[0] && key === path[1]);
  const value = path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)?.[key], document);
  // Flags and variables are their own names.
  const subject = file === undefined ? where(path) : `${where(path)}: ${nameOf(path)}`;
  // Where the path of a secret's file should be, the secret itself may be.
  const { secretFile, hidden, shown } = entry?.setting ?? {};
  const said = secretFile ? 'no path' : hidden ? 'not what it must be' : show(shown ? withoutPath(value) : value);
  return [`${subject} is ${said}. ${entry?.setting.kind.says ?? expectTable(path)}`];
}

function expectTable(path: Path): string {
  const keys = ENTRIES.filter(({ table }) => table === path[0]).map(({ key }) => key);
  if (path.length === 0) return 'A configuration is an object of tables.';
  return keys.length > 0 ? `It is a table with ${keys.join(', ')}.` : 'Give a text.';
}

function tellUnknown(path: Path, where: (path: Path) => string): string {
  const [table, key] = path.map(String);
  const belongs = whereSecretBelongs(key ?? table);
  const place = `${where(path)}: `;
  if (belongs !== undefined) return `${place}there is no setting ${nameOf(path)}. ${belongs}`;
  const what = key === undefined ? 'table' : 'setting';
  return `${place}there is no ${what} ${nameOf(path)}.${suggestion(key ?? table, namesIn(key === undefined ? undefined : table))}`;
}

type Names = ReadonlyMap<string, readonly string[]>;

/** By table; undefined is the top, and '' any table that is none. A hostile file asks thousands of times. */
const names = new Map<string | undefined, Names>();

/** What may be meant in a table, or else at the top: there, other names are suggested with their tables. */
function namesIn(table: string | undefined): Names {
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
  return new Map([
    ...tables,
    ...here.map((entry): [string, string[]] => [entry.key, aliases(entry)]),
    ...elsewhere.map((entry): [string, string[]] => [entry.path, aliases(entry)]),
  ]);
}

/** `node.urls[1]`; names that are none are cut short. */
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

/** What is no URL cannot be shown as one is; its host still tells which one is meant. */
function withoutPath(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // A password may have slashes in it.
  const text = withoutUser(value);
  const host = text.indexOf('://') < 0 ? 0 : text.indexOf('://') + '://'.length;
  const length = text.slice(host).search(/[/?#]/);
  return length < 0 ? text : `${text.slice(0, host + length)}/…`;
}

function show(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return `${value}`;
  if (typeof value === 'string') {
    if (value.length > MAX_SHOWN) return `a text of ${value.length} characters`;
    // A password in it may have spaces and quotes, where a word of a text ends.
    return redact(oneLine(JSON.stringify(withoutUser(value))));
  }
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (value instanceof Date) return 'a date';
  return value === null ? 'null' : 'a table';
}
