/** Reads the flags of the command line and the variables of the environment, each in the form of its setting. */

import { suggestion } from './known-names.ts';
import type { RawSettings } from './raw-settings.ts';
import { whereSecretBelongs } from './secrets.ts';
import { ENTRIES } from './settings.ts';
import { type Entry, VARIABLE_PREFIX } from './settings-table.ts';

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
  return said(
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
  return said(
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

function said(given: (entry: Entry) => unknown, nameOf: (entry: Entry) => string): RawSettings {
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
