/** The scripts for a small program, to the last character. */

import { Argument, Command, Option } from 'commander';
import { expect, it } from 'vitest';
import { bashCompletion, commandsOf, fishCompletion, zshCompletion } from '#pickaxe/cli/usage/completion.js';

/** A program that has each kind of command, argument and option. */
function program(): Command {
  const made = new Command('dig').description('digs').helpCommand(false);
  made
    .command('deep-down')
    .description("digs: 'deep' [down]\\")
    .option('-d, --depth <n>', 'how deep: in [m]')
    .addOption(new Option('--tool <name>', "which 'tool'").choices(['spade', 'two: (words)']))
    .option('-f', 'only short')
    .option('--maybe [x]', 'a value or none')
    .argument('<file>')
    .command('again')
    .description('digs again');
  made
    .command('with')
    .description('digs with')
    .addArgument(new Argument('<tool>').choices(['spade', 'a b']));
  made
    .command('mix')
    .addArgument(new Argument('<tool>').choices(['spade']))
    .argument('<file>');
  made.command('gone', { hidden: true });
  return made;
}

it('bash', () => {
  expect(bashCompletion(commandsOf(program()))).toMatchInlineSnapshot(`
    "# dig's completion for bash: source it, or put it into ~/.local/share/bash-completion/completions/dig
    _dig() {
      local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} command='' i words=''
      for ((i = 1; i < COMP_CWORD; i++)); do
        case "$command \${COMP_WORDS[i]}" in
          ' deep-down') command=' deep-down' ;;
          ' deep-down again') command=' deep-down again' ;;
          ' deep-down help') command=' deep-down help' ;;
          ' with') command=' with' ;;
          ' mix') command=' mix' ;;
        esac
      done
      case "$command $before" in
        ' deep-down -d'|' deep-down --depth') words='' ;;
        ' deep-down --tool') words='spade two: (words)' ;;
        ' deep-down --maybe') words='' ;;
        *)
          case "$command" in
            '') words='deep-down with mix --help' ;;
            ' deep-down') if [[ $word == -* ]]; then words='again help --depth --tool --maybe --help'; else words='again help'; fi ;;
            ' deep-down again') words='--help' ;;
            ' deep-down help') if [[ $word == -* ]]; then words=''; else words=''; fi ;;
            ' with') words='spade a b --help' ;;
            ' mix') if [[ $word == -* ]]; then words='spade --help'; else words='spade'; fi ;;
          esac ;;
      esac
      COMPREPLY=($(compgen -W "$words" -- "$word"))
    }
    complete -o default -F _dig dig
    "
  `);
});

it('zsh', () => {
  expect(zshCompletion(commandsOf(program()))).toMatchInlineSnapshot(`
    "#compdef dig
    # dig's completion for zsh: put it into a folder of $fpath, as _dig
    _dig() {
      local context state state_descr line
      typeset -A opt_args
      _arguments -C -S '-h[display help for command]' \\
        '--help[display help for command]' \\
        '1:command:->command' \\
        '*::argument:->argument'
      case $state in
        command)
          local -a commands=(
            'deep-down:digs\\: '\\''deep'\\'' [down]\\\\'
            'with:digs with'
            'mix:'
          )
          _describe command commands ;;
        argument)
          case $line[1] in
          deep-down) _dig__deep_down ;;
          with) _dig__with ;;
          mix) _dig__mix ;;
          esac ;;
      esac
    }
    _dig__deep_down() {
      local context state state_descr line
      typeset -A opt_args
      _arguments -C -S '-d[how deep\\: in \\[m\\]]:value:_files' \\
        '--depth[how deep\\: in \\[m\\]]:value:_files' \\
        '--tool[which '\\''tool'\\'']:value:(spade two\\:\\ \\(words\\))' \\
        '-f[only short]' \\
        '--maybe[a value or none]:value:_files' \\
        '-h[display help for command]' \\
        '--help[display help for command]' \\
        '1:command:->command' \\
        '*::argument:->argument'
      case $state in
        command)
          local -a commands=(
            'again:digs again'
            'help:display help for command'
          )
          _describe command commands ;;
        argument)
          case $line[1] in
          again) _dig__deep_down__again ;;
          help) _dig__deep_down__help ;;
          esac ;;
      esac
    }
    _dig__deep_down__again() {
      _arguments -s -S '-h[display help for command]' \\
        '--help[display help for command]'
    }
    _dig__deep_down__help() {
      _arguments -s -S '*:file:_files'
    }
    _dig__with() {
      _arguments -s -S '-h[display help for command]' \\
        '--help[display help for command]' \\
        '1:argument:(spade a\\ b)'
    }
    _dig__mix() {
      _arguments -s -S '-h[display help for command]' \\
        '--help[display help for command]' \\
        '1:argument:(spade)'
    }
    if [ "$funcstack[1]" = "_dig" ]; then _dig "$@"; else compdef _dig dig; fi
    "
  `);
});

it('fish', () => {
  expect(fishCompletion(commandsOf(program()))).toMatchInlineSnapshot(`
    "# dig's completion for fish: put it into ~/.config/fish/completions/dig.fish
    function __dig_command
        set -l command
        set -l words (commandline --tokenize --cut-at-cursor --current-process)
        for word in $words[2..]
            switch "$command $word"
                case ' deep-down' ' deep-down again' ' deep-down help' ' with' ' mix'
                    set command "$command $word"
            end
        end
        test "$command" = "$argv[1]"
    end
    complete --command dig --no-files
    complete --command dig --condition '__dig_command \\'\\'' --arguments 'deep-down' --description 'digs: \\'deep\\' [down]\\\\'
    complete --command dig --condition '__dig_command \\'\\'' --arguments 'with' --description 'digs with'
    complete --command dig --condition '__dig_command \\'\\'' --arguments 'mix' --description ''
    complete --command dig --condition '__dig_command \\'\\'' --short-option h --long-option help --description 'display help for command'
    complete --command dig --condition '__dig_command \\' deep-down\\'' --arguments 'again' --description 'digs again'
    complete --command dig --condition '__dig_command \\' deep-down\\'' --arguments 'help' --description 'display help for command'
    complete --command dig --condition '__dig_command \\' deep-down\\'' --force-files
    complete --command dig --condition '__dig_command \\' deep-down\\'' --short-option d --long-option depth --require-parameter --force-files --description 'how deep: in [m]'
    complete --command dig --condition '__dig_command \\' deep-down\\'' --long-option tool --exclusive --arguments 'spade two: (words)' --description 'which \\'tool\\''
    complete --command dig --condition '__dig_command \\' deep-down\\'' --short-option f --description 'only short'
    complete --command dig --condition '__dig_command \\' deep-down\\'' --long-option maybe --require-parameter --force-files --description 'a value or none'
    complete --command dig --condition '__dig_command \\' deep-down\\'' --short-option h --long-option help --description 'display help for command'
    complete --command dig --condition '__dig_command \\' deep-down again\\'' --short-option h --long-option help --description 'display help for command'
    complete --command dig --condition '__dig_command \\' deep-down help\\'' --force-files
    complete --command dig --condition '__dig_command \\' with\\'' --arguments 'spade'
    complete --command dig --condition '__dig_command \\' with\\'' --arguments 'a b'
    complete --command dig --condition '__dig_command \\' with\\'' --short-option h --long-option help --description 'display help for command'
    complete --command dig --condition '__dig_command \\' mix\\'' --arguments 'spade'
    complete --command dig --condition '__dig_command \\' mix\\'' --force-files
    complete --command dig --condition '__dig_command \\' mix\\'' --short-option h --long-option help --description 'display help for command'
    "
  `);
});
