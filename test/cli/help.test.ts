import { Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  addAccountCommands,
  addMeasuringCommands,
  addMiningCommands,
  addSetupCommands,
  addToolCommands,
} from '#pickaxe/cli/commands.js';
import { FOR_PROGRAMS, layOutHelp } from '#pickaxe/cli/help.js';
import { addLedgerCommands } from '#pickaxe/cli/ledger/commands.js';
import { addSweepCommand } from '#pickaxe/cli/sweep/commands.js';
import { addTxCommands } from '#pickaxe/cli/tx/commands.js';
import { ENTRIES } from '#pickaxe/config/settings.js';

/** Commander keeps what it has read in the command, so each test has a program of its own. */
function program(): Command {
  const made = new Command('pickaxe').exitOverride();
  layOutHelp(made);
  for (const add of [
    addMiningCommands,
    addSetupCommands,
    addMeasuringCommands,
    addLedgerCommands,
    addTxCommands,
    addAccountCommands,
    addSweepCommand,
    addToolCommands,
  ])
    add(made);
  return made;
}

/** @returns what the command line prints, and commander's code for its end */
async function printed(...words: string[]): Promise<{ text: string; code: string }> {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  const made = program();
  const output = { writeOut: write, writeErr: write };
  const configure = (command: Command) => {
    command.configureOutput(output).exitOverride();
    command.commands.forEach(configure);
  };
  configure(made);
  try {
    await made.parseAsync(words, { from: 'user' });
  } catch (fault) {
    if (!(fault instanceof CommanderError)) throw fault;
    return { text, code: fault.code };
  }
  return { text, code: 'done' };
}

/** The options that a page lists, by their long names, or by the short one where there is no other. */
const listed = (page: string): string[] => [...page.matchAll(/^ {2}(?:-\w, )?(--?[\w-]+)/gm)].map(([, flag]) => flag);

/** On a pool or a node, -o and -u are what people type; the flags of the settings that they set come with --all. */
const TYPED = new Map([
  ['node.urls', '--url'],
  ['miner.public-keys', '-u'],
  ['pool.urls', ''],
  ['pool.user', ''],
]);

describe('the page of the program', () => {
  it('lists every command once, in a group or among those for programs', async () => {
    const { text } = await printed('--help');
    const inGroups = [...text.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name);
    const visible = program().createHelp().visibleCommands(program());
    const names = visible.map((command) => command.name()).filter((name) => name !== 'help');
    expect([...inGroups, ...FOR_PROGRAMS].sort()).toEqual(names.sort());
  });

  it('has one line for each command, of at most 80 columns', async () => {
    const { text } = await printed('--help');
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    const [, ...groups] = text.split(/^(?=[A-Z][\w ]*:$)/m);
    for (const group of groups) expect(group).not.toMatch(/^ {20}/m);
  });
});

describe('the page of a command', () => {
  it('lists what people type, without headings', async () => {
    const { text } = await printed('mine', '--help');
    expect(listed(text)).toEqual([
      '--config',
      ...ENTRIES.filter(({ setting, table }) => setting.inHelp === 'first' && table !== 'ledger')
        .map(({ path, flag }) => TYPED.get(path) ?? flag)
        .filter((flag) => flag !== ''),
      '--dry-run',
      '--help',
    ]);
    expect(text.match(/^\S.*:$/gm)).toEqual(['Options:', 'Examples:']);
    expect(text).toContain('--help --all');
  });

  it.each([
    ['mine', '--help', '--all'],
    ['mine', '--all', '--help'],
  ])('lists every setting under the heading of its table: %s %s %s', async (...words) => {
    const { text } = await printed(...words);
    const sections = text.split(/\n(?=\S[^\n]*:\n)/);
    // Those about the ledger belong to the commands that read it.
    for (const { path, flag, heading, setting } of ENTRIES.filter(({ flag, table }) => flag && table !== 'ledger')) {
      const isShort = setting.short !== undefined && !TYPED.has(path);
      const names = isShort ? `${setting.short}, ${flag}` : flag!;
      const section = sections.find((each) => each.startsWith(`${heading}:\n`)) ?? '';
      if (setting.inHelp === 'never') expect(text).not.toContain(`\n  ${names} `);
      else expect(section, flag).toMatch(new RegExp(`\n  ${names}\\b`));
    }
    expect(listed(text)).toContain('--print-config');
  });

  it('lists a setting that the command names by itself', async () => {
    expect(listed((await printed('stats', '--help')).text)).toContain('--http-token-file');
    expect(listed((await printed('bench', '--help')).text)).toContain('--kernel');
    expect(listed((await printed('mine', '--help')).text)).not.toContain('--kernel');
  });

  it.each([
    ['mine', 60],
    ['demo', 60],
    ['bench', 60],
    ['doctor', 60],
    ['worker', 60],
  ])('of %s fits %i lines of 80 columns', async (command, lines) => {
    const { text } = await printed(command, '--help');
    expect(text.split('\n').length).toBeLessThanOrEqual(lines);
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  it('that lists every option anyway speaks of no more', async () => {
    expect((await printed('keygen', '--help')).text).not.toContain('--all');
    expect((await printed('keygen', '--all', 'file')).code).toBe('commander.unknownOption');
  });
});

it('--all without --help is an error that says where it belongs', async () => {
  const { text } = await printed('mine', '--all');
  expect(text).toContain('--all belongs to --help');
});

it('an option that only --all lists is still what was probably meant', async () => {
  expect((await printed('mine', '--cpu-afinity', '0')).text).toContain('Did you mean --cpu-affinity?');
});

it('a flag that no page lists is read all the same', async () => {
  const made = program();
  const mine = made.commands.find((command) => command.name() === 'mine')!;
  mine.action(() => {});
  await made.parseAsync(['mine', '--settled-depth', '9'], { from: 'user' });
  expect(mine.getOptionValue('settledDepth')).toBe('9');
});
