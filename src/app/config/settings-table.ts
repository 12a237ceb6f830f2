/** Describes a setting. Its flag, environment variable, place in files, help and schema follow from the description. */

import { printed, type SettingType } from './setting-types/basic.ts';

/**
 * Whether this setting is refused in a found file: a project file that no flag and no variable names (load.ts).
 * - true: always refused. The setting reads a secret, runs a command, writes a file, opens a port, sends something to
 *   others, lets others control the rig, or leaves a certificate unchecked.
 * - `if-mixed`: refused if a credential of the same table is from another place. The setting decides where a connection
 *   goes, or who is trusted there.
 * Absent for the other settings, which can do little harm, except to the miner's earnings.
 */
type NeedsNaming = true | 'if-mixed';

/**
 * Where help pages list the flag of a setting.
 * - `first`: `--help` lists the flag.
 * - `never`: help pages and completion omit the flag, although it works. The setting is meant for files.
 * Absent if only `--help --all` lists the flag.
 */
export type InHelp = 'first' | 'never';

export interface Setting {
  readonly type: SettingType<unknown>;
  /** A description in one line, for --help, the example file, editors and docs/configuration.md. */
  readonly about: string;
  /** The value if nobody sets one. If there is no default, the value is then undefined. */
  readonly default?: unknown;
  /** For a setting without a default: what happens if nobody sets a value. */
  readonly otherwise?: string;
  /** For a setting without a default: an example of a value, as in a file. */
  readonly example?: unknown;
  /**
   * The flag in commander's form: `--threads <n>`. A switch has no value, and a `--no-…` flag is added for it. Some
   * settings have no flag.
   */
  readonly flag?: string;
  /** A short flag, as other miners have it: `-t`. */
  readonly short?: string;
  readonly inHelp?: InHelp;
  /** The heading in --help --all, if it differs from that of the setting's table. */
  readonly heading?: string;
  /**
   * Set if a change of the setting in its file takes effect while mining. `SOURCE_PATH` in settings.ts describes an
   * exception. Changes of settings that are not live need a restart.
   */
  readonly live?: true;
  /** Set if the value is the path of a file with a secret, for `readSecretFile`. */
  readonly secretFile?: true;
  readonly needsNaming?: NeedsNaming;
  /** Set if the value may be secret. Such a value is neither printed nor logged. */
  readonly hidden?: true;
  /** @returns the part of the value, as in a file, that may be printed and logged */
  readonly shown?: (written: unknown) => unknown;
}

interface Group {
  readonly about: string;
  /** The heading of the group's settings in --help --all. Several groups may have the same heading. */
  readonly heading: string;
  readonly settings: Readonly<Record<string, Setting>>;
}

/** Groups and settings by their names in camelCase. People see the names in kebab-case. */
export type Table = Readonly<Record<string, Group>>;

type ValueOf<S> = S extends { readonly type: SettingType<infer T> } ? T : never;
type Given<G> = { readonly [K in keyof G as G[K] extends { readonly default: unknown } ? K : never]: ValueOf<G[K]> };
type Perhaps<G> = { readonly [K in keyof G as G[K] extends { readonly default: unknown } ? never : K]?: ValueOf<G[K]> };

/** The values of a table of settings. Settings with a default always have a value. */
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
  /** Names of the group and of the setting in camelCase. */
  readonly group: string;
  readonly name: string;
  /** Name of the table, key in the table, and path of both, in kebab-case: `cpu`, `threads`, `cpu.threads`. */
  readonly table: string;
  readonly key: string;
  readonly path: string;
  readonly heading: string;
  readonly flag?: string;
  /** The environment variable, like `PICKAXE_THREADS`. Its name follows from the flag or, without a flag, the path. */
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
