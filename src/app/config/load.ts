/**
 * Loads the configuration. Each setting has the value of the first place that sets it: a flag, the environment, the
 * project file, the user file, or the default.
 */

import { basename, join } from 'node:path';
import { type Checked, check } from './check.ts';
import { findFile, readConfigFile, userConfigDirectory } from './config-files.ts';
import { CONTRADICTIONS, type Contradiction } from './contradictions.ts';
import { takePoolUsers } from './pool-users.ts';
import {
  ConfigError,
  type Environment,
  FILE_VARIABLE,
  type Flags,
  type Origin,
  type Path,
  type RawSettings,
  settingsOfEnvironment,
  settingsOfFlags,
  type Tables,
  unknownVariables,
  type Valued,
} from './raw-settings.ts';
import { originOf, type PerNode } from './setting-types/addresses.ts';
import { assemble, type Config, ENTRIES } from './settings.ts';
import type { Entry } from './settings-table.ts';

export interface Loaded {
  readonly config: Config;
  /** Origins of values that are not defaults, by the settings' paths: `cpu.threads`. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Absolute paths of the files that were read. */
  readonly files: readonly string[];
  /** Name of the project file, if it was found in the current folder and no flag or variable names it. */
  readonly found?: string | undefined;
}

export interface Places {
  readonly flags?: Flags;
  /** The values of -u, in order: public keys when mining on nodes, the user when mining on pools. */
  readonly owner?: readonly string[] | undefined;
  readonly environment: Environment;
  readonly cwd: string;
  /**
   * The project file that --config names. By default, it is the file that the environment names, or else pickaxe.toml
   * in `cwd`.
   */
  readonly file?: string | undefined;
  /** Which contradictions between settings are refused; by default, none. */
  readonly contradictions?: keyof typeof CONTRADICTIONS | undefined;
  /**
   * Whether the command reads from nodes, even on a rig that mines on pools or for a fleet. For any other command, the
   * strongest place that names nodes, pools or a fleet decides which of these three is mined on, and the other two are
   * ignored in weaker places.
   */
  readonly readsNodes?: boolean | undefined;
  /** Whether the command gives work to a fleet, and does not mine for a fleet. */
  readonly coordinates?: boolean | undefined;
  /** Whether the command sends coins, or anything else that is signed: see `choosesNode`. */
  readonly movesCoins?: boolean | undefined;
  readonly platform?: string;
  readonly home?: () => string;
}

/** @throws ConfigError about the problems of all places */
export function loadConfig(places: Places): Loaded {
  const { environment } = places;
  const problems = unknownVariables(environment);
  const others: Layers = [
    ['environment', settingsOfEnvironment(environment)],
    ['project', attempt(() => projectFile(places), problems)],
    ['user', attempt(() => userFile(places), problems)],
  ];
  const flags = withOwner(places, others, problems);
  return merge([['flag', settingsOfFlags(flags)], ...others], problems, places);
}

/** @returns the flags, with the values of -u as public keys or as the user at the pool */
function withOwner({ flags = new Map(), owner = [], coordinates }: Places, others: Layers, problems: string[]): Flags {
  const decides = placeToMineOn([['flag', settingsOfFlags(flags)], ...others], minedOn(coordinates));
  if (owner.length === 0 || decides === 'unknown') return flags;
  const given = (path: string) => [flags.get(path) ?? []].flat().filter((value) => typeof value === 'string');
  if (!decides?.named.includes('pool.urls')) {
    return new Map([...flags, ['miner.public-keys', [...owner, ...given('miner.public-keys')]]]);
  }
  const users = new Set([...owner, ...given('pool.user')]);
  if (users.size > 1) problems.push('A pool has one user, which is the same for all pools: give -u or --user once.');
  return new Map([...flags, ['pool.user', owner[0]]]);
}

/** @returns the settings that name what is mined on. If one place sets two of them, they contradict each other */
function minedOn(coordinates = false): readonly string[] {
  return ['node.urls', 'pool.urls', ...(coordinates ? [] : ['nats.urls'])];
}

