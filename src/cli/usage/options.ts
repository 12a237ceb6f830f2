/** The flags of settings, made from the table of settings, and the parsers of other options. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Loaded, Places } from '../../app/config/load.ts';
import { duration, integer, type NumberType, type TimeType, time } from '../../app/config/setting-types/basic.ts';
import { ENTRIES } from '../../app/config/settings.ts';
import { describe, type Entry } from '../../app/config/settings-table.ts';
import { UsageError } from '../../app/process/exit.ts';
import { type HttpAddress, isPoolUrl, parseHttpAddress } from '../../base/text/addresses.ts';
import { BLOCK_STATES, type BlockState } from '../../node/blocks/fate.ts';
import { listLast } from './help.ts';

const settingsOfCommand = new WeakMap<Command, readonly Entry[]>();

/**
 * Adds --config and the flags of settings to a command. `settingsOf` then loads the settings.
 * @param paths tables (`cpu`) or settings (`devices.use`). A setting may be named only by its table. In this case,
 *   unless the setting has `inHelp`, only `--help --all` lists its flags
 */
export function withSettings(command: Command, ...paths: readonly string[]): Command {
  command.option(
    '-c, --config <file>',
    'configuration file (default: pickaxe.toml in this folder, where there is one)',
  );
  const entries = ENTRIES.filter(({ flag, path, table }) => flag && (paths.includes(path) || paths.includes(table)));
  const takesPools = entries.some(({ path }) => path === 'pool.urls');
  for (const entry of entries) {
    const inLine = takesPools ? poolLineFlags(entry, command) : [];
    const options = flagsOf(entry, takesPools);
    for (const option of [...inLine, ...options]) command.addOption(option);
    const isInLine = takesPools && OF_POOL_LINE.includes(entry.path);
    if (isInLine || (entry.setting.inHelp === undefined && !paths.includes(entry.path))) listLast(command, options);
  }
  settingsOfCommand.set(command, entries);
  return command;
}

/**
 * Tables of the settings for which `mine`, `coordinate` and `demo` have flags. `worker` has the same flags, except for
 * those of `stratum` and most of `run`.
 */
export const MINING = [
  'rig',
  'devices',
  'cpu',
  'gpu',
  'external-worker',
  'run',
  'stratum',
  'power',
  'http',
  'log',
  'log-file',
  'pause',
  'alarm',
  'hooks',
  'webhook',
];

/** The settings that -o and -u set. Where these flags exist, --help omits the settings' own flags. */
const OF_POOL_LINE = ['node.urls', 'miner.public-keys', 'pool.urls', 'pool.user'];

/** Matches the names of the algorithm in other miners and at pools. */
const ALGORITHM = /^(?:blake2s(?:[-_]?(?:kadena|kda))?|kadena|kda)$/i;

/**
 * Web pages of pools show a command line such as `-a ALGORITHM -o URL -u USER -p PASSWORD`.
 * @returns the flags of such a line that belong to one setting. What -u means depends on other settings, so
 *   `loadConfig` decides it
 */
function poolLineFlags({ path, heading }: Entry, command: Command): Option[] {
  const add = (name: string, text: string) =>
    command.setOptionValueWithSource(name, collect(text, command.getOptionValue(name)), 'cli');
  const of = (flags: string, about: string) => new Option(flags, about).helpGroup(`${heading}:`);
  switch (path) {
    case 'node.urls':
      return [
        of(
          '-o, --url <url>',
          'URL of a node, or of a pool (stratum+tcp://…); repeat for failover: the first one is preferred',
        ).argParser((text: string) => add(isPoolUrl(text) ? 'pool' : 'node', text)),
      ];
    case 'miner.public-keys':
      return [
        of(
          '-u <name>',
          'your public key on a node; the user on a pool, usually an account and the name of this rig',
        ).argParser(collect),
      ];
    case 'pool.password':
      return [
        of('--pass <password>', '')
          .hideHelp()
          .argParser((text: string) => command.setOptionValueWithSource('password', text, 'cli')),
        of('-a, --algo <name>', '').hideHelp().argParser(ownAlgorithm),
      ];
    default:
      return [];
  }
}

function ownAlgorithm(name: string): string {
  if (!ALGORITHM.test(name)) throw new InvalidArgumentError('Leave it out: pickaxe mines blake2s and nothing else.');
  return name;
}

/** The flags' values stay texts: `loadConfig` checks them together with the values of files and the environment. */
function flagsOf({ setting, flag, heading }: Entry, takesPools: boolean): Option[] {
  const { short } = setting;
  const names =
    short === undefined || (takesPools && /^-[ou]$/.test(short)) ? setting.flag! : `${short}, ${setting.flag}`;
  const option = new Option(names, describe(setting)).helpGroup(`${heading}:`);
  if (setting.inHelp === 'never') option.hideHelp();
  if (setting.type.form === 'list') option.argParser(collect);
  if (setting.type.form !== 'switch') return [option];
  return [option, new Option(flag!.replace('--', '--no-')).hideHelp()];
}

