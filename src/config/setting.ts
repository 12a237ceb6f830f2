/** What is said of a setting, once: its flag, environment variable, place in files, help and schema follow from it. */

import type { Kind } from './kinds.ts';

export interface Setting {
  readonly kind: Kind<unknown>;
  /** One line for people: for --help, the example file, editors and docs/configuration.md. */
  readonly about: string;
  /** Left out, the setting is undefined where nobody sets it. */
  readonly default?: unknown;
  /** What holds where nobody sets it, of a setting without a default. */
  readonly otherwise?: string;
  /** What a value looks like, of a setting without a default. */
  readonly example?: unknown;
  /** As commander takes it: `--threads <n>`. A switch has no value, and gets its `--no-…`. Left out, there is no flag. */
  readonly flag?: string;
  /** It takes effect at once when its file changes; left out, at the next start. */
  readonly live?: true;
  /** Its value is the path of a file that has a secret in it, for `readSecretFile`. Secrets themselves are no settings. */
  readonly secretFile?: true;
  /** It runs commands, tells others, or writes to a file: a project file that nobody named cannot set it. */
  readonly needsNaming?: true;
  /** Whoever knows its value can use it: it is neither printed nor logged. */
  readonly hidden?: true;
  /** What is printed and logged of its value, where not all of it may be. */
  readonly shown?: (value: unknown) => unknown;
}

/** A table of a configuration file. */
export interface Group {
  readonly about: string;
  readonly settings: Readonly<Record<string, Setting>>;
}

/** By names in camelCase, which are in kebab-case for people. */
export type Table = Readonly<Record<string, Group>>;

type ValueOf<S> = S extends { readonly kind: Kind<infer T> } ? T : never;
type Given<G> = { readonly [K in keyof G as G[K] extends { readonly default: unknown } ? K : never]: ValueOf<G[K]> };
type Perhaps<G> = { readonly [K in keyof G as G[K] extends { readonly default: unknown } ? never : K]?: ValueOf<G[K]> };

/** The values of a table of settings: those with a default are always there. */
export type ValuesOf<T extends Table> = {
  readonly [G in keyof T]: Given<T[G]['settings']> & Perhaps<T[G]['settings']>;
};

/** A setting with the names that follow from its place in the table. */
export interface Entry {
  readonly setting: Setting;
  /** In camelCase, as the program has it. */
  readonly group: string;
  readonly name: string;
  /** In kebab-case, as people write it: `cpu`, `threads`, `cpu.threads`. */
  readonly table: string;
  readonly key: string;
  readonly path: string;
  /** `--threads`, where it has a flag. */
  readonly flag?: string;
  /** `PICKAXE_THREADS`: after the flag, or else after the path. */
  readonly variable: string;
}

export const VARIABLE_PREFIX = 'PICKAXE_';

export function entriesOf(table: Table): Entry[] {
  return Object.entries(table).flatMap(([group, { settings }]) =>
    Object.entries(settings).map(([name, setting]) => entry(group, name, setting)),
  );
}

function entry(group: string, name: string, setting: Setting): Entry {
  const [tableName, key] = [kebab(group), kebab(name)];
  const path = `${tableName}.${key}`;
  const flag = setting.flag?.split(' ')[0];
  const variable = VARIABLE_PREFIX + (flag?.slice(2) ?? path).replace(/[.-]/g, '_').toUpperCase();
  return { setting, group, name, table: tableName, key, path, variable, ...(flag !== undefined && { flag }) };
}

/** What a setting is for, what may be chosen, and what holds where nobody sets it: one line. */
export function describe({ about, kind, default: value, otherwise }: Setting): string {
  const choices = kind.choices ? [`choices: ${kind.choices.join(', ')}`] : [];
  const unset = otherwise ?? value;
  const more = [...choices, ...(unset === undefined ? [] : [`default: ${unset}`])];
  return more.length > 0 ? `${about} (${more.join('; ')})` : about;
}

export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
