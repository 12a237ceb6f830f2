/**
 * Every setting there is. The tables are the only place that knows them: a new setting is an entry there, and is then in
 * --help, files, the environment, the JSON Schema, the example and --print-config; a test asks for its line in
 * docs/configuration.md.
 */

import { type Entry, entriesOf } from './entries.ts';
import type { Table, ValuesOf } from './settings-table.ts';
import { BLOCKS } from './tables/blocks.ts';
import { DEVICES } from './tables/devices.ts';
import { DISCOVERY } from './tables/discovery.ts';
import { LEDGER } from './tables/ledger.ts';
import { NODE_AND_MINER } from './tables/node-and-miner.ts';
import { POOL } from './tables/pool.ts';
import { RELAYS } from './tables/relays.ts';
import { RUN_HTTP_LOG } from './tables/run-http-log.ts';
import { STRATUM } from './tables/stratum.ts';
import { UNATTENDED } from './tables/unattended.ts';

export const SETTINGS = {
  ...NODE_AND_MINER,
  ...LEDGER,
  ...DISCOVERY,
  ...POOL,
  ...BLOCKS,
  ...DEVICES,
  ...STRATUM,
  ...RELAYS,
  ...RUN_HTTP_LOG,
  ...UNATTENDED,
} as const satisfies Table;

export type Config = ValuesOf<typeof SETTINGS>;

export const ENTRIES = entriesOf(SETTINGS);

/** @param value returns a setting's value; undefined where it has none */
export function assemble(value: (entry: Entry) => unknown): Config {
  const groups: Record<string, Record<string, unknown>> = {};
  for (const entry of ENTRIES) {
    groups[entry.group] ??= {};
    const given = value(entry);
    if (given !== undefined) groups[entry.group][entry.name] = given;
  }
  return groups as Config;
}

/** The configuration if nobody sets anything. */
export const DEFAULTS = assemble(({ setting }) => setting.default);

/** @returns the setting's value in a configuration or a part of one; undefined where it has none */
export function valueIn(
  config: { readonly [G in keyof Config]?: Partial<Config[G]> },
  { group, name }: Entry,
): unknown {
  return (config as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>)[group]?.[name];
}
