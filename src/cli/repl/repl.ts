/** `pickaxe repl`: runs contract code and its tests, from files, from standard input, or at a prompt. */

import { availableParallelism } from 'node:os';
import { type Command, Option } from 'commander';
import { UsageError } from '../../app/process/exit.ts';
import { userCacheDirectory } from '../../base/system/files.ts';
import { terminalKind } from '../../rig/terminal/screen.ts';
import { AllowedFiles, MAX_FILE_BYTES } from '../included-files.ts';
import type { Io, Line } from '../io.ts';
import { collect, positiveInteger, timeOf } from '../usage/options.ts';
import type { ExtraReports } from './results/extras.ts';
import { FilesRunner } from './run-files.ts';
import type { FileThreads, ThreadData } from './runs/file-threads.ts';
import { LastFailures } from './runs/last-failures.ts';
import type { MakeSession, RunOptions } from './runs/run-file.ts';
import { EVAL_NAME, SourceFiles, STDIN, textOfInput } from './source-files.ts';

interface ReplOptions {
  readonly dialect?: '4' | '5';
  readonly trace: boolean;
  readonly json: boolean;
  readonly junit?: string;
  readonly allowFile?: readonly string[];
  readonly maxSteps?: number;
  /** Time after which the run ends, in seconds. */
  readonly timeout?: number;
  /** Code to run in place of files. */
  readonly eval?: string;
  /** A part of the names of the tests that count. */
  readonly filter?: string;
  readonly failed?: boolean;
  readonly watch?: boolean;
  readonly gas?: boolean;
  readonly gasSnapshot?: string;
  readonly update?: boolean;
  readonly coverage?: boolean;
  readonly lcov?: string;
}

export function declare(command: Command, { io, action }: Line): void {
  command
    .argument('[files...]', 'files to run, each in a session of its own; - is standard input (default: a prompt)')
    .addOption(
      new Option(
        '--dialect <n>',
        'the language’s generation: 4 or 5 (default: what a file’s first comment chooses, or 5, which live nodes run)',
      ).choices(['4', '5']),
    )
    .option('-e, --eval <code>', 'run this code, and print its last value')
    .option('--filter <text>', 'count only tests with this text in their name, transaction or file')
    .option('--failed', 'run only the files that failed when they were run last', false)
    .option('--watch', 'run files again when they change, or what they load', false)
    .option('--gas', 'print the gas of each test and each transaction', false)
    .option('--gas-snapshot <file>', 'compare their gas with that in this file, which the first run writes')
    .option('--update', 'write the snapshot anew', false)
    .option('--coverage', 'print which lines and branches of contracts the tests have not run', false)
    .option('--lcov <file>', 'also write this as an lcov tracefile')
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
  pickaxe repl -e '(+ 1 2)'
  # run tests again whenever they change
  pickaxe repl tests/*.repl --watch
  # run tests, with exit code 1 if one fails
  pickaxe repl tests/*.repl --junit results.xml --timeout 10m
  # let them load contracts that are in another folder
  pickaxe repl tests/*.repl --allow-file contracts

docs/repl.md explains the functions for tests.`;

async function runRepl(paths: readonly string[], options: ReplOptions, io: Io): Promise<number> {
  // The contract language is loaded only here, so that other commands, and the help of `repl`, start fast.
  const { resultsMeter, Session } = await import('../../contract/repl/repl-session.ts');
  const shared = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const reported = resultsMeter(shared);
  return replWith(paths, options, io, {
    isTerminal: process.stdin.isTTY === true,
    makeSession: (given) => new Session({ reported, ...given }),
    clock: () => performance.now(),
    cacheDirectory: userCacheDirectory(),
    startThreads: async (files, data) => {
      const { startFileThreads } = await import('./runs/file-threads.ts');
      return startFileThreads(Math.min(files, availableParallelism()), { ...data, reported: shared });
    },
  });
}

interface Surroundings {
  /** Whether a person can type on standard input. */
  readonly isTerminal: boolean;
  readonly makeSession: MakeSession;
  /** @returns the time of a monotonic clock, in milliseconds */
  readonly clock: () => number;
  /** Where is remembered which files have failed; absent if nowhere. */
  readonly cacheDirectory?: string | undefined;
  /** Starts threads for a number of files; absent if there are no threads. */
  readonly startThreads?: (files: number, data: Omit<ThreadData, 'reported'>) => Promise<FileThreads>;
}

