/** What a shell has to know of the command line, as commander has it. Pure. */

import type { Command } from 'commander';

export interface CompletionOption {
  /** `-V`, `--version`: all its names. */
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** Left out, the value may be anything, as a file's name. */
  readonly choices?: readonly string[];
}

export interface CompletionCommand {
  /** From the program's name on: `['pickaxe', 'config', 'check']`. */
  readonly path: readonly string[];
  readonly description: string;
  /** Names of its subcommands. */
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletionOption[];
  /** What its first argument may be, where that is known. */
  readonly choices: readonly string[];
  /** Whether it takes arguments that may be anything, as files' names. */
  readonly takesFiles: boolean;
}

/** The program and all its commands; those that are hidden are left out. */
export function commandsOf(program: Command, above: readonly string[] = []): CompletionCommand[] {
  const path = [...above, program.name()];
  const help = program.createHelp();
  const visible = help.visibleCommands(program);
  const [first] = program.registeredArguments;
  return [
    {
      path,
      description: program.description(),
      commands: visible.map((command) => ({ name: command.name(), description: command.description() })),
      options: help.visibleOptions(program).map(({ short, long, description, required, optional, argChoices }) => ({
        flags: [short, long].filter((flag) => flag !== undefined),
        description,
        takesValue: required || optional,
        ...(argChoices && { choices: argChoices }),
      })),
      choices: first?.argChoices ?? [],
      takesFiles: program.registeredArguments.some(({ argChoices }) => argChoices === undefined),
    },
    ...visible.flatMap((command) => commandsOf(command, path)),
  ];
}
