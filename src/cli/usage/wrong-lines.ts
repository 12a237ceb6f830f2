/** Explains command lines that commander cannot parse, and suggests what was probably meant. */

import { type Command, CommanderError } from 'commander';
import { suggestion } from '../../app/config/known-names.ts';
import { EXIT } from '../../app/process/exit.ts';
import { isPoolUrl } from '../../base/text/addresses.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { answerTo } from './foreign-flags.ts';

/** Names of commands that people guess, with the words that replace them. Help and completion do not list the names. */
const GUESSED = new Map([
  ['benchmark', ['bench']],
  ['start', ['mine']],
  ['run', ['mine']],
  ['list', ['devices']],
  ['list-devices', ['devices']],
  ['--list-devices', ['devices']],
  ['status', ['stats']],
  ['setup', ['init']],
  ['-V', ['--version']],
  ['version', ['--version']],
]);

/** @param words the command line without the program @returns the line with the real name of the command */
export function withoutGuesses(words: readonly string[]): string[] {
  const [first, second, ...rest] = words;
  if (first === 'help' && second !== undefined) return [first, ...(GUESSED.get(second) ?? [second]), ...rest];
  return words.length === 0 ? [] : [...(GUESSED.get(first) ?? [first]), ...words.slice(1)];
}

/** Maximum number of characters of a wrong word that an error repeats: enough to recognize the word. */
const MOST_SHOWN = 60;

function quoted(word: string): string {
  return oneLine(JSON.stringify(word), MOST_SHOWN);
}

/**
 * @throws CommanderError when an option has no value, when a long name has one hyphen, or when another miner's flag
 *   would be read as a short option and its value: `-proxy` as `-p roxy`
 */
export function refuseMissingValues(program: Command, words: readonly string[]): void {
  const { command, rest } = commandIn(program, words);
  for (let i = 0; i < rest.length && rest[i] !== '--'; i++) {
    const long = `-${nameOf(rest[i])}`;
    if (/^-\w{2,}/.test(rest[i]) && optionOf(command, long) !== undefined) {
      throw new CommanderError(
        EXIT.usage,
        'pickaxe.oneHyphen',
        `error: ${nameOf(rest[i])} is written with two hyphens: ${long}.`,
      );
    }
    if (isForeignCluster(rest[i])) {
      throw new CommanderError(EXIT.usage, 'commander.unknownOption', `error: unknown option '${nameOf(rest[i])}'`);
    }
    if (!takesNext(command, rest[i])) continue;
    const next = rest[++i];
    if (next === undefined || !/^--?[a-z]/i.test(next)) continue;
    const isOption = next.startsWith('--')
      ? (optionOf(command, next) ?? answerTo(next))
      : next.length === 2 && optionOf(command, next);
    if (!isOption) continue;
    throw new CommanderError(
      EXIT.usage,
      'pickaxe.noValue',
      `error: ${rest[i - 1]} has no value: ${nameOf(next)}, which follows, is an option.`,
    );
  }
}

/** @returns the message to print, which begins with `error: ` and ends without a newline */
export function explain({ code, message }: CommanderError, program: Command, words: readonly string[]): string {
  const { command } = commandIn(program, words);
  switch (code) {
    case 'commander.unknownOption':
      return unknownOptions(command, words, message);
    case 'commander.excessArguments':
      return surplusWords(command, words);
    case 'commander.unknownCommand':
      return unknownCommand(command, command.args[0]);
    case 'commander.optionMissingArgument':
      return message.replace(/^error: option '(.*)' argument missing$/, 'error: $1 has no value.');
    default:
      return message;
  }
}

/** @returns the command that a line calls, and the words after its name */
function commandIn(program: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  let command = program;
  let after = 0;
  for (let i = 0; i < words.length && words[i] !== '--'; i++) {
    // A single hyphen is a word, and no option.
    if (words[i].length > 1 && words[i].startsWith('-')) {
      if (takesNext(command, words[i])) i++;
      continue;
    }
    const next = command.commands.find((one) => one.name() === words[i]);
    if (next === undefined) break;
    command = next;
    after = i + 1;
  }
  return { command, rest: words.slice(after) };
}

function nameOf(word: string): string {
  return word.replace(/=.*$/s, '');
}

/** @param word may include the option's value: `--threads=4`, `-t4` */
function optionOf({ options }: Command, word: string) {
  const name = word.startsWith('--') ? nameOf(word) : word.slice(0, 2);
  return options.find(({ long, short }) => long === name || short === name);
}

/** @returns whether a word with one hyphen is another miner's flag, even if it could be a short option and its value */
function isForeignCluster(word: string): boolean {
  return /^-\w{2,}/.test(word) && answerTo(word) !== undefined;
}

function takesNext(command: Command, word: string): boolean {
  const option = optionOf(command, word);
  return option?.required === true && [option.long, option.short].includes(word);
}

