/** `pickaxe repl`: runs contract code and its tests, from files, from standard input, or at a prompt. */

import { type Command, Option } from 'commander';
import { UsageError } from '../../app/exit.ts';
import type { Io, Line } from '../io.ts';
import { type MakeSession, type RunOptions, runFiles } from './run-files.ts';
import { MAX_FILE_BYTES, SourceFiles, STDIN } from './source-files.ts';

interface ReplOptions {
  readonly dialect: '4' | '5';
  readonly trace: boolean;
  readonly json: boolean;
  readonly junit?: string;
}

export function declare(command: Command, { io, action }: Line): void {
  command
    .argument('[files...]', 'files to run, each in a session of its own; - is standard input (default: a prompt)')
    .addOption(
      new Option('--dialect <n>', 'the language’s generation: 4, or 5, which live nodes run')
        .choices(['4', '5'])
        .default('4'),
    )
    .option('--trace', 'print the value of each top-level form', false)
    .option('--json', 'one JSON object for each file, on stdout', false)
    .option('--junit <file>', 'also write the results as JUnit XML, for CI')
    .addHelpText('after', EXAMPLES)
    .action(action((files, options) => runRepl(files, options, io)));
}

const EXAMPLES = `
Examples:
  # try something out
  pickaxe repl
  # run tests, with exit code 1 if one fails
  pickaxe repl tests/*.repl --junit results.xml

docs/repl.md explains the functions for tests.`;

async function runRepl(paths: readonly string[], options: ReplOptions, io: Io): Promise<number> {
  // Other commands, and the help of this one, start without the contract language.
  const { Session } = await import('../../contract/repl/session.ts');
  const isTerminal = process.stdin.isTTY === true;
  return replWith(paths, options, io, { isTerminal, makeSession: (given) => new Session(given) });
}

interface Surroundings {
  /** Whether a person can type on standard input. */
  readonly isTerminal: boolean;
  readonly makeSession: MakeSession;
}

/** @throws UsageError for files that cannot be read or written, and for options without files */
export async function replWith(
  paths: readonly string[],
  options: ReplOptions,
  io: Io,
  { isTerminal, makeSession }: Surroundings,
): Promise<number> {
  const run: RunOptions = { ...options, dialect: options.dialect === '5' ? 5 : 4 };
  if (paths.length === 0 && isTerminal) {
    for (const name of ['json', 'junit'] as const) {
      if (options[name])
        throw new UsageError(`--${name} reports on files: give some, as in pickaxe repl tests.repl --${name} ….`);
    }
    const { runPrompt } = await import('./prompt.ts');
    return runPrompt(run, makeSession);
  }
  const named = paths.length === 0 ? [STDIN] : paths;
  const files = new SourceFiles(named.includes(STDIN) ? await io.read(MAX_FILE_BYTES) : undefined);
  return runFiles(named, run, files, makeSession, io);
}
