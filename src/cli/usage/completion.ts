/** `pickaxe completion`: prints a shell completion script, made from commander's definitions. */

import { Argument, type Command, type Option } from 'commander';
import { ENTRIES } from '../../app/config/settings.ts';
import { EXIT } from '../../app/process/exit.ts';
import type { Io, Line } from '../io.ts';

/** @returns a script for bash 3.2 (which macOS has) and later. The script needs no other packages */
export function bashCompletion(commands: readonly CompletionCommand[]): string {
  const [{ path }] = commands;
  const name = path[0];
  return `# ${name}'s completion for bash: source it, or put it into ~/.local/share/bash-completion/completions/${name}
_${name}() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} command='' i words=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command \${COMP_WORDS[i]}" in
${commands
  .slice(1)
  .map(({ path }) => `      ${quote(commandWords(path))}) command=${quote(commandWords(path))} ;;`)
  .join('\n')}
    esac
  done
  case "$command $before" in
${commands.flatMap(valueCases).join('\n')}
    *)
      case "$command" in
${commands.map(wordsCase).join('\n')}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _${name} ${name}
`;
}

/**
 * @returns a branch of `case` for each option with a value. The branch sets the words to offer. Without words, bash
 *   offers file names
 */
function valueCases({ path, options }: CompletionCommand): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ flags, choices = [] }) => {
      const patterns = flags.map((flag) => quote(`${commandWords(path)} ${flag}`)).join('|');
      return `    ${patterns}) words=${quote(choices.join(' '))} ;;`;
    });
}

/**
 * @returns the branch of `case` for those words of a command that are not the value of an option. If the command takes
 *   files, options are offered only after a hyphen
 */
function wordsCase({ path, commands, options, choices, takesFiles }: CompletionCommand): string {
  const flags = options.flatMap(({ flags }) => flags.filter((flag) => flag.startsWith('--')));
  const words = [...commands.map(({ name }) => name), ...choices];
  const pattern = `        ${quote(commandWords(path))})`;
  const all = quote([...words, ...flags].join(' '));
  if (!takesFiles) return `${pattern} words=${all} ;;`;
  return `${pattern} if [[ $word == -* ]]; then words=${all}; else words=${quote(words.join(' '))}; fi ;;`;
}

/** @returns the words that call a command, without the program's name. Each word has a space in front */
function commandWords([, ...words]: readonly string[]): string {
  return words.map((word) => ` ${word}`).join('');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** @returns a script with a function for each command. The functions call zsh's `_arguments` */
export function zshCompletion(commands: readonly CompletionCommand[]): string {
  const [{ path }] = commands;
  const name = path[0];
  return `#compdef ${name}
# ${name}'s completion for zsh: put it into a folder of $fpath, as _${name}
${commands.map(commandFunction).join('\n')}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function commandFunction(command: CompletionCommand): string {
  const { path, commands, options, choices, takesFiles } = command;
  const name = functionName(path);
  const specs = options.flatMap(optionSpecs);
  if (commands.length === 0) {
    const argument =
      choices.length > 0
        ? [quote(`1:argument:(${choices.map(listed).join(' ')})`)]
        : takesFiles
          ? [quote('*:file:_files')]
          : [];
    return `${name}() {\n  _arguments -s -S ${[...specs, ...argument].join(' \\\n    ')}\n}`;
  }
  const list = commands.map((each) => quote(`${described(each.name)}:${described(each.description)}`));
  const cases = commands.map((each) => `      ${each.name}) ${functionName([...path, each.name])} ;;`);
  return `${name}() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C -S ${[...specs, quote('1:command:->command'), quote('*::argument:->argument')].join(' \\\n    ')}
  case $state in
    command)
      local -a commands=(
        ${list.join('\n        ')}
      )
      _describe command commands ;;
    argument)
      case $line[1] in