/** The options that say nothing at a prompt. */
const FOR_FILES = [
  'json',
  'junit',
  'timeout',
  'filter',
  'failed',
  'watch',
  'gas',
  'gasSnapshot',
  'update',
  'coverage',
  'lcov',
] as const;

/** @throws UsageError for files that cannot be read or written. At a prompt, also for options that need files */
export async function replWith(
  paths: readonly string[],
  options: ReplOptions,
  io: Io,
  { isTerminal, makeSession, clock, cacheDirectory, startThreads }: Surroundings,
): Promise<number> {
  const { trace, json, junit, maxSteps, timeout, eval: code, filter, failed, watch } = options;
  const dialect = options.dialect && (options.dialect === '5' ? 5 : 4);
  const allowed = new AllowedFiles(options.allowFile);
  if (code !== undefined && paths.length > 0) throw new UsageError('-e runs its code alone: leave out the files.');
  if (paths.length === 0 && code === undefined && isTerminal) {
    for (const name of FOR_FILES) {
      if (options[name])
        throw new UsageError(`${flag(name)} is for files: give some, as in pickaxe repl tests.repl ${flag(name)} ….`);
    }
    const { runPrompt } = await import('./prompt.ts');
    const { DEFAULT_DIALECT } = await import('../../contract/dialect.ts');
    return runPrompt(
      { dialect: dialect ?? DEFAULT_DIALECT, trace, maxSteps },
      new SourceFiles({ allowed }),
      makeSession,
    );
  }
  const named = code !== undefined ? [EVAL_NAME] : paths.length === 0 ? [STDIN] : paths;
  if (watch && (code !== undefined || named.includes(STDIN))) {
    throw new UsageError('--watch is for files that can change: leave out -e and standard input.');
  }
  const stdin = named.includes(STDIN) ? textOfInput(await io.read(MAX_FILE_BYTES)) : undefined;
  const extras = await extrasOf(options);
  const run: RunOptions = {
    dialect,
    trace,
    maxSteps,
    colours: terminalKind(io.columns !== undefined).colours,
    columns: io.columns,
    filter,
    countsGas: extras?.countsGas === true,
    covers: extras?.covers === true,
  };
  const end = timeout === undefined ? undefined : endAfter(timeout, clock);
  const data = { allowed: options.allowFile, stdin, code };
  const runner = new FilesRunner(
    { ...run, json, ...(junit !== undefined && { junit }), onlyFailed: failed === true },
    {
      makeFiles: () => new SourceFiles({ allowed, stdin, code }),
      makeSession,
      clock,
      io,
      extras,
      lastFailures: cacheDirectory === undefined ? undefined : new LastFailures(cacheDirectory),
      ...(end && { whyEnd: end.whyEnd }),
      startThreads: startThreads && ((files) => startThreads(files, { options: run, ...data, end: end?.forThreads() })),
    },
  );
  const names = runner.namesOf(named);
  if (!watch) return (await runner.run(names)).code;
  const { watchFiles } = await import('./runs/watch.ts');
  return watchFiles(names, { runner, io, filter, clears: terminalKind(io.columns !== undefined).escapes });
}

/** @returns what is to be reported beside the results; undefined if nothing is */
async function extrasOf(options: ReplOptions): Promise<ExtraReports | undefined> {
  const { gas, gasSnapshot, update, coverage, lcov } = options;
  if (!gas && gasSnapshot === undefined && !update && !coverage && lcov === undefined) return undefined;
  const { ExtraReports } = await import('./results/extras.ts');
  return new ExtraReports({ gas, gasSnapshot, update, coverage, lcov });
}

/** @returns the option as it is written: `--gas-snapshot` */
function flag(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function endAfter(seconds: number, clock: () => number) {
  const end = clock() + seconds * 1000;
  const why = `the time of --timeout (${seconds} s) is over`;
  return {
    whyEnd: () => (clock() < end ? undefined : why),
    forThreads: () => ({ atMs: performance.timeOrigin + performance.now() + end - clock(), why }),
  };
}
