/** Completion for fish. */

import type { CompletionCommand, CompletionOption } from './commands.ts';

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
              .map(({ path }) => quote(` ${path.slice(1).join(' ')}`))
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
  const words = path
    .slice(1)
    .map((word) => ` ${word}`)
    .join('');
  const start = `complete --command ${name} --condition ${quote(`__${name}_command ${quote(words)}`)}`;
  return [
    ...commands.map(
      ({ name, description }) => `${start} --arguments ${quote(name)} --description ${quote(description)}`,
    ),
    ...choices.map((choice) => `${start} --arguments ${quote(choice)}`),
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
      ? ['--exclusive', `--arguments ${quote(choices.join(' '))}`]
      : ['--require-parameter', '--force-files'];
  return [...names, ...value, `--description ${quote(description)}`].join(' ');
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
