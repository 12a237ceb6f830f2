/** What the environment and the command line say: texts by name, read as the kinds of their settings. */

import type { Said } from './check.ts';
import { whereSecretBelongs } from './secrets.ts';
import { type Entry, VARIABLE_PREFIX } from './setting.ts';
import { ENTRIES } from './settings.ts';
import { suggestion } from './suggest.ts';

/** Names the project file, as --config does. */
export const FILE_VARIABLE = `${VARIABLE_PREFIX}CONFIG`;

/** What hooks are told: they may run pickaxe. */
const EVENT_NAME = /^PICKAXE_EVENT(_|$)/;
/** Kubernetes tells each container of a service that is called pickaxe. */
const SERVICE_NAME = /^PICKAXE_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP)(_\w+)?)?)$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/** What flags were given, by the settings' paths: a list's once for each time, a switch's without a text. */
export type Flags = ReadonlyMap<string, string | readonly string[] | boolean>;

export function saidByFlags(flags: Flags): Said {
  return said(
    ({ path, setting }) => {
      const given = flags.get(path);
      if (given === undefined || typeof given === 'boolean') return given;
      return read(setting.kind.form, given);
    },
    ({ flag }) => flag ?? '',
  );
}

/** An empty variable is one that is not set. */
export function saidByEnvironment(environment: Environment): Said {
  return said(
    ({ variable, setting }) => {
      const text = environment[variable];
      return text ? read(setting.kind.form, text) : undefined;
    },
    ({ variable }) => variable,
  );
}

/** @returns a problem for each variable that looks like a setting's and is none; no value is told */
export function unknownVariables(environment: Environment): string[] {
  const known = new Map<string, string[]>([[FILE_VARIABLE, []]]);
  for (const { variable, path } of ENTRIES) known.set(variable, [`${VARIABLE_PREFIX}${path.replace('.', '_')}`]);
  const isOurs = (name: string) =>
    name.startsWith(VARIABLE_PREFIX) && !EVENT_NAME.test(name) && !SERVICE_NAME.test(name);
  const ours = Object.keys(environment).filter(isOurs);
  const unknown = ours.filter((name) => !known.has(name));
  return unknown.map((name) => {
    const belongs = whereSecretBelongs(name.slice(VARIABLE_PREFIX.length));
    return `${name}: there is no such setting.${belongs ? ` ${belongs}` : suggestion(name, known)}`;
  });
}

function said(given: (entry: Entry) => unknown, nameOf: (entry: Entry) => string): Said {
  const document: Record<string, Record<string, unknown>> = {};
  for (const entry of ENTRIES) {
    const value = given(entry);
    if (value === undefined) continue;
    document[entry.table] ??= {};
    document[entry.table][entry.key] = value;
  }
  return {
    document,
    where: ([table, key]) => nameOf(ENTRIES.find((entry) => entry.table === table && entry.key === key)!),
  };
}

const SWITCHES = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** What reads as nothing better stays a text, which the check then refuses. */
function read(form: Entry['setting']['kind']['form'], given: string | readonly string[]): unknown {
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

/** A comma in a URL's password separates nothing: such a URL is refused as a whole, and not shown in pieces. */
function itemsOf(list: string): string[] {
  const kept = list.replace(/https?:\/\/[^/@=]*@/gi, (user) => user.replaceAll(',', '\0'));
  return kept.split(',').map((item) => item.trim().replaceAll('\0', ','));
}
