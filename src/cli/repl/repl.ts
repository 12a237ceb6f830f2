/** `pickaxe repl`: runs contract code and its tests, from files, from standard input, or at a prompt. */

import { type Command, Option } from 'commander';
import { UsageError } from '../../app/process/exit.ts';
import { terminalKind } from '../../rig/terminal/screen.ts';
import { AllowedFiles, MAX_FILE_BYTES } from '../included-files.ts';
import type { Io, Line } from '../io.ts';
import { collect, positiveInteger, timeOf } from '../usage/options.ts';
import { type MakeSession, type RunOptions, runFiles } from './run-files.ts';
import { SourceFiles, STDIN, textOfInput } from './source-files.ts';

interface ReplOptions {
  readonly dialect: '4' | '5';
  readonly trace: boolean;
  readonly json: boolean;
  readonly junit?: string;
  readonly allowFile?: readonly string[];
  readonly maxSteps?: number;
  /** Time after which the run ends, in seconds. */
  readonly timeout?: number;
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
    .option(
      '--allow-file <path>',
      'a file outside of the folder of the first file that it may load, or a folder of them; repeat for several',
      collect,
    )
    .option(
      '--max-steps <n>',
      'evaluation steps that a top-level form may take (default: 20 million)',
      positiveInteger(Number.MAX_SAFE_INTEGER),
    )
    .option('--timeout <time>', 'end the run after this time: seconds, or a time like 10m', timeOf)
    .addHelpText('after', EXAMPLES)
    .action(action((files, options) => runRepl(files, options, io)));
}

const EXAMPLES = `
Examples:
  # try something out
  pickaxe repl
  # run tests, with exit code 1 if one fails
  pickaxe repl tests/*.repl --junit results.xml --timeout 10m
  # let them load contracts that are in another folder
  pickaxe repl tests/*.repl --allow-file contracts

docs/repl.md explains the functions for tests.`;

async function runRepl(paths: readonly string[], options: ReplOptions, io: Io): Promise<number> {
  // The contract language is loaded only here, so that other commands, and the help of `repl`, start fast.
  const { resultsMeter, Session } = await import('../../contract/repl/repl-session.ts');
  const isTerminal = process.stdin.isTTY === true;
  const reported = resultsMeter();
  return replWith(paths, options, io, {
    isTerminal,
    makeSession: (given) => new Session({ reported, ...given }),
    clock: () => performance.now(),
  });
}

interface Surroundings {
  /** Whether a person can type on standard input. */
  readonly isTerminal: boolean;
  readonly makeSession: MakeSession;
  /** @returns the time of a monotonic clock, in milliseconds */
  readonly clock: () => number;
}

/** @throws UsageError for files that cannot be read or written. At a prompt, also for options that need files */
export async function replWith(
  paths: readonly string[],
  options: ReplOptions,
  io: Io,
  { isTerminal, makeSession, clock }: Surroundings,
): Promise<number> {
  const { trace, json, junit, maxSteps, timeout } = options;
  const dialect = options.dialect === '5' ? 5 : 4;
  const allowed = new AllowedFiles(options.allowFile);
  const steps = maxSteps === undefined ? {} : { maxSteps };
  if (paths.length === 0 && isTerminal) {
    for (const name of ['json', 'junit', 'timeout'] as const) {
      if (options[name])
        throw new UsageError(`--${name} is for files: give some, as in pickaxe repl tests.repl --${name} ….`);
    }
    const { runPrompt } = await import('./prompt.ts');
    return runPrompt({ dialect, trace, json, ...steps }, new SourceFiles({ allowed }), makeSession);
  }
  const named = paths.length === 0 ? [STDIN] : paths;
  const stdin = named.includes(STDIN) ? textOfInput(await io.read(MAX_FILE_BYTES)) : undefined;
  const run: RunOptions = {
    dialect,
    trace,
    json,
    colours: terminalKind(io.columns !== undefined).colours,
    columns: io.columns,
    ...steps,
    ...(junit !== undefined && { junit }),
    ...(timeout !== undefined && { whyEnd: endAfter(timeout, clock) }),
  };
  return runFiles(named, run, () => new SourceFiles({ allowed, stdin }), makeSession, io);
}

function endAfter(seconds: number, clock: () => number): () => string | undefined {
  const end = clock() + seconds * 1000;
  return () => (clock() < end ? undefined : `the time of --timeout (${seconds} s) is over`);
}