/**
 * @param layers from the strongest to the weakest place
 * @param kinds the settings that name what is mined on
 * @returns the strongest place that sets one of `kinds`; undefined if no place sets one; `unknown` if a fault
 *   hides whether a file sets one, unless a stronger place sets one
 */
function placeToMineOn(
  layers: Layers,
  kinds: readonly string[],
): { index: number; named: readonly string[] } | 'unknown' | undefined {
  for (const [index, [, raw]] of layers.entries()) {
    if (raw === undefined) continue;
    if (raw === 'unreadable') return 'unknown';
    const tables = raw.document as Tables | null | undefined;
    const named = kinds.filter((path) => {
      const [table, key] = path.split('.');
      return tables?.[table]?.[key] !== undefined;
    });
    if (named.length > 0) return { index, named };
    const mayName = (path: Path) => kinds.some((one) => `${one}.`.startsWith([...path.slice(0, 2), ''].join('.')));
    if (raw.unread?.some(mayName)) return 'unknown';
  }
  return undefined;
}

type Layers = readonly (readonly [Origin['layer'], RawSettings | undefined | 'unreadable'])[];

/** Loads one file alone, for `pickaxe config check`. @throws ConfigError about the problems of the file */
export function loadFile(file: string, cwd: string, contradictions?: Places['contradictions']): Loaded {
  const problems: string[] = [];
  return merge([['project', attempt(() => readConfigFile(file, cwd), problems)]], problems, { contradictions });
}

type Purpose = Pick<Places, 'contradictions' | 'readsNodes' | 'coordinates' | 'movesCoins'>;

