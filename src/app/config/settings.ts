/**
 * All settings, from the tables. A setting that is added to a table is automatically in help pages (see `InHelp`),
 * files, the environment, the JSON Schema, the example and --print-config. A test requires a line about the setting in
 * docs/configuration.md.
 */

import { isDeepStrictEqual } from 'node:util';
import { type Entry, entriesOf, type Table, type ValuesOf } from './settings-table.ts';
import { FLEET } from './tables/fleet.ts';
import { DEVICES, LEDGER, NODE_AND_MINER, POOL } from './tables/mining.ts';
import { RELAYS, RUN_HTTP_LOG, STRATUM } from './tables/serving.ts';
import { BLOCKS, UNATTENDED } from './tables/unattended.ts';

export const SETTINGS = {
  ...NODE_AND_MINER,
  ...LEDGER,
  ...POOL,
  ...FLEET,
  ...BLOCKS,
  ...DEVICES,
  ...STRATUM,
  ...RELAYS,
  ...RUN_HTTP_LOG,
  ...UNATTENDED,
} as const satisfies Table;

export type Config = ValuesOf<typeof SETTINGS>;

export const ENTRIES = entriesOf(SETTINGS);

export function assemble(value: (entry: Entry) => unknown): Config {
  const groups: Record<string, Record<string, unknown>> = {};
  for (const entry of ENTRIES) {
    groups[entry.group] ??= {};
    const given = value(entry);
    if (given !== undefined) groups[entry.group][entry.name] = given;
  }
  return groups as Config;
}

export const DEFAULTS = assemble(({ setting }) => setting.default);

/** @returns the value of a setting; undefined if it has none */
export function valueIn(
  config: { readonly [G in keyof Config]?: Partial<Config[G]> },
  { group, name }: Entry,
): unknown {
  return (config as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>)[group]?.[name];
}

/* Differences between two configurations, so that a running miner can apply the new configuration. */

export interface Change {
  /** Path of the setting, like `devices.temp-limit`. */
  readonly path: string;
  /** The values before and after the change; undefined if the setting is not set. */
  readonly before: unknown;
  readonly after: unknown;
}

export interface Changes {
  readonly live: readonly Change[];
  readonly needsRestart: readonly Change[];
}

/**
 * Matches the paths of settings about the source of work. Some of these settings can change while mining, but only if
 * the kind of the source (nodes, pools or a fleet) stays the same.
 */
const SOURCE_PATH = /^(?:node|pool|nats)\./;

export function changes(before: Config, after: Config): Changes {
  const live: Change[] = [];
  const needsRestart: Change[] = [];
  const isSameKind = kindOf(before) === kindOf(after);
  for (const entry of ENTRIES) {
    const change = { path: entry.path, before: valueIn(before, entry), after: valueIn(after, entry) };
    if (isDeepStrictEqual(change.before, change.after)) continue;
    const isLive = entry.setting.live && (isSameKind || !SOURCE_PATH.test(entry.path));
    (isLive ? live : needsRestart).push(change);
  }
  return { live, needsRestart };
}

/** A coordinator has NATS servers in its settings, but its source is nodes or pools. */
function kindOf({ node, pool, nats }: Config): 'fleet' | 'pool' | 'node' | 'none' {
  if (pool.urls !== undefined) return 'pool';
  if (node.urls !== undefined) return 'node';
  return nats.urls === undefined ? 'none' : 'fleet';
}
