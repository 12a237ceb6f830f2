/** Completion, tried in the shells themselves. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Argument, Command, Option } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bashCompletion, commandsOf, fishCompletion, zshCompletion } from '#pickaxe/cli/usage/completion.js';
import { pickaxe } from '../../pickaxe.ts';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-completion-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Far longer than a shell takes to start. None may hang the tests. */
const TIMEOUT_MS = 300_000;

interface Shell {
  readonly name: string;
  readonly print: typeof bashCompletion;
  /** The file in which a shell looks for the completion of a program. */
  file(program: string): string;
  /** The shell's arguments to print what it offers for the last word: one line each, with a description after a tab. */
  offers(words: readonly string[]): string[];
}

const shells: Shell[] = [
  {
    name: 'bash',
    print: bashCompletion,
    file: (program) => `${program}.bash`,
    offers: (words) => [script('./offers.bash'), join(folder, `${words[0]}.bash`), ...words],
  },
  {
    name: 'zsh',
    print: zshCompletion,
    file: (program) => `_${program}`,
    offers: (words) => ['-f', script('./offers.zsh'), words.join(' '), folder],
  },
  {
    name: 'fish',
    print: fishCompletion,
    file: (program) => `${program}.fish`,
    offers: (words) => ['-N', '-c', `source '${join(folder, `${words[0]}.fish`)}'; complete -C '${words.join(' ')}'`],
  },
];

/** A program whose texts contain every character that is special to a shell. */
function awkward(): Command {
  const program = new Command('awkward')
    .helpCommand(false)
    .option('-q, --quiet', "don't say [much]: `nothing` $at (all)");
  const dig = program.command('dig').description('it\'s "here": \\dig [deep] (or not); $HOME');
  dig.addOption(new Option('--how <way>', "with 'this'").choices(['by-hand', 'machine']));
  dig.addArgument(new Argument('<where>').choices(['left', 'right']));
  const pit = program.command('pit').helpCommand(false).description('below');
  pit.command('dig').description('another dig').option('--deep').argument('[file]');
  return program;
}

describe.each(shells)('$name', ({ name, print, file, offers }) => {
  const has = spawnSync(name, ['--version']).status === 0;
  const skipped = !has && !process.env.CI;

  function offered(...words: string[]): string[] {
    const { status, stdout, stderr } = spawnSync(name, offers(words), {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: folder, TERM: 'dumb' },
      timeout: TIMEOUT_MS,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout
      .split('\n')
      .map((line) => line.split('\t')[0])
      .filter(Boolean)
      .sort();
  }

  describe.skipIf(skipped)(skipped ? `not tried: ${name} is not installed` : 'offers', () => {
    beforeAll(async () => {
      writeFileSync(join(folder, file('awkward')), print(commandsOf(awkward())));
      const { code, stdout } = await pickaxe('completion', name);
      expect(code).toBe(0);
      writeFileSync(join(folder, file('pickaxe')), `${stdout}\n`);
    }, TIMEOUT_MS);

    test('the commands of pickaxe', () => {
      const commands = offered('pickaxe', '');
      expect(commands).toEqual(expect.arrayContaining(['bench', 'completion', 'demo', 'devices', 'mine', 'service']));
      expect(offered('pickaxe', 'de')).toEqual(['demo', 'devices']);
      expect(offered('pickaxe', 'tx', 's')).toEqual(['send', 'show', 'sign', 'spv']);
      expect(offered('pickaxe', 'service', '')).toEqual(expect.arrayContaining(['install', 'print', 'uninstall']));
    });

    test('the options of the command that is typed', () => {
      expect(offered('pickaxe', 'mine', '--pub')).toEqual(['--public-key']);
      expect(offered('pickaxe', 'devices', '--pub')).toEqual([]);
      // The flag works, but no completion offers it.
      expect(offered('pickaxe', 'mine', '--predi')).toEqual([]);
      expect(offered('pickaxe', 'mine', '--node', 'http://a', '--pub')).toEqual(['--public-key']);
      expect(offered('pickaxe', 'service', 'install', '--fo')).toEqual(['--force']);
      expect(offered('pickaxe', 'tx', 'poll', '--conf')).toEqual(['--config', '--confirmation-depth']);
    });

    test('the values that options and arguments may have', () => {
      expect(offered('pickaxe', 'mine', '--cpu-cores', '')).toEqual(['all', 'efficiency', 'performance']);
      expect(offered('pickaxe', 'mine', '--cpu-cores', 'a')).toEqual(['all']);
      expect(offered('pickaxe', 'completion', '')).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']));
      expect(offered('pickaxe', 'completion', 'z')).toEqual(['zsh']);
    });

    test('the same for a program whose path contains special characters', () => {
      expect(offered('awkward', '')).toEqual(expect.arrayContaining(['dig', 'pit']));
      expect(offered('awkward', 'dig', '--how', '')).toEqual(['by-hand', 'machine']);
      expect(offered('awkward', 'dig', 'l')).toEqual(['left']);
      expect(offered('awkward', 'dig', '--h')).toEqual(expect.arrayContaining(['--how']));
      expect(offered('awkward', 'pit', '')).toEqual(expect.arrayContaining(['dig']));
      expect(offered('awkward', 'pit', 'dig', '--d')).toEqual(['--deep']);
      expect(offered('awkward', '--q')).toEqual(['--quiet']);
    });
  });
});

test('completion for any other shell is refused', async () => {
  const { code, stderr } = await pickaxe('completion', 'tcsh');
  expect(code).toBe(2);
  expect(stderr).toContain('bash, zsh, fish');
});
