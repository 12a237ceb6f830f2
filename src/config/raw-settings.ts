/** The settings of one place (a file, the environment, the flags), before they are checked. */

import { z } from 'zod';
import { suggestion } from './known-names.ts';
import { whereSecretBelongs } from './secrets.ts';
import { ENTRIES } from './settings.ts';
import { type Entry, VARIABLE_PREFIX } from './settings-table.ts';

/** Where the value of a setting comes from. */
export interface Origin {
  /** From the strongest layer to the weakest. */
  readonly layer: Layer;
  /** For people: `--threads`, `PICKAXE_THREADS`, `pickaxe.toml:4`, `default`. */
  readonly where: string;
}

/** A setting's value, once it is parsed. */
export interface Valued {
  readonly value: unknown;
  readonly origin: Origin;
  /** Where it stands, for errors. */
  readonly at: string;
}

/** Where something stands in a document: table, key, and in a list its index. */
export type Path = readonly (string | number)[];

/** A document that has the shape of a configuration: tables by their names, with values by the names of settings. */
export type Tables = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

export interface RawSettings {
  /** Tables of settings, as a file has them; anything else where a file has another shape. */
  readonly document: unknown;
  /** @returns where a path of the document stands, for people: `pickaxe.toml:4`, `--threads` */
  readonly where: (path: Path) => string;
  /** The same for errors, with the column: `pickaxe.toml:4:1`. */
  readonly at: (path: Path) => string;
  /** The absolute path of a file. Paths in it start at its folder. */
  readonly file?: string;
  /** Nobody named the file: it was found in the current folder. */
  readonly unasked?: true;
  /** What is wrong before any setting is looked at: a file that is not in its format. */
  readonly problems?: readonly string[];
  /** What could not be read of a file; the empty path stands for all. */
  readonly unread?: readonly Path[];
}

/* What `--print-config --json` prints. */

const PrintedSetting = z.object({
  /** As a file has it; null where it is not set. Secrets are not shown. */
  value: z.unknown(),
  /** Where it comes from: the project's file, the user's, or another of these. */
  origin: z.enum(['flag', 'environment', 'project', 'user', 'default']),
  /** The flag, the variable, or the file with its line. */
  where: z.string(),
});

/** By the setting's path, as in a file: `cpu.threads`. */
export const PrintedConfig = z.record(z.string(), PrintedSetting);
export type PrintedConfig = z.infer<typeof PrintedConfig>;
/** Where a setting's value can come from. */
type Layer = PrintedConfig[string]['origin'];

/* The error for a configuration: it lists all problems at once, each with its place. */

/** Maximum number of problems that are listed: enough to start with. */
const MAX_LISTED = 20;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** One line each: where it is, what is wrong, what to do. */
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

/* Reads the flags of the command line and the variables of the environment, each in the form of its setting. */

/** The variable that names the project file, like --config. */
export const FILE_VARIABLE = `${VARIABLE_PREFIX}CONFIG`;

/** Hooks get these variables, and a hook may run pickaxe. */
const EVENT_NAME = /^PICKAXE_EVENT(_|$)/;
/** Kubernetes sets these in each container if there is a service called pickaxe. */
const SERVICE_NAME = /^PICKAXE_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP)(_\w+)?)?)$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The flags that were given, by the settings' paths: a list has one text for each time it was given, a switch has no
 * text.
 */
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

/** An empty variable counts as not set. */
export function settingsOfEnvironment(environment: Environment): RawSettings {
  return rawSettings(
    ({ variable, setting }) => {
      const text = environment[variable];
      return text ? read(setting.type.form, text) : undefined;
    },
    ({ variable }) => variable,
  );
}

/**
 * @returns what somebody who has seen only a file may call a setting's variable: `PICKAXE_POOL_URLS` for `PICKAXE_POOL`
 */
function pathVariable(path: string): string {
  return `${VARIABLE_PREFIX}${path}`.replace(/[.-]/g, '_').toUpperCase();
}

/** @returns a problem, without any value, for each variable that looks like a setting's but is not one */
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

/** @returns the value as a file has it; a text that cannot be read stays a text, which the check then refuses */
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

/** A comma in a URL's password does not separate items: the URL is refused as a whole, and no part of it is shown. */
function itemsOf(list: string): string[] {
  const kept = list.replace(/https?:\/\/[^/@=]*@/gi, (user) => user.replaceAll(',', '\0'));
  return kept.split(',').map((item) => item.trim().replaceAll('\0', ','));
}
