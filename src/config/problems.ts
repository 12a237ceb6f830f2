/** Says what is wrong with settings, in sentences for people. */

import { oneLine } from '../text/one-line.ts';
import { namesIn } from './known-names.ts';
import type { Path, Said } from './said.ts';
import { redact, whereSecretBelongs, withoutUser } from './secrets.ts';
import { whyOf } from './setting-types/setting-type.ts';
import { ENTRIES } from './settings.ts';
import { suggestion } from './suggest.ts';

/** Longer values are not repeated in an error. */
const MAX_SHOWN = 60;

export interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  /** What `parsed` adds: see `whyOf`. */
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly keys?: readonly string[];
  /** The issues of each type that a value may have. */
  readonly errors?: readonly (readonly Issue[])[];
}

/**
 * @param issue what zod found wrong
 * @returns a sentence for each problem: where it is, what is wrong, and what to write
 */
export function problemsOf(issue: Issue, said: Said): string[] {
  const { code, keys = [], errors = [] } = issue;
  const { document, at, file } = said;
  const path = issue.path as Path;
  if (code === 'unrecognized_keys') return keys.map((key) => unknown([...path, key], at));
  const entry = ENTRIES.find(({ table, key }) => table === path[0] && key === path[1]);
  const value = path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)?.[key], document);
  // The type of a list is a union; what is wrong with the items says more than that neither type fits.
  if (code === 'invalid_union' && Array.isArray(value)) {
    return errors[0].flatMap((inner) => problemsOf({ ...inner, path: [...path, ...inner.path] }, said));
  }
  // The place of a flag or a variable is its name.
  const subject = file === undefined ? at(path) : `${at(path)}: ${nameOf(path)}`;
  // Somebody may have written the secret itself where the path of its file belongs.
  const { secretFile, hidden, shown } = entry?.setting ?? {};
  const what = secretFile ? 'not a path' : hidden ? 'not valid' : show(shown ? withoutPath(value) : value);
  const why = hidden ? undefined : whyOf([issue, ...errors.flat()]);
  const says = entry?.setting.type.says ?? expectTable(path);
  return [`${subject} is ${what}${why === undefined ? '' : `: ${why}`}. ${says}`];
}

function expectTable(path: Path): string {
  const keys = keysOf(path[0]);
  if (path.length === 0) return 'A configuration file must contain tables.';
  return keys.length > 0 ? `It must be a table with ${keys.join(', ')}.` : 'Give a text.';
}

function unknown(path: Path, at: Said['at']): string {
  const [table, key] = path.map(String);
  const belongs = whereSecretBelongs(key ?? table);
  const place = `${at(path)}: `;
  if (belongs !== undefined) return `${place}there is no setting ${nameOf(path)}. ${belongs}`;
  const what = key === undefined ? 'table' : 'setting';
  const instead = suggestion(key ?? table, ...namesIn(key === undefined ? undefined : table));
  return `${place}there is no ${what} ${nameOf(path)}.${instead || choiceIn(table)}`;
}

/** @returns a sentence to append, with the settings of a table; an empty text where there is no such table */
function choiceIn(table: string): string {
  const keys = keysOf(table);
  return keys.length === 0 ? '' : ` The table ${table} has ${keys.join(', ')}.`;
}

function keysOf(table: unknown): string[] {
  return ENTRIES.filter((entry) => entry.table === table).map(({ key }) => key);
}

/** @returns `node.urls[1]`; unknown names are cut short */
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

/** The path of a faulty URL may contain a key, so it is not shown; the host shows which URL is wrong. */
function withoutPath(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // A password may contain slashes.
  const text = value.includes('://') ? withoutUser(value) : value.replace(/^.*@/s, '***@');
  const host = text.indexOf('://') < 0 ? 0 : text.indexOf('://') + '://'.length;
  const length = text.slice(host).search(/[/?#]/);
  return length < 0 ? text : `${text.slice(0, host + length)}/…`;
}

function show(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return `${value}`;
  if (typeof value === 'string') {
    if (value.length > MAX_SHOWN) return `a text of ${value.length} characters`;
    // A password may contain spaces and quotes, so the whole text is treated as one URL.
    return redact(oneLine(JSON.stringify(withoutUser(value))));
  }
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (value instanceof Date) return 'a date';
  return value === null ? 'null' : 'a table';
}
