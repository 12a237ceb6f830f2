/** Accepts a user and a password in a pool's URL, as some miners do: `stratum+tcp://USER:PASSWORD@HOST:PORT`. */

import { isPoolUrl } from '../../base/text/addresses.ts';
import type { Path, RawSettings, Tables } from './raw-settings.ts';

const USER_IN_URL = /^(?<scheme>[^/]*:\/\/)(?:(?<user>[^:@]*)(?::(?<password>.*))?)@(?<place>[^@]*)$/s;

interface Account {
  readonly user: string;
  readonly password?: string;
}

/**
 * Moves the user and the password in pool URLs to `pool.user` and `pool.password`. All pools must have the same user
 * and the same password.
 * @returns the changed settings of the place, with problems that repeat neither users nor passwords
 */
export function takePoolUsers(raw: RawSettings): RawSettings {
  const { pool } = (isObject(raw.document) ? raw.document : {}) as Tables;
  if (!isObject(pool)) return raw;
  const given = pool.urls;
  const taken = (Array.isArray(given) ? given : [given]).map(take);
  const accounts = taken.flatMap(({ account }) => account ?? []);
  if (accounts.length === 0) return raw;
  const urls = taken.map(({ url }) => url);
  const { values, problems } = together({ user: pool.user, password: pool.password }, accounts);
  const place: RawSettings['at'] = (path) => raw.at(isTaken(path, values) ? ['pool', 'urls'] : path);
  return {
    ...raw,
    document: {
      ...(raw.document as object),
      pool: { ...pool, ...values, urls: Array.isArray(given) ? urls : urls[0] },
    },
    where: (path) => raw.where(isTaken(path, values) ? ['pool', 'urls'] : path),
    at: place,
    problems: [...(raw.problems ?? []), ...problems.map((problem) => `${raw.at(['pool', 'urls'])}: ${problem}`)],
  };
}

/** @param values what was taken from the URLs of pools @returns whether the setting's value is one of these values */
function isTaken([table, key = '']: Path, values: object): boolean {
  return table === 'pool' && Object.hasOwn(values, key);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function take(url: unknown): { readonly url: unknown; readonly account?: Account } {
  const parts = typeof url === 'string' && isPoolUrl(url) ? USER_IN_URL.exec(url.trim())?.groups : undefined;
  if (!parts) return { url };
  const { scheme, user = '', password, place } = parts;
  const account = { user: decoded(user), ...(password !== undefined && { password: decoded(password) }) };
  return { url: `${scheme}${place}`, account };
}

/** Decodes percent-encoding (RFC 3986 §2.1). @returns the text itself if its encoding is not valid */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Given = Readonly<Record<keyof Account, unknown>>;

/**
 * @param given the values of `pool.user` and `pool.password`
 * @param accounts the users and passwords in the URLs
 * @returns values from the URLs for settings without a value, and a problem for each contradiction
 */
function together(given: Given, accounts: readonly Account[]): { values: Partial<Given>; problems: string[] } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const name of ['user', 'password'] as const) {
    const all = new Set(
      [given[name], ...accounts.map((account) => account[name])].filter((each) => each !== undefined),
    );
    const [first] = all;
    if (given[name] === undefined && first !== undefined && first !== '') values[name] = first;
    if (all.size > 1) problems.push(`the URL of a pool has another ${name} than ${OTHERS[name]}: write it once`);
  }
  return { values, problems };
}

const OTHERS = {
  user: 'pool.user (--user, -u) or another URL, and all pools have the same one',
  password: 'pool.password (--password, -p) or another URL, and all pools have the same one',
} as const;