${cases.join('\n')}
      esac ;;
  esac
}`;
}

function optionSpecs({ flags, description, takesValue, choices }: CompletionOption): string[] {
  const what = described(description).replace(/[[\]]/g, '\\$&');
  const value = !takesValue ? '' : choices ? `:value:(${choices.map(listed).join(' ')})` : ':value:_files';
  return flags.map((flag) => quote(`${flag}[${what}]${value}`));
}

function functionName(path: readonly string[]): string {
  return `_${path.join('__').replaceAll('-', '_')}`;
}

/** Escapes a word of a list that zsh reads between parentheses. */
function listed(text: string): string {
  return text.replace(/[\\:()\s]/g, '\\$&');
}

/** Escapes the colons and backslashes of a text, because zsh takes a plain colon for the end of the text. */
function described(text: string): string {
  return text.replace(/[\\:]/g, '\\$&');
}

export function fishCompletion(commands: readonly CompletionCommand[]): string {
  const [{ path }] = commands;
  const name = path[0];
  return `# ${name}'s completion for fish: put it into ~/.config/fish/completions/${name}.fish
function __${name}_command
    set -l command
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    for word in $words[2..]
        switch "$command $word"
            case ${commands
              .slice(1)
              .map(({ path }) => quoteForFish(commandWords(path)))
              .join(' ')}
                set command "$command $word"
        end
    end
    test "$command" = "$argv[1]"
end
complete --command ${name} --no-files
${commands.flatMap((command) => commandLines(name, command)).join('\n')}
`;
}

function commandLines(name: string, { path, commands, options, choices, takesFiles }: CompletionCommand): string[] {
  const called = quoteForFish(commandWords(path));
  const start = `complete --command ${name} --condition ${quoteForFish(`__${name}_command ${called}`)}`;
  return [
    ...commands.map(
      ({ name, description }) =>
        `${start} --arguments ${quoteForFish(name)} --description ${quoteForFish(description)}`,
    ),
    ...choices.map((choice) => `${start} --arguments ${quoteForFish(choice)}`),
    ...(takesFiles ? [`${start} --force-files`] : []),
    ...options.map((option) => `${start} ${optionWords(option)}`),
  ];
}

function optionWords({ flags, description, takesValue, choices }: CompletionOption): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? `--long-option ${flag.slice(2)}` : `--short-option ${flag.slice(1)}`,
  );
  const value = !takesValue
    ? []
    : choices
      ? ['--exclusive', `--arguments ${quoteForFish(choices.join(' '))}`]
      : ['--require-parameter', '--force-files'];
  return [...names, ...value, `--description ${quoteForFish(description)}`].join(' ');
}

function quoteForFish(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

const PRINTERS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export function declare(command: Command, { io, action }: Line): void {
  command
    .addArgument(new Argument('<shell>').choices(Object.keys(PRINTERS)))
    .action(action((shell: keyof typeof PRINTERS) => runCompletion(command.parent!, shell, io)));
}

function runCompletion(program: Command, shell: keyof typeof PRINTERS, io: Io): number {
  io.out(PRINTERS[shell](commandsOf(program, choicesOf)));
  return EXIT.done;
}

/** The choices of settings are only in ENTRIES, because `loadConfig`, not commander, checks the values of settings. */
function choicesOf({ long, argChoices }: Option): readonly string[] | undefined {
  return argChoices ?? ENTRIES.find(({ flag }) => flag === long)?.setting.type.choices;
}

/* Pure functions that collect the commands and options for completion scripts. */

interface CompletionOption {
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** The possible values. Absent if the value may be anything, such as a file's name. */
  readonly choices?: readonly string[];
}

interface CompletionCommand {
  /** The words that call the command: `['pickaxe', 'config', 'check']`. */
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletionOption[];
  /** Choices for the first argument. */
  readonly choices: readonly string[];
  /** Whether an argument may be anything, such as a file's name. */
  readonly takesFiles: boolean;
}

/** @returns the possible values of an option; undefined if its value may be anything */
type ChoicesOf = (option: Option) => readonly string[] | undefined;

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
