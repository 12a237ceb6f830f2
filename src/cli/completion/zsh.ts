/** Completion for zsh: a function for each command, which calls zsh's own `_arguments`. */

import type { CompletionCommand, CompletionOption } from './commands.ts';

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

/** A word of a list between parentheses. */
function listed(text: string): string {
  return text.replace(/[\\:()\s]/g, '\\$&');
}

/** A text that ends at the next colon. */
function described(text: string): string {
  return text.replace(/[\\:]/g, '\\$&');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