function merge(layers: Layers, problems: string[], purpose: Purpose): Loaded {
  const { contradictions, readsNodes, coordinates, movesCoins } = purpose;
  const kinds = minedOn(coordinates);
  const values = new Map<string, Valued>();
  /** Paths of settings whose values are not known because of an error. */
  const unknown = new Set<string>();
  const decides = readsNodes ? undefined : placeToMineOn(layers, kinds);
  const read = layers.flatMap(([layer, raw], index) => {
    if (!raw || raw === 'unreadable') return [];
    const isWeaker = typeof decides === 'object' && index > decides.index;
    return [{ layer, raw, leftOut: isWeaker ? kinds.filter((path) => !decides.named.includes(path)) : [] }];
  });
  for (const { layer, raw, leftOut } of read) {
    const checked: Checked = check(takePoolUsers(raw));
    problems.push(...checked.problems);
    const isOpen = (path: string) => !values.has(path) && !leftOut.includes(path);
    for (const path of checked.unknown) if (isOpen(path)) unknown.add(path);
    for (const [path, { value, where, at }] of checked.values) {
      if (isOpen(path)) values.set(path, { value, origin: { layer, where }, at });
    }
  }
  const found = read.find(({ raw }) => raw.unasked)?.raw;
  if (found) for (const path of unusedOf(values)) values.delete(path);
  const origins = new Map([...values].map(([path, { origin }]) => [path, origin]));
  if (found) problems.push(...excessOf(found, origins), ...(movesCoins ? choosesNode(found, origins) : []));
  const config = assemble(({ path, setting }) => values.get(path)?.value ?? setting.default);
  // If a file cannot be read, no contradiction is reported, because the file's settings may resolve it.
  if (contradictions && read.length === layers.filter(([, raw]) => raw).length) {
    const known = CONTRADICTIONS[contradictions](config).filter(
      ({ about }) => !about.some((path) => unknown.has(path)),
    );
    problems.push(...known.map((one) => placed(one, values)));
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const files = read.flatMap(({ raw }) => raw.file ?? []);
  return { config, origins, files, found: found?.file && basename(found.file) };
}

/** @returns the message, with the setting's place in front of it, unless the place is a flag */
function placed({ about, message }: Contradiction, values: ReadonlyMap<string, Valued>): string {
  const first = about.map((path) => values.get(path)).find((value) => value !== undefined);
  return first === undefined || first.origin.layer === 'flag' ? message : `${first.at}: ${message}`;
}

function projectFile({ file, environment, cwd }: Places): RawSettings | undefined {
  const named = file ?? (environment[FILE_VARIABLE] || undefined);
  if (named !== undefined) return readConfigFile(named, cwd);
  const found = findFile(join(cwd, 'pickaxe'));
  return found ? { ...readConfigFile(basename(found), cwd), unasked: true } : undefined;
}

function userFile(places: Places): RawSettings | undefined {
  const { environment, platform, home } = places;
  const directory = userConfigDirectory(environment, platform, home);
  const found = directory && findFile(join(directory, 'config'));
  return found ? readConfigFile(found, places.cwd) : undefined;
}

/** @returns the result of `read`; `unreadable` after a ConfigError, whose problems are added to `problems` */
function attempt<T>(read: () => T, problems: string[]): T | 'unreadable' {
  try {
    return read();
  } catch (fault) {
    if (!(fault instanceof ConfigError)) throw fault;
    problems.push(...fault.problems);
    return 'unreadable';
  }
}

/*
 * Limits of a found file: a project file in the current folder that no flag and no variable names. Anybody may have
 * written it, as in a cloned repository. docs/configuration.md explains the rule under “Which files are trusted”.
 */

/** @param origins of all settings, after all places were read @returns sentences about settings that are refused */
function excessOf(found: RawSettings, origins: ReadonlyMap<string, Origin>): string[] {
  const { unasked, file } = found;
  if (!unasked || file === undefined) return [];
  const remedy = `Give the file with --config ${basename(file)}, or move`;
  const tables = [...new Set(ENTRIES.map(({ table }) => table))];
  return [...forbidden(found, remedy), ...tables.flatMap((table) => mixed(found, table, origins, remedy))];
}

function forbidden({ document, at }: RawSettings, remedy: string): string[] {
  const tables = document as Tables | null;
  const set = ENTRIES.filter(
    ({ table, key, setting }) => setting.needsNaming === true && tables?.[table]?.[key] !== undefined,
  );
  if (set.length === 0) return [];
  const [{ table, key }] = set;
  const names = set.map(({ path }) => path).join(', ');
  return [
    `${at([table, key])}: ${names} cannot be set by a file that was only found here. ${remedy} the setting to your user file.`,
  ];
}

/** Settings about certificates, and the settings with the URLs that these certificates are for. */
const CERTIFICATES = {
  node: [
    ['node.fingerprints', 'node.ca-files'],
    ['node.urls', 'ledger.peer-url'],
  ],
  pool: [['pool.fingerprints', 'pool.ca-files'], ['pool.urls']],
} as const;

/**
 * @returns the settings of a found file that are ignored because another place names the nodes or pools. These are the
 *   P2P port, and certificates for nodes or pools that are not used
 */
function unusedOf(values: ReadonlyMap<string, Valued>): string[] {
  const isFound = (path: string) => values.get(path)?.origin.layer === 'project';
  const isForOtherNode = values.has('node.urls') && !isFound('node.urls') && isFound('ledger.peer-url');
  const ports = isForOtherNode ? ['ledger.peer-url'] : [];
  return [...ports, ...unusedCertificates(values, isFound)];
}

function unusedCertificates(values: ReadonlyMap<string, Valued>, isFound: (path: string) => boolean): string[] {
  return Object.values(CERTIFICATES).flatMap(([certificates, places]) => {
    const [urls] = places;
    if (!values.has(urls) || isFound(urls)) return [];
    const inEffect = places
      .flatMap((path) => (values.get(path)?.value ?? []) as string | readonly string[])
      .map(originOf);
    const canApply = ({ origin }: PerNode) => origin === undefined || inEffect.includes(origin);
    return certificates.filter(
      (path) => isFound(path) && !(values.get(path)!.value as readonly PerNode[]).some(canApply),
    );
  });
}

/**
 * Whether a setting is a credential. URLs count, because they may contain keys, and because passwords are sent to their
 * hosts.
 */
function isCredential({ key, setting }: Entry): boolean {
  return key === 'urls' || setting.secretFile === true || setting.hidden === true;
}

/** Refuses settings of a found file that would be used together with a credential of the same table from elsewhere. */
function mixed({ at }: RawSettings, table: string, origins: ReadonlyMap<string, Origin>, remedy: string): string[] {
  const inEffect = ENTRIES.filter((entry) => entry.table === table && origins.has(entry.path));
  const isFound = ({ path }: Entry) => origins.get(path)?.layer === 'project';
  const theirs = inEffect.filter((entry) => entry.setting.needsNaming === 'if-mixed' && isFound(entry));
  const yours = inEffect.find((entry) => isCredential(entry) && !isFound(entry));
  if (theirs.length === 0 || yours === undefined) return [];
  const names = theirs.map(({ path }) => path).join(', ');
  const place = origins.get(yours.path)?.where;
  return [
    `${at([table, theirs[0].key])}: ${names} cannot be set by a file that was only found here while ${yours.path} is ` +
      `from ${place}: what is yours could go to somebody else. ${remedy} all of it to one place.`,
  ];
}

/** The settings that decide which node is asked. */
const WHICH_NODE = ['node.urls', 'ledger.peer-url'] as const;

/** Refuses a node from a found file for commands that move coins, because the node reports what became of the coins. */
function choosesNode({ at, file }: RawSettings, origins: ReadonlyMap<string, Origin>): string[] {
  const path = WHICH_NODE.find((each) => origins.get(each)?.layer === 'project');
  if (path === undefined || file === undefined) return [];
  return [
    `${at(path.split('.'))}: ${path} cannot be set by a file that was only found here for a command that moves coins, ` +
      'because whoever wrote it would choose the node that reports your payment. Name your node with --node URL, ' +
      `give the file with --config ${basename(file)}, or move the setting to your user file.`,
  ];
}

/**
 * @param shown the node, for people
 * @returns a line with the node and the place that names it; undefined if no place names a node
 */
export function nodeNote({ origins, found }: Pick<Loaded, 'origins' | 'found'>, shown: string): string | undefined {
  const origin = WHICH_NODE.map((path) => origins.get(path)).find((each) => each !== undefined);
  if (origin === undefined) return undefined;
  const isFound = found !== undefined && origin.layer === 'project';
  return isFound
    ? `warning: the node is ${shown}, which ${origin.where} names: that file was only found in this folder, and whoever wrote it chooses what you see`
    : `the node is ${shown} (${origin.where})`;
}

/** The settings that decide where to mine and who is paid, by the kind of the source of work. */
const WHO_IS_PAID = {
  nodes: ['node.urls', 'miner.public-keys', 'miner.account', 'miner.predicate'],
  pools: ['pool.urls', 'pool.user'],
  fleets: ['nats.urls'],
} as const;

/** @returns a sentence for the log about the settings from a found file; undefined if there are no such settings */
export function foundFileNote(file: string | undefined, origins: ReadonlyMap<string, Origin>): string | undefined {
  const theirs = [...origins].filter(([, { layer }]) => layer === 'project').map(([path]) => path);
  if (file === undefined || theirs.length === 0) return undefined;
  const kind = origins.has('pool.urls')
    ? 'pools'
    : origins.has('nats.urls') && !origins.has('node.urls')
      ? 'fleets'
      : 'nodes';
  const paid = WHO_IS_PAID[kind].filter((path) => theirs.includes(path));
  const who = paid.length > 0 ? `; it says where to mine or who is paid (${paid.join(', ')})` : '';
  return `settings are from ${file}, which was found in this folder${who}`;
}
