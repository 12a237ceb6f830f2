/** The settings of one place (a file, the environment, the flags), before they are checked. */

import { z } from 'zod';
import { suggestion } from './known-names.ts';
import { whereSecretBelongs } from './secrets.ts';
import { ENTRIES } from './settings.ts';
import { type Entry, VARIABLE_PREFIX } from './settings-table.ts';

export interface Origin {
  /** The kind of the place. From the strongest to the weakest: flag, environment, project file, user file, default. */
  readonly layer: Layer;
  /** The place, as shown to people: `--threads`, `PICKAXE_THREADS`, `pickaxe.toml:4`, `default`. */
  readonly where: string;
}

export interface Valued {
  readonly value: unknown;
  readonly origin: Origin;
  /** The place, as shown in errors: like `origin.where`, but with the column in a file: `pickaxe.toml:4:1`. */
  readonly at: string;
}

/**
 * The table, the key and the index of an item in a list. The path of a setting has no index, the path of a table has
 * the table alone, and the empty path stands for the whole file.
 */
export type Path = readonly (string | number)[];

/** Tables by their names. Each table has values by the keys of settings. */
export type Tables = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

export interface RawSettings {
  /** The settings as `Tables`, unless a file has another shape. */
  readonly document: unknown;
  /** @returns the place of a path, as shown to people: `pickaxe.toml:4`, `--threads` */
  readonly where: (path: Path) => string;
  /** @returns the place of a path, as shown in errors, with the column in a file: `pickaxe.toml:4:1` */
  readonly at: (path: Path) => string;
  /** Absolute path of the file, if the place is a file. Relative paths in the settings start at its folder. */
  readonly file?: string;
  /** Set if the file was found in the current folder, and no flag or variable names it. */
  readonly unasked?: true;
  /** Faults of the format or of pool URLs, as sentences. */
  readonly problems?: readonly string[];
  /** Paths that could not be read because of a fault. The empty path stands for the whole file. */
  readonly unread?: readonly Path[];
}

/* The output of `--print-config --json`. */

const PrintedSetting = z
  .object({
    value: z.unknown().describe('as in a file; null if it is not set; secrets are hidden'),
    origin: z.enum(['flag', 'environment', 'project', 'user', 'default']),
    where: z.string().describe('the flag, the variable, or the file and line'),
  })
  .describe('for each setting, by its name in a file (`cpu.threads`)');

/** Settings by their paths: `cpu.threads`. */
export const PrintedConfig = z.record(z.string(), PrintedSetting);
export type PrintedConfig = z.infer<typeof PrintedConfig>;
type Layer = PrintedConfig[string]['origin'];

/* The error for a configuration. Its message lists the first problems. */

/** Maximum number of problems that the error lists. */
const MAX_LISTED = 20;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** Each problem is one line with the place, what is wrong, and what to do. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(listed(problems));
    this.problems = problems;
  }
}

function listed(problems: readonly string[]): string {
  if (problems.length === 1) return problems[0];
  const lines = problems.slice(0, MAX_LISTED).map((problem) => `  ${problem}`);
  const more = problems.length > MAX_LISTED ? [`  … and ${problems.length - MAX_LISTED} more`] : [];
  return [`${problems.length} errors in the configuration:`, ...lines, ...more].join('\n');
}

/* Flags of the command line and variables of the environment. */

/** The variable that names the project file, as --config does. */
export const FILE_VARIABLE = `${VARIABLE_PREFIX}CONFIG`;

/** Matches variables that pickaxe sets for hooks. A hook may run pickaxe, which must not take them for settings. */
const EVENT_NAME = /^PICKAXE_EVENT(_|$)/;
/** Matches variables that Kubernetes sets in each container if there is a service called pickaxe. */
const SERVICE_NAME = /^PICKAXE_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP)(_\w+)?)?)$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The given flags, by the settings' paths. A list has a text for each use of its flag, and a switch has a boolean. */
export type Flags = ReadonlyMap<string, string | readonly string[] | boolean>;

export function settingsOfFlags(flags: Flags): RawSettings {
  return rawSettings(
    ({ path, setting }) => {
      const given = flags.get(path);
      if (given === undefined || typeof given === 'boolean') return given;
      return read(setting.type.form, given);
    },
    ({ flag }) => flag ?? '',
  );
}

/** @returns the settings in the environment. An empty variable counts as not set */
export function settingsOfEnvironment(environment: Environment): RawSettings {
  return rawSettings(
    ({ variable, setting }) => {
      const text = environment[variable];
      return text ? read(setting.type.form, text) : undefined;
    },
    ({ variable }) => variable,
  );
}

/** @returns the name that people may expect for a setting's variable: `PICKAXE_POOL_URLS` in place of `PICKAXE_POOL` */
function pathVariable(path: string): string {
  return `${VARIABLE_PREFIX}${path}`.replace(/[.-]/g, '_').toUpperCase();
}

/** @returns a problem for each unknown variable with pickaxe's prefix. Problems do not repeat values */
export function unknownVariables(environment: Environment): string[] {
  const known = new Map<string, string[]>([[FILE_VARIABLE, []]]);
  for (const { variable, path } of ENTRIES) known.set(variable, [pathVariable(path)]);
  const isOurs = (name: string) =>
    name.startsWith(VARIABLE_PREFIX) && !EVENT_NAME.test(name) && !SERVICE_NAME.test(name);
  const ours = Object.keys(environment).filter(isOurs);
  const unknown = ours.filter((name) => !known.has(name));
  return unknown.map((name) => {
    const belongs = whereSecretBelongs(name.slice(VARIABLE_PREFIX.length));
    return `${name}: there is no such setting.${belongs ? ` ${belongs}` : suggestion(name, known)}`;
  });
}

function rawSettings(given: (entry: Entry) => unknown, nameOf: (entry: Entry) => string): RawSettings {
  const document: Record<string, Record<string, unknown>> = {};
  for (const entry of ENTRIES) {
    const value = given(entry);
    if (value === undefined) continue;
    document[entry.table] ??= {};
    document[entry.table][entry.key] = value;
  }
  const where: RawSettings['where'] = ([table, key]) =>
    nameOf(ENTRIES.find((entry) => entry.table === table && entry.key === key)!);
  return { document, where, at: where };
}

const SWITCHES = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** @returns the value as in a file. A text that cannot be read in the form stays a text, and `check` refuses it */
function read(form: Entry['setting']['type']['form'], given: string | readonly string[]): unknown {
  const text = typeof given === 'string' ? given : given.join(',');
  switch (form) {
    case 'number':
      return /^-?\d{1,20}(\.\d{1,20})?$/.test(text) ? Number(text) : text;
    case 'switch':
      return SWITCHES.get(text) ?? text;
    case 'list':
      return itemsOf(text);
    default:
      return text;
  }
}

/**
 * Splits a list at its commas, except in the user and password of a URL. Otherwise an error could show a part of a
 * password as an item of the list.
 */
function itemsOf(list: string): string[] {
  const ofUrl = /https?:\/\/[^/@=]*@|(?:stratum1?(?:\+(?:tcp|ssl|tls))?|tcp|ssl|tls):\/\/[^/@]*@/gi;
  const kept = list.replace(ofUrl, (user) => user.replaceAll(',', '\0'));
  return kept.split(',').map((item) => item.trim().replaceAll('\0', ','));
}
