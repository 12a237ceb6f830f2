/**
 * Every setting, from the tables. A new entry there is automatically in --help, files, the environment, the JSON
 * Schema, the example and --print-config; a test requires its line in docs/configuration.md.
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

/** @returns undefined where the setting has no value */
export function valueIn(
  config: { readonly [G in keyof Config]?: Partial<Config[G]> },
  { group, name }: Entry,
): unknown {
  return (config as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>)[group]?.[name];
}

/* Differences between two configurations, so that a running miner can apply a new one. */

export interface Change {
  /** `devices.temp-limit` */
  readonly path: string;
  /** Undefined where it was not set. */
  readonly before: unknown;
  readonly after: unknown;
}

export interface Changes {
  readonly live: readonly Change[];
  readonly needsRestart: readonly Change[];
}

/**
 * Paths of the settings of the source of work. Some can change while mining, but not from one kind of source (nodes,
 * pools, a fleet) to another.
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

/** A coordinator has NATS servers as well, but mines on nodes or pools. */
function kindOf({ node, pool, nats }: Config): 'fleet' | 'pool' | 'node' | 'none' {
  if (pool.urls !== undefined) return 'pool';
  if (node.urls !== undefined) return 'node';
  return nats.urls === undefined ? 'none' : 'fleet';
}
