/** Runs files of contract code, each in its own interpreter, and reports the results. */

import { writeFileSync } from 'node:fs';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { severalLines } from '../../base/text/plain-text.ts';
import type { Dialect } from '../../contract/dialect.ts';
import type { Session, SessionOptions } from '../../contract/repl/repl-session.ts';
import type { FileResult } from '../../contract/repl/result.ts';
import { inColours, inPlain } from '../../rig/terminal/screen.ts';
import type { Io } from '../io.ts';
import { junitXml } from './junit.ts';
import { fileLines, hasFailed, placeText, reportOf, summaryLine } from './report.ts';
import { resolvePath, type SourceFiles, STDIN, STDIN_NAME } from './source-files.ts';

/** The members of `Session` that are used here. Tests can replace them. */
export type ContractSession = Pick<Session, 'runFile' | 'runText' | 'names'>;
export type MakeSession = (options: SessionOptions) => ContractSession;

export interface RunOptions {
  readonly dialect: Dialect;
  /** Whether to print the value of each top-level form. */
  readonly trace: boolean;
  /** Whether the results are printed as JSON. If so, texts that the code prints go to stderr. */
  readonly json: boolean;
  /** Whether failures are coloured. */
  readonly colours?: boolean;
  /** Number of columns of the terminal; absent without one. */
  readonly columns?: number | undefined;
  /** Maximum number of evaluation steps of each top-level form; absent for the default. */
  readonly maxSteps?: number;
  /** Path of the file for the results as JUnit XML; absent if it should not be written. */
  readonly junit?: string;
  /** @returns the reason why the run must end now, as a clause; undefined if it may continue */
  readonly whyEnd?: () => string | undefined;
}

/**
 * @param paths the arguments of the command
 * @param makeFiles makes a SourceFiles for each session
 * @returns the exit code: noWork if the run was stopped, failed after an error or a failed expectation, otherwise done
 * @throws UsageError, before anything runs, for a file that cannot be read; and after the run, for a JUnit file that
 *   cannot be written
 */
export async function runFiles(
  paths: readonly string[],
  options: RunOptions,
  makeFiles: () => SourceFiles,
  makeSession: MakeSession,
  io: Pick<Io, 'out' | 'say'>,
): Promise<number> {
  const all = paths.map((path) => {
    const name = path === STDIN ? STDIN_NAME : path;
    const files = makeFiles();
    files.name(name);
    return { name, files };
  });
  let hasEnded = false;
  const whyEnd = () => {
    const why = options.whyEnd?.();
    hasEnded ||= why !== undefined;
    return why;
  };
  const results: FileResult[] = [];
  for (const { name, files } of all) {
    const why = whyEnd();
    const session = makeSession(sessionOptions({ ...options, whyEnd }, files, io));
    const result = why === undefined ? session.runFile(name) : notRun(name, why);
    const lines = options.json
      ? [JSON.stringify(reportOf(result))]
      : fileLines(result, all.length > 1, await linesOfFailures(result, options, files, session));
    io.out(`${lines.join('\n')}\n`);
    results.push(result);
  }
  if (!options.json) io.out(`${summaryLine(results)}\n`);
  if (options.junit !== undefined) writeJunit(options.junit, results);
  if (hasEnded) return EXIT.noWork;
  return results.some(hasFailed) ? EXIT.failed : EXIT.done;
}

/** The columns for excerpts where the output is no terminal, as in the logs of CI. */
const COLUMNS = 120;

async function linesOfFailures(
  result: FileResult,
  { colours = false, columns = COLUMNS }: RunOptions,
  { read }: SourceFiles,
  session: ContractSession,
): Promise<string[]> {
  if (!hasFailed(result)) return [];
  // What explains failures is loaded only if there are some, so that tests that pass take no longer.
  const { failureLines } = await import('./failures/failure-lines.ts');
  return failureLines(result, { read, names: () => session.names(), paint: colours ? inColours : inPlain, columns });
}

function notRun(file: string, why: string): FileResult {
  const message = `The file was not run: ${why}`;
  return { file, expectations: [], error: { place: undefined, message, frames: [] }, notes: [] };
}

/** @returns the options of a session that prints texts of the code and, with `trace`, the values of top-level forms */
export function sessionOptions(
  { dialect, trace, json, maxSteps, whyEnd }: RunOptions,
  { read }: SourceFiles,
  io: Pick<Io, 'out' | 'say'>,
): SessionOptions {
  const print = json ? io.say : (line: string) => io.out(`${line}\n`);
  return {
    dialect,
    maxSteps,
    stepsAdvice: '--max-steps N allows more',
    readFile: read,
    resolvePath,
    onPrint: (text) => print(severalLines(text)),
    ...(whyEnd && { whyEnd }),
    ...(trace && { onTrace: (place, text) => print(`${placeText(place)}:Trace: ${severalLines(text)}`) }),
  };
}

function writeJunit(path: string, results: readonly FileResult[]): void {
  try {
    writeFileSync(path, junitXml(results));
  } catch (fault) {
    throw new UsageError(`${path} cannot be written: ${(fault as Error).message}. Give --junit another file.`);
  }
}
