import { describe, expect, it } from 'vitest';
import { ENTRIES } from '#pickaxe/app/config/settings.js';
import { EXIT } from '#pickaxe/app/process/exit.js';
import { COMMANDS, nameIn } from '#pickaxe/cli/commands.js';
import { programFor, run } from '#pickaxe/cli/run.js';
import { pretendedIo } from '../pretended-io.ts';

/** @returns what the command line prints, and its exit code */
async function printed(...words: string[]): Promise<{ text: string; code: number }> {
  const io = pretendedIo();
  const code = await run(words, io);
  return { text: io.stdout + io.stderr, code };
}

const withoutAction = { io: pretendedIo(), action: () => () => {} };

/** The options that a page lists, by their long names, or by the short one where there is no other. */
const listed = (page: string): string[] => [...page.matchAll(/^ {2}(?:-\w, )?(--?[\w-]+)/gm)].map(([, flag]) => flag);

/** On a pool or a node, people type -o and -u. The flags of the settings that -o and -u set are listed with --all. */
const TYPED = new Map([
  ['node.urls', '--url'],
  ['miner.public-keys', '-u'],
  ['pool.urls', ''],
  ['pool.user', ''],
]);

describe('the page of the program', () => {
  it('lists every command once, in a group or among those for programs', async () => {
    const { text } = await printed('--help');
    const inGroups = [...text.split('For programs')[0].matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name);
    const [, forPrograms] = /For programs and developers:\n {2}(.*)\n/.exec(text)!;
    expect([...inGroups, ...forPrograms.split(', ')].sort()).toEqual(COMMANDS.map(nameIn).sort());
  });

  it('shows the arguments that each command takes', async () => {
    const listed = await programFor(withoutAction, () => false);
    const declared = await programFor(withoutAction, () => true);
    const taken = (program: typeof listed) =>
      program.commands.map((command) => [
        command.name(),
        ...command.registeredArguments.map((argument) => [argument.name(), argument.required]),
      ]);
    expect(taken(listed)).toEqual(taken(declared));
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
    // The settings of the ledger belong to the commands that read it.
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

  it('is as wide as the terminal', async () => {
    const widthOf = async (columns?: number) => {
      const io = Object.assign(pretendedIo(), columns !== undefined && { columns });
      await run(['mine', '--help'], io);
      return Math.max(...io.stdout.split('\n').map(({ length }) => length));
    };
    expect(await widthOf()).toBeLessThanOrEqual(80);
    expect(await widthOf(120)).toBeGreaterThan(80);
  });

  it('that lists every option anyway speaks of no more', async () => {
    expect((await printed('keygen', '--help')).text).not.toContain('--all');
    expect((await printed('keygen', '--all', 'file')).code).toBe(EXIT.usage);
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
  const made = await programFor(withoutAction, () => true);
  const mine = made.commands.find((command) => command.name() === 'mine')!;
  await made.parseAsync(['mine', '--settled-depth', '9'], { from: 'user' });
  expect(mine.getOptionValue('settledDepth')).toBe('9');
});

it.each([
  ['tx transfer', '--timeout', 3600],
  ['sweep', '--timeout', 3600],
])('the page of %s has what %s is by default', async (command, flag, value) => {
  const { text } = await printed(...command.split(' '), '--help', '--all');
  const [, about = ''] = new RegExp(`^ {2}${flag} (.*(?:\n {20}.*)*)`, 'm').exec(text) ?? [];
  expect(about.replace(/\s+/g, ' ')).toContain(`(default: ${value})`);
});
