import { Command, CommanderError } from 'commander';
import { EXIT, UsageError } from '../app/process/exit.ts';
import { version } from '../base/system/version.ts';
import { COMMANDS, nameIn } from './commands.ts';
import { type Io, type Line, processIo } from './io.ts';
import { layOutHelp } from './usage/help.ts';
import { disguiseHashes } from './usage/options.ts';
import { addHelp, explain, refuseMissingValues, withoutGuesses } from './usage/wrong-lines.ts';

/**
 * @param argv words after `pickaxe`
 * @param io input and output. The prompt of `repl`, and commands that mine also use the input and output of the process
 *   directly
 * @returns the exit code. Errors are printed, not thrown
 */
export async function run(argv: readonly string[], io: Io = processIo()): Promise<number> {
  const words = withoutGuesses(argv);
  let code: number = EXIT.done;
  const action: Line['action'] =
    (act) =>
    async (...given) => {
      code = await act(...given);
    };
  const program = await programFor({ io, action }, (name) => isLoadedFor(name, words));
  try {
    if (words.length === 0) return (await import('./mining/welcome.ts')).runWelcome(io);
    refuseMissingValues(program, words);
    await program.parseAsync(disguiseHashes(words, program), { from: 'user' });
    return code;
  } catch (fault) {
    if (fault instanceof CommanderError) return refused(fault, program, words, io);
    const isUsage = fault instanceof UsageError;
    const what = isUsage ? `error: ${fault.message}` : `internal error, please report it: ${stackOf(fault)}`;
    io.say(what);
    return isUsage ? EXIT.usage : EXIT.failed;
  }
}

/** @param isLoaded whether to load the module of a command, which declares the command's arguments and options */
export async function programFor(line: Line, isLoaded: (name: string) => boolean): Promise<Command> {
  const { io } = line;
  const program = new Command('pickaxe')
    .description('High-performance GPU/CPU proof-of-work miner for a multi-chain blake2s ledger.')
    .version(version, '-v, --version', 'print the version')
    .configureOutput({
      writeOut: io.out,
      writeErr: (text) => io.say(text.replace(/\n$/, '')),
      // Commander's errors are not printed: wrong-lines.ts explains lines that commander cannot parse.
      outputError: () => {},
      getOutHelpWidth: () => io.columns ?? USUAL_COLUMNS,
    })
    .exitOverride()
    .addHelpText('after', NOTES);
  layOutHelp(program);
  for (const entry of COMMANDS) {
    const command = program.command(isLoaded(nameIn(entry)) ? nameIn(entry) : entry.usage).description(entry.about);
    if (entry.group !== undefined) command.helpGroup(entry.group);
    if (isLoaded(nameIn(entry))) (await entry.load()).declare(command, line);
  }
  addHelp(program);
  return program;
}

/** Width of help pages without a terminal, in characters. It is commander's default. */
const USUAL_COLUMNS = 80;

/** First words of command lines that call no command; undefined for a line without words. */
const WITHOUT_COMMAND = [undefined, 'help', '-h', '--help', '-v', '--version'];

/**
 * `completion` needs the modules of all commands. A line without a known command needs the options of `mine`, because
 * its error suggests `mine` for words or flags that fit.
 * @returns whether a command line needs the module of the named command
 */
function isLoadedFor(name: string, words: readonly string[]): boolean {
  const called = words.find((word) => !word.startsWith('-') && word !== 'help');
  if (called === name || called === 'completion') return true;
  const namesNone = !COMMANDS.some((entry) => nameIn(entry) === called);
  return name === 'mine' && namesNone && !WITHOUT_COMMAND.includes(words[0]);
}

async function refused(fault: CommanderError, program: Command, words: readonly string[], io: Io): Promise<number> {
  if (fault.exitCode === 0) return EXIT.done;
  // Commander has already printed the help when only a subcommand is missing.
  if (fault.code !== 'commander.help') {
    const message = explain(fault, program, words);
    io.say(`${message}\n(run with --help for the options)`);
    if (words[0] === 'mine') {
      const mine = program.commands.find((command) => command.name() === 'mine')!;
      await (await import('./mining/mine.ts')).noteWrongFlags(mine.opts(), message);
    }
  }
  return EXIT.usage;
}

function stackOf(fault: unknown): string {
  return fault instanceof Error ? `${fault.stack}` : `${fault}`;
}

const NOTES = `
For programs and developers:
  ${COMMANDS.filter(({ group }) => group === undefined)
    .map(nameIn)
    .join(', ')}

pickaxe COMMAND --help explains a command and its options.

Examples:
  # at once, on a mock node
  pickaxe demo
  # on a node of your own
  pickaxe mine --node http://HOST:1848 --network mainnet01 --public-key KEY
  # on a pool
  pickaxe mine --pool stratum+tcp://HOST:PORT --user NAME.WORKER

Settings come from flags, PICKAXE_… variables, pickaxe.toml and the user's
config.toml: pickaxe config example explains every one.

Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 no usable device,
4 no work within a bounded run, 6 a device computed wrong hashes, 130 ended by
a second signal. No developer fee, no telemetry.`;
