/** Every command that commander knows, with its flags, is in the completion of each shell. */

import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { processIo } from '#pickaxe/cli/io.js';
import { programFor } from '#pickaxe/cli/run.js';
import { bashCompletion, commandsOf, fishCompletion, zshCompletion } from '#pickaxe/cli/usage/completion.js';

const program = await programFor({ io: processIo(), action: () => async () => {} }, () => true);

interface Known {
  /** Without the program's name. */
  readonly words: readonly string[];
  readonly command: Command;
}

/** Does not use the code that makes the completions, except for hidden commands. */
function known(command: Command, words: readonly string[] = []): Known[] {
  const visible = command.createHelp().visibleCommands(command);
  return [
    { words, command },
    ...visible.flatMap((each) => (each.name() === 'help' ? [] : known(each, [...words, each.name()]))),
  ];
}

function flagsOf(command: Command): string[] {
  return command.options.flatMap(({ long, hidden }) => (hidden || !long ? [] : [long]));
}

interface Shell {
  readonly name: string;
  /** The part of the script about a command, with its subcommands and flags. */
  partOf(words: readonly string[]): string;
  /** The text by which the part offers a flag. */
  readonly flag: (long: string) => string;
}

const spaced = (words: readonly string[]) => words.map((word) => ` ${word}`).join('');
const lines = (script: string, start: string) => script.split('\n').filter((line) => line.startsWith(start));
const commands = commandsOf(program);
const [bash, zsh, fish] = [bashCompletion, zshCompletion, fishCompletion].map((print) => print(commands));
const shells: Shell[] = [
  {
    name: 'bash',

    partOf: (words) =>
      lines(bash, `        '${spaced(words)}') `)
        .join('\n')
        .replaceAll(/['; ]/g, '  '),
    flag: (long) => ` ${long} `,
  },
  {
    name: 'zsh',

    partOf(words) {
      const name = ['_pickaxe', ...words].join('__').replaceAll('-', '_');
      const [, part = ''] = zsh.split(`\n${name}() {\n`);
      return part.split('\n}', 1)[0];
    },
    flag: (long) => `'${long}[`,
  },
  {
    name: 'fish',

    partOf: (words) => {
      const start = `complete --command pickaxe --condition '__pickaxe_command \\'${spaced(words)}\\'' `;
      return lines(fish, start)
        .map((line) => `${line} `)
        .join('\n');
    },
    flag: (long) => ` --long-option ${long.slice(2)} `,
  },
];

it('knows the commands of a fleet', () => {
  const names = known(program).map(({ words }) => words.join(' '));
  expect(names.length).toBeGreaterThan(40);
  expect(names).toEqual(
    expect.arrayContaining(['coordinate', 'fleet pause', 'fleet limits', 'fleet keys', 'fleet demo']),
  );
});

describe.each(shells)('$name', ({ partOf, flag }) => {
  it.each(known(program).map((each) => ({ ...each, title: ['pickaxe', ...each.words].join(' ') })))(
    '$title',
    (each) => {
      const part = partOf(each.words);
      const flags = flagsOf(each.command);
      expect(flags.filter((long) => !part.includes(flag(long)))).toEqual([]);
      const below = known(each.command, each.words).filter(({ words }) => words.length === each.words.length + 1);
      expect(below.map(({ words }) => words.at(-1)!).filter((name) => !part.includes(name))).toEqual([]);
      expect(part).not.toBe('');
    },
  );
});
