/** The names of a setting, which follow from its place in the table. */

import type { Setting, Table } from './settings-table.ts';

/** A setting with its names. */
export interface Entry {
  readonly setting: Setting;
  /** In camelCase, as the program has it. */
  readonly group: string;
  readonly name: string;
  /** In kebab-case, as people write it: `cpu`, `threads`, `cpu.threads`. */
  readonly table: string;
  readonly key: string;
  readonly path: string;
  /** Under which heading --help --all lists it. */
  readonly heading: string;
  /** `--threads`, where it has a flag. */
  readonly flag?: string;
  /** `PICKAXE_THREADS`, after the flag; where there is no flag, after the path. */
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
