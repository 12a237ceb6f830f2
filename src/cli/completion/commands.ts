/** What a shell has to know about the command line, read from commander. Pure. */

import type { Command, Option } from 'commander';

export interface CompletionOption {
  /** All its names: `-v`, `--version`. */
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** Without it, the value may be anything, such as a file's name. */
  readonly choices?: readonly string[];
}

export interface CompletionCommand {
  /** It begins with the program's name: `['pickaxe', 'config', 'check']`. */
  readonly path: readonly string[];
  readonly description: string;
  /** Names of its subcommands. */
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletionOption[];
  /** What its first argument may be, where that is known. */
  readonly choices: readonly string[];
  /** Whether it has arguments that may be anything, such as file names. */
  readonly takesFiles: boolean;
}

/** What the value of an option may be, where that is known. */
export type ChoicesOf = (option: Option) => readonly string[] | undefined;

/** @returns the program and all its commands, except hidden ones */
export function commandsOf(
  program: Command,
  choicesOf: ChoicesOf = ({ argChoices }) => argChoices,
  above: readonly string[] = [],
): CompletionCommand[] {
  const path = [...above, program.name()];
  const help = program.createHelp();
  const visible = help.visibleCommands(program);
  const [first] = program.registeredArguments;
  return [
    {
      path,
      description: program.description(),
      commands: visible.map((command) => ({ name: command.name(), description: command.description() })),
      options: help.visibleOptions(program).map((option) => optionOf(option, choicesOf(option))),
      choices: first?.argChoices ?? [],
      takesFiles: program.registeredArguments.some(({ argChoices }) => argChoices === undefined),
    },
    ...visible.flatMap((command) => commandsOf(command, choicesOf, path)),
  ];
}

function optionOf(option: Option, choices: readonly string[] | undefined): CompletionOption {
  const { short, long, description, required, optional } = option;
  const flags = [short, long].filter((flag) => flag !== undefined);
  return { flags, description, takesValue: required || optional, ...(choices && { choices }) };
}