/** @returns a message about all unknown options at once, because a line for another miner has several of them */
function unknownOptions(command: Command, words: readonly string[], message: string): string {
  const end = words.indexOf('--');
  const flags = words.slice(0, end < 0 ? undefined : end).filter((word) => /^--?[a-z]/i.test(word));
  const unknown = [...new Set(flags.map(nameOf))].filter(
    (name) => (optionOf(command, name) === undefined || isForeignCluster(name)) && name !== '-h' && name !== '--help',
  );
  const mine = command.commands.find((one) => one.name() === 'mine');
  const ofMine = mine === undefined ? [] : unknown.filter((name) => optionOf(mine, name) !== undefined);
  if (ofMine.length > 0) return `error: options come after a command: pickaxe mine ${ofMine.join(' … ')} …`;
  const foreign = unknown.filter((name) => answerTo(name) !== undefined);
  if (foreign.length === 0) return message;
  const rest = unknown.filter((name) => !foreign.includes(name));
  return [
    ...foreign.map((name) => `error: ${pathOf(command)} has no ${name}. ${answerTo(name)}`),
    ...rest.map((name) => `error: unknown option '${oneLine(name, MOST_SHOWN)}'`),
  ].join('\n');
}

/** Matches a long flag with one hyphen, like `-power` in other miners. A shorter word, like `-px`, may be `-p x`. */
const ONE_HYPHEN = /^-[a-z]{4,}$/i;

function surplusWords(command: Command, words: readonly string[]): string {
  const taken = command.registeredArguments.map((argument) => `<${argument.name()}>`);
  const surplus = command.args.slice(taken.length);
  const takes = taken.length === 0 ? 'takes no arguments, but got' : `takes only ${taken.join(' ')}, but also got`;
  const before = words[words.indexOf(surplus[0]) - 1] ?? '';
  if (ONE_HYPHEN.test(before) && optionOf(command, before) !== undefined) {
    // Only the first two characters are repeated: after -p comes a password, and this text also goes to the log file.
    const read = `The word before it was read as ${before.slice(0, 2)} and its value: long names have two hyphens.`;
    return `error: ${pathOf(command)} ${takes} ${surplus.map(quoted).join(' ')}. ${read}`;
  }
  return `error: ${pathOf(command)} ${takes} ${surplus.map(quoted).join(' ')}.${meantBy(surplus[0], command)}`;
}

function unknownCommand(command: Command, word: string): string {
  const where = command.parent === null ? '' : ` of ${pathOf(command)}`;
  if (word === 'help')
    return `error: unknown command "help"${where}. Did you mean ${pathOf(command).replace(' ', ' help ')}?`;
  const mine = command.parent === null ? command.commands.find((one) => one.name() === 'mine') : undefined;
  const meant = subcommandMeant(word, command) || (mine === undefined ? '' : meantBy(word, mine));
  return `error: unknown command ${quoted(word)}${where}.${meant}`;
}

/** Shapes of values that people give without their flag, with the flag to suggest. */
const SHAPES: readonly (readonly [shape: RegExp, flag: string])[] = [
  [/^(?:https?:\/\/|[\w.-]+:\d+$)/i, '--node'],
  [/^(?:k:)?[\da-f]{64}(?:\.|$)/i, '--public-key'],
  [/\.toml$/i, '--config'],
  [/^(?:(?:cpu|all|gpu\d*|none)(?:,|$))/, '--devices'],
  [/^(?:mainnet|testnet)\d\d$|^development$/, '--network'],
  [/^(?:[\w.-]*:)?\d{2,5}$/, '--http'],
  [/^\d+%?$/, '--threads'],
  [/^\d+[smhd]$/, '--duration'],
];

/** Minimum length of a word that is completed to a subcommand's name. Shorter words begin too many names. */
const LEAST_LETTERS = 3;

/** @returns a sentence that suggests a subcommand, or an empty text */
function subcommandMeant(word: string, command: Command): string {
  const names = command.commands.map((one) => one.name());
  const begun = names.filter((name) => word.length >= LEAST_LETTERS && name.startsWith(word));
  const all = begun.length === 1 ? begun : names;
  return suggestion(
    begun.length === 1 ? begun[0] : word,
    new Map(all.map((name) => [`${pathOf(command)} ${name}`, [name]])),
  );
}

/** @returns a sentence that suggests a subcommand or a flag, or an empty text */
function meantBy(word: string, command: Command): string {
  const subcommand = subcommandMeant(word, command);
  if (subcommand !== '') return subcommand;
  const flag = isPoolUrl(word)
    ? '--pool'
    : SHAPES.find(([shape, name]) => shape.test(word) && optionOf(command, name))?.[1];
  return flag === undefined || optionOf(command, flag) === undefined
    ? ''
    : ` Did you mean ${pathOf(command)} ${flag} ${oneLine(word, MOST_SHOWN)}?`;
}

/** @returns the command's full name, such as `pickaxe bench compare` */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/**
 * Adds a `help` command. Commander's own `help` command ignores all words but the first, and prints the general help
 * for an unknown word.
 */
export function addHelp(command: Command): void {
  command
    .helpCommand(false)
    .command('help')
    .argument('[command...]')
    .description('explain a command')
    .action((words: readonly string[]) => {
      let explained = command;
      for (const word of words) {
        const next = explained.commands.find((one) => one.name() === word);
        if (next === undefined) {
          throw new CommanderError(EXIT.usage, 'pickaxe.unknownCommand', unknownCommand(explained, word));
        }
        explained = next;
      }
      explained.help();
    });
}