export function collect(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

const OWNER =
  'On a node -u is a public key. On a pool, whose URL begins with stratum+tcp:// or stratum+ssl://, it is the user.';

/**
 * @param contradictions which contradictions between settings are refused; none by default
 * @throws UsageError when the settings cannot be used
 */
export async function settingsOf(
  command: Command,
  contradictions?: Places['contradictions'],
  { coordinates, movesCoins }: Pick<Places, 'coordinates' | 'movesCoins'> = {},
): Promise<Loaded> {
  const [{ loadConfig }, { ConfigError }] = await Promise.all([
    import('../../app/config/load.ts'),
    import('../../app/config/raw-settings.ts'),
  ]);
  const given = new Map<string, string | string[] | boolean>();
  for (const { path, flag } of settingsOfCommand.get(command) ?? []) {
    const option = command.options.find(({ long }) => long === flag)!;
    const value = command.getOptionValue(option.attributeName());
    if (value !== undefined) given.set(path, value);
  }
  // Commands such as `ledger` read from the configured nodes, even if the rig mines on pools.
  const readsNodes =
    contradictions === undefined && !settingsOfCommand.get(command)?.some(({ path }) => path === 'pool.urls');
  const { config: file, u: owner } = command.opts<{ config?: string; u?: string[] }>();
  try {
    const environment = process.env;
    const purpose = { contradictions, readsNodes, coordinates, movesCoins };
    return loadConfig({ flags: given, owner, environment, cwd: process.cwd(), file, ...purpose });
  } catch (fault) {
    if (!(fault instanceof ConfigError)) throw fault;
    const isOfOwner = owner !== undefined && fault.message.includes('--public-key');
    throw new UsageError(isOfOwner ? `${fault.message}\n${OWNER}` : fault.message);
  }
}

function numberOf({ least, most, whole, hint }: NumberType): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const read = whole ? /^\d+$/ : /^\d+(\.\d+)?$/;
    if (!read.test(text) || value < least || value > most) throw new InvalidArgumentError(hint);
    return value;
  };
}

export function positiveInteger(most: number): (text: string) => number {
  return numberOf(integer(1, most));
}

/** Parses a height, or another whole number that may be 0. */
export const wholeNumber = numberOf(integer(0, Number.MAX_SAFE_INTEGER));

/** Parses the number of a chain, for which a header has 32 bits. */
export const chainNumber = numberOf(integer(0, 2 ** 32 - 1));

export function blockStates(text: string): BlockState[] {
  return text.split(',').map((name) => {
    const state = BLOCK_STATES.find((each) => each === name.trim());
    if (state === undefined) throw new InvalidArgumentError(`Give some of: ${BLOCK_STATES.join(', ')}.`);
    return state;
  });
}

export function httpAddresses(text: string, before: HttpAddress[] | undefined): HttpAddress[] {
  const address = parseHttpAddress(text);
  if (address === undefined)
    throw new InvalidArgumentError('Give a port or a host and a port, like 8080, rig2:8080 or [::1]:8080.');
  return [...(before ?? []), address];
}

/** Parses a time like `90` or `1m`. @returns seconds */
export const timeOf = parserOf(duration);

/**
 * The minimum is 1 ms.
 * @param most maximum, in seconds
 * @param hint message for wrong texts
 * @returns a parser that returns seconds
 */
export function timeUpTo(most: number, hint: string): (text: string) => number {
  return parserOf(time(0.001, most, hint));
}

function parserOf({ parse, hint }: TimeType): (text: string) => number {
  return (text) => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(hint);
    return value;
  };
}

/*
 * One hash in 64 begins with a hyphen, and commander would read it as an option. So a plus, which no hash contains,
 * replaces that hyphen until commander has parsed the line.
 */

/** Matches a hash that begins with a hyphen. Its 32 bytes leave only four bits for the last of its 43 characters. */
const LIKE_AN_OPTION = /^-[\w-]{41}[AEIMQUYcgkosw048]$/;
const DISGUISED = /^\+(?=[\w-]{42}$)/;

/**
 * @returns the arguments with a plus in place of each such hyphen. Values of options, and all words after `--`, stay as
 *   they are
 */
export function disguiseHashes(argv: readonly string[], program: Command): string[] {
  const takeValues = new Set(flagsWithValues(program));
  const end = argv.indexOf('--');
  return argv.map((text, i) => {
    const isArgument = (end < 0 || i < end) && !takeValues.has(argv[i - 1]);
    return isArgument && LIKE_AN_OPTION.test(text) ? `+${text.slice(1)}` : text;
  });
}

export function asGiven(text: string): string {
  return text.replace(DISGUISED, '-');
}

function flagsWithValues({ options, commands }: Command): string[] {
  const own = options.filter(({ required, optional }) => required || optional);
  return [...own.flatMap(({ short, long }) => [short ?? [], long ?? []].flat()), ...commands.flatMap(flagsWithValues)];
}
