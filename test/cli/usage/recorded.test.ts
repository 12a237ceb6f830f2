/** Lines of every command with words left out, repeated or misspelt: what the action gets, or what is said. */

import { Command, CommanderError } from 'commander';
import { describe, it } from 'vitest';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { programFor } from '#pickaxe/cli/run.js';
import { explain, refuseMissingValues, withoutGuesses } from '#pickaxe/cli/usage/wrong-lines.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { type Recorded, recordIn } from '../../recorded.ts';
import { pretendedIo } from '../pretended-io.ts';

const VARIANTS = 14;

/** @returns the help or the error that a line leads to, or the names and values of the options that its action gets */
async function outcomeOf(line: readonly string[]): Promise<Recorded> {
  const io = pretendedIo();
  let read = '';
  const action =
    () =>
    (...given: unknown[]) => {
      read = JSON.stringify(given.map(plain));
    };
  const program = await programFor({ io, action }, (name) => name === line[0] || line[0].includes('-'));
  const words = withoutGuesses([...line]);
  const says = async () => {
    try {
      refuseMissingValues(program, words);
      await program.parseAsync(words, { from: 'user' });
      return read;
    } catch (fault) {
      if (fault instanceof UsageError) return fault.message;
      if (!(fault instanceof CommanderError)) throw fault;
      return fault.exitCode === 0 ? io.stdout : explain(fault, program, words);
    }
  };
  return { input: line.join(' '), outcome: await says() };
}

/** @returns a value that JSON can express; undefined for the command itself, which commander gives last */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Command) return undefined;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

/** @returns a line with each option of a command, whose value is its example in the help, or a word */
function fullLine(path: readonly string[], command: Command): string[] {
  const args = command.registeredArguments.map((argument) => `${argument.name()}1`);
  const options = command.options
    .filter(({ long }) => !['--help', '--version', '--all'].includes(long!))
    .map((option) => {
      const name = option.long ?? option.short!;
      return option.required ? [name, option.argChoices?.[0] ?? '1'] : [name];
    });
  return [...path, ...args, ...options.slice(0, 12).flat()];
}

const WORDS = [
  '--',
  '-',
  '-x',
  '--no',
  '--json',
  '--node',
  'http://h:1',
  'gpu0',
  '8080',
  '--config=',
  '-t',
  '',
  '=',
  '-h',
];

/** @returns variants of a line, which are the same in each run */
function variantsOf(line: readonly string[]): string[][] {
  const random = seededRandom(line.join(' ').length);
  const below = (limit: number) => Math.floor(random() * limit);
  const place = () => below(line.length);
  const misspelt = (word: string) => {
    const at = below(word.length);
    return random() < 0.5
      ? word.slice(0, at) + word.slice(at + 1)
      : word.slice(0, at) + word.slice(at, at + 2) + word.slice(at);
  };
  const variants = [
    (at: number) => line.toSpliced(at, 1),
    (at: number) => line.toSpliced(at, 0, WORDS[below(WORDS.length)]),
    (at: number) => line.with(at, WORDS[below(WORDS.length)]),
    (at: number) => line.with(at, misspelt(line[at])),
    (at: number) => line.slice(0, at + 1),
    (at: number) => line.with(at, line[at].replace(/^--/, '-')),
  ];
  const some = Array.from({ length: VARIANTS }, () => variants[below(variants.length)](place()));
  return some.filter(([first]) => first !== undefined && first !== '');
}

/** Every command that does something, with its path. */
function leavesOf(command: Command, path: readonly string[] = []): [path: string[], command: Command][] {
  const below = command.commands.filter((each) => each.name() !== 'help');
  if (below.length === 0) return [[[...path], command]];
  return below.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));
const program = await programFor({ io: pretendedIo(), action: () => () => {} }, () => true);

describe('lines have the recorded outcome of', () => {
  it.each(leavesOf(program).map(([path, command]) => [path.join(' '), path, command] as const))(
    '%s',
    async (name, path, command) => {
      const line = fullLine(path, command);
      const outcomes: Recorded[] = [];
      for (const each of [path, line, ...variantsOf(line)]) outcomes.push(await outcomeOf(each));
      expectRecorded(name, outcomes);
    },
  );
});
