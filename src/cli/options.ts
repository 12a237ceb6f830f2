/** The options of commands: the flags of settings, made from the table of settings, and the few other options. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../app/exit-codes.ts';
import type { Entry } from '../config/entries.ts';
import type { Loaded, Places } from '../config/load.ts';
import { duration, integer, type NumberType, seconds } from '../config/setting-types/numbers.ts';
import { ENTRIES } from '../config/settings.ts';
import { describe } from '../config/settings-table.ts';
import { BLOCK_STATES, type BlockState } from '../events/vocabulary.ts';

/** The settings that each command has flags for. A command may also have an option of its own with the name of a setting. */
const settingsOfCommand = new WeakMap<Command, readonly Entry[]>();

/**
 * Gives a command the flags of settings, under the headings that the table of settings names, and --config. `settingsOf` then
 * loads what they and all other places set.
 * @param paths tables (`cpu`) or settings (`devices.use`)
 */
export function withSettings(command: Command, ...paths: readonly string[]): Command {
  command.option(
    '-c, --config <file>',
    'configuration file (default: pickaxe.toml or pickaxe.json in this folder, where there is one)',
  );
  const entries = ENTRIES.filter(({ flag, path, table }) => flag && (paths.includes(path) || paths.includes(table)));
  for (const option of entries.flatMap(flagsOf)) command.addOption(option);
  settingsOfCommand.set(command, entries);
  return command;
}

/** Values stay texts here: they are checked together with those of files and of the environment. */
function flagsOf({ setting, flag, heading }: Entry): Option[] {
  const names = setting.short === undefined ? setting.flag! : `${setting.short}, ${setting.flag}`;
  const option = new Option(names, describe(setting)).helpGroup(`${heading}:`);
  if (setting.type.form === 'list') option.argParser(collect);
  if (setting.type.form !== 'switch') return [option];
  return [option, new Option(flag!.replace('--', '--no-')).hideHelp()];
}

/** Collects the values of an option that may be given several times. */
export function collect(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

/** Replaces the help of flags, for a command that uses settings in another way than their table says. */
export function reword(command: Command, help: Readonly<Record<string, string>>): Command {
  for (const option of command.options) option.description = help[option.long ?? ''] ?? option.description;
  return command;
}

/**
 * Loads the effective configuration of a command.
 * @param contradictions which contradictions between settings are refused; none by default
 * @throws UsageError that says everything that is wrong with it
 */
export async function settingsOf(command: Command, contradictions?: Places['contradictions']): Promise<Loaded> {
  const [{ loadConfig }, { ConfigError }] = await Promise.all([
    import('../config/load.ts'),
    import('../config/errors.ts'),
  ]);
  const given = new Map<string, string | string[] | boolean>();
  for (const { path, flag } of settingsOfCommand.get(command) ?? []) {
    const option = command.options.find(({ long }) => long === flag)!;
    const value = command.getOptionValue(option.attributeName());
    if (value !== undefined) given.set(path, value);
  }
  const { config: file } = command.opts<{ config?: string }>();
  try {
    return loadConfig({ flags: given, environment: process.env, cwd: process.cwd(), file, contradictions });
  } catch (fault) {
    throw fault instanceof ConfigError ? new UsageError(fault.message) : fault;
  }
}

/** @returns a parser for an option that is not a setting */
function numberOf({ least, most, whole, says }: NumberType): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const read = whole ? /^\d+$/ : /^\d+(\.\d+)?$/;
    if (!read.test(text) || value < least || value > most) throw new InvalidArgumentError(says);
    return value;
  };
}

export function positiveInteger(most: number): (text: string) => number {
  return numberOf(integer(1, most));
}

/** A height, or another number that may be 0. */
export const wholeNumber = numberOf(integer(0, Number.MAX_SAFE_INTEGER));

/** A header counts chains with 32 bits. */
export const chainNumber = numberOf(integer(0, 2 ** 32 - 1));

export const positiveSeconds = numberOf(seconds);

/** Parses states of blocks, such as `won,settled`. */
export function blockStates(text: string): BlockState[] {
  return text.split(',').map((name) => {
    const state = BLOCK_STATES.find((each) => each === name.trim());
    if (state === undefined) throw new InvalidArgumentError(`Give some of: ${BLOCK_STATES.join(', ')}.`);
    return state;
  });
}

/** Parses a time like `90` or `1m`. @returns seconds */
export function timeOf(text: string): number {
  const value = duration.parse(text);
  if (value === undefined) throw new InvalidArgumentError(duration.says);
  return value;
}
