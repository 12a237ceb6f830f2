/** The description of a setting. Its flag, environment variable, place in files, help and schema follow from it. */

import { printed, type SettingType } from './setting-types/basic.ts';

/**
 * Whether a found project file (load.ts) is refused when it has this setting.
 * - true: it reads a secret, runs a command, writes a file, opens a port, sends something to others, or leaves a
 *   certificate unchecked.
 * - `if-mixed`: it decides where a connection goes, or who is trusted there.
 * Absent for a setting that can only harm the account that the miner earns for.
 */
type NeedsNaming = true | 'if-mixed';

/**
 * - `first`: `--help` lists its flag.
 * - `never`: help pages and completion omit its flag, which works all the same. The setting is meant for files.
 * Absent where only `--help --all` lists its flag.
 */
export type InHelp = 'first' | 'never';

export interface Setting {
  readonly type: SettingType<unknown>;
  /** One line for people, in --help, the example file, editors and docs/configuration.md. */
  readonly about: string;
  /** Without a default, the value is undefined unless somebody sets it. */
  readonly default?: unknown;
  /** The behaviour without a value, if there is no default. */
  readonly otherwise?: string;
  /** A value as in a file, if there is no default. */
  readonly example?: unknown;
  /** In commander's form: `--threads <n>`. A switch has no value, and gets its `--no-…`. Some settings have no flag. */
  readonly flag?: string;
  /** A short flag that other miners have: `-t`. */
  readonly short?: string;
  readonly inHelp?: InHelp;
  /** The heading in --help --all, where it differs from the table's. */
  readonly heading?: string;
  /** The setting takes effect at once when its file changes; other settings need a restart. */
  readonly live?: true;
  /** The value is the path of a file with a secret, for `readSecretFile`. Secrets themselves are never settings. */
  readonly secretFile?: true;
  readonly needsNaming?: NeedsNaming;
  /** The value is secret: it is neither printed nor logged. */
  readonly hidden?: true;
  /** @returns the part of the value, as in a file, that may be printed and logged */
  readonly shown?: (written: unknown) => unknown;
}

interface Group {
  readonly about: string;
  /** The heading of its settings in --help --all. Tables may share one. */
  readonly heading: string;
  readonly settings: Readonly<Record<string, Setting>>;
}

/** Groups and settings by their names in camelCase; people see them in kebab-case. */
export type Table = Readonly<Record<string, Group>>;

type ValueOf<S> = S extends { readonly type: SettingType<infer T> } ? T : never;
type Given<G> = { readonly [K in keyof G as G[K] extends { readonly default: unknown } ? K : never]: ValueOf<G[K]> };
type Perhaps<G> = { readonly [K in keyof G as G[K] extends { readonly default: unknown } ? never : K]?: ValueOf<G[K]> };

/** The values of a table of settings: those with a default are always there. */
export type ValuesOf<T extends Table> = {
  readonly [G in keyof T]: Given<T[G]['settings']> & Perhaps<T[G]['settings']>;
};

/** @returns the description of the setting, in one line */
export function describe({ about, type, default: value, otherwise }: Setting): string {
  const choices = type.choices ? [`choices: ${type.choices.join(', ')}`] : [];
  const unset = otherwise ?? (value === undefined ? undefined : printed(type, value));
  const more = [...choices, ...(unset === undefined ? [] : [`default: ${unset}`])];
  return more.length > 0 ? `${about} (${more.join('; ')})` : about;
}

/* The names of a setting, which follow from its place in the table. */

export interface Entry {
  readonly setting: Setting;
  /** In camelCase. */
  readonly group: string;
  readonly name: string;
  /** In kebab-case: `cpu`, `threads`, `cpu.threads`. */
  readonly table: string;
  readonly key: string;
  readonly path: string;
  readonly heading: string;
  readonly flag?: string;
  /** `PICKAXE_THREADS`: named after the flag or, for a setting without a flag, after the path. */
  readonly variable: string;
}

export const VARIABLE_PREFIX = 'PICKAXE_';

export function entriesOf(table: Table): Entry[] {
  return Object.entries(table).flatMap(([group, { heading, settings }]) =>
    Object.entries(settings).map(([name, setting]) => entry(group, name, setting, heading)),
  );
}

function entry(group: string, name: string, setting: Setting, groupHeading: string): Entry {
  const [table, key] = [kebab(group), kebab(name)];
  const path = `${table}.${key}`;
  const flag = setting.flag?.split(' ')[0];
  const variable = VARIABLE_PREFIX + (flag?.slice(2) ?? path).replace(/[.-]/g, '_').toUpperCase();
  const { heading = groupHeading } = setting;
  return { setting, group, name, table, key, path, variable, heading, ...(flag !== undefined && { flag }) };
}

/** @returns `insecure-tls` for `insecureTls` */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
