/** Completion for bash 3.2 (which macOS has) and later. It needs no other package. */

import type { CompletionCommand } from './commands.ts';

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
  .map(
    ({ path }) => `      ${quote(` ${path.slice(1).join(' ')}`)}) command=${quote(` ${path.slice(1).join(' ')}`)} ;;`,
  )
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

/** What may follow an option that has a value. Without any words, bash completes file names. */
function valueCases({ path, options }: CompletionCommand): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ flags, choices = [] }) => {
      const patterns = flags.map((flag) => quote(`${commandWords(path)} ${flag}`)).join('|');
      return `    ${patterns}) words=${quote(choices.join(' '))} ;;`;
    });
}

/** What else may follow. Where a file may be named, options are offered only once the word begins like an option. */
function wordsCase({ path, commands, options, choices, takesFiles }: CompletionCommand): string {
  const flags = options.flatMap(({ flags }) => flags.filter((flag) => flag.startsWith('--')));
  const words = [...commands.map(({ name }) => name), ...choices];
  const pattern = `        ${quote(commandWords(path))})`;
  const all = quote([...words, ...flags].join(' '));
  if (!takesFiles) return `${pattern} words=${all} ;;`;
  return `${pattern} if [[ $word == -* ]]; then words=${all}; else words=${quote(words.join(' '))}; fi ;;`;
}

/** The words of a command as the script collects them: each with a space in front. */
function commandWords(path: readonly string[]): string {
  return path
    .slice(1)
    .map((word) => ` ${word}`)
    .join('');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
