/** Options of commands: flags of settings from their table, and the few that are no settings. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../app/exit-codes.ts';
import { integer, type NumberKind, seconds } from '../config/kinds.ts';
import type { Loaded } from '../config/load.ts';
import { describe, type Entry } from '../config/setting.ts';
import { ENTRIES } from '../config/settings.ts';

/** The settings that a command has flags for. An option of the same name that is the command's own is none of them. */
const settingsOfCommand = new WeakMap<Command, readonly Entry[]>();

/**
 * Gives a command the flags of settings, and --config. What is set, there and elsewhere, `settingsOf` tells.
 * @param paths tables (`cpu`) or settings (`devices.use`)
 */
export function withSettings(command: Command, ...paths: readonly string[]): Command {
  command.option('--config <file>', 'configuration file, .toml or .json (default: pickaxe.toml or .json, if any)');
  const entries = ENTRIES.filter(({ flag, path, table }) => flag && (paths.includes(path) || paths.includes(table)));
  for (const option of entries.flatMap(flagsOf)) command.addOption(option);
  settingsOfCommand.set(command, entries);
  return command;
}

/** Values stay texts: they are checked with those of files and of the environment. */
function flagsOf({ setting, flag }: Entry): Option[] {
  const option = new Option(setting.flag!, describe(setting));
  if (setting.kind.form === 'list') option.argParser(gather);
  if (setting.kind.form !== 'switch') return [option];
  return [option, new Option(flag!.replace('--', '--no-')).hideHelp()];
}

/** Gathers the values of an option that may be given several times. */
function gather(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

/**
 * The configuration that holds for a command that is run.
 * @throws UsageError that tells all that is wrong with it.
 */
export async function settingsOf(command: Command): Promise<Loaded> {
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
    return loadConfig({ flags: given, environment: process.env, cwd: process.cwd(), file });
  } catch (fault) {
    throw fault instanceof ConfigError ? new UsageError(fault.message) : fault;
  }
}

/** A parser for an option that is no setting. */
export function numberOf({ least, most, whole, says }: NumberKind): (text: string) => number {
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

export const positiveSeconds = numberOf(seconds);
