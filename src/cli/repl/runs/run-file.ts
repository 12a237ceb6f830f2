/** Runs one file of contract code, in this thread. What it needs and returns can be sent from one thread to another. */

import { oneLine, severalLines } from '../../../base/text/plain-text.ts';
import { chosenDialect, DEFAULT_DIALECT, type Dialect } from '../../../contract/dialect.ts';
import type { Coverage, FileCoverage } from '../../../contract/repl/coverage.ts';
import type { Session, SessionOptions } from '../../../contract/repl/repl-session.ts';
import type { FileResult } from '../../../contract/repl/result.ts';
import { inColours, inPlain } from '../../../rig/terminal/screen.ts';
import { hasFailed, placeText } from '../report.ts';
import { testsOf } from '../results/tests.ts';
import { resolvePath, type SourceFiles } from '../source-files.ts';

/** The members of `Session` that are used here. Tests can replace them. */
export type ContractSession = Pick<Session, 'runFile' | 'runText' | 'names'>;
export type MakeSession = (options: SessionOptions) => ContractSession;

/** How code is run. It can be sent to a thread. */
export interface RunOptions {
  /** Absent if each file may choose, which has the default otherwise. */
  readonly dialect?: Dialect | undefined;
  /** Whether to print the value of each top-level form. */
  readonly trace: boolean;
  /** Maximum number of evaluation steps of each top-level form; absent for the default. */
  readonly maxSteps?: number | undefined;
  /** Whether failures are coloured. */
  readonly colours?: boolean;
  /** Number of columns of the terminal; absent without one. */
  readonly columns?: number | undefined;
  /** A part of the names of the tests that count; absent if all do. */
  readonly filter?: string | undefined;
  /** Whether the gas of tests is counted. */
  readonly countsGas?: boolean;
  /** Whether it is noted what the tests run of contracts. */
  readonly covers?: boolean;
}

/** What a run needs that cannot be sent to a thread. */
export interface RunTools {
  readonly makeSession: MakeSession;
  /** Called with each text that the code prints, and each value of `trace`. */
  readonly print: (line: string) => void;
  /** @returns the reason why the run must end now, as a clause; undefined if it may continue */
  readonly whyEnd?: (() => string | undefined) | undefined;
  /** @returns the time of a monotonic clock, in milliseconds */
  readonly clock: () => number;
}

export interface FileRun {
  readonly result: FileResult;
  readonly dialect: Dialect;
  /** The last value of typed code, for people; undefined if it has none, and for a file. */
  readonly value: string | undefined;
  /** The lines of its failures. */
  readonly failures: readonly string[];
  /** What the code has printed in another thread. */
  readonly printed: readonly string[];
  readonly seconds: number;
  /** The paths of all files that it has read, and of those that it was to read and that are not there. */
  readonly read: readonly string[];
  /** Whether the time was over before its end. */
  readonly isLate: boolean;
  /** What its tests have run of contracts, if that is noted. */
  readonly coverage: readonly FileCoverage[];
}

/** Why a file is not read that may appear later. Files that must not be read have other reasons. */
const NO_FILE = 'there is no such file';

/** The columns for excerpts where the output is no terminal, as in the logs of CI. */
const COLUMNS = 120;

/** @param name a file that `files` allows */
export async function runFile(
  name: string,
  files: SourceFiles,
  options: RunOptions,
  { makeSession, print, whyEnd, clock }: RunTools,
): Promise<FileRun> {
  const why = whyEnd?.();
  if (why !== undefined) return { ...notRun(name, why, options.dialect), isLate: true };
  const read = new Set<string>();
  let value: string | undefined;
  let isLate = false;
  const dialect = options.dialect ?? dialectOf(name, files);
  const given = sessionOptions({ ...options, dialect }, files, print);
  const coverage = options.covers ? await newCoverage() : undefined;
  const session = makeSession({
    ...given,
    clock,
    countsGas: options.countsGas === true,
    coverage,
    readFile: (path) => {
      try {
        const text = files.read(path);
        read.add(path);
        return text;
      } catch (fault) {
        if ((fault as Error).message === NO_FILE) read.add(path);
        throw fault;
      }
    },
    ...(whyEnd && {
      whyEnd: () => {
        const late = whyEnd();
        isLate ||= late !== undefined;
        return late;
      },
    }),
    ...(files.isTyped(name) && {
      onTrace: (place, text) => {
        if (place.file === name) value = text;
        given.onTrace?.(place, text);
      },
    }),
  });
  const begun = clock();
  const result = selected(session.runFile(name), options.filter);
  const seconds = (clock() - begun) / 1000;
  const failures = hasFailed(result) ? await linesOfFailures(result, options, files, session) : [];
  const covered = coverage?.files() ?? [];
  return { result, dialect, value, failures, printed: [], seconds, read: [...read], isLate, coverage: covered };
}

/** @returns the dialect that the file chooses, or else the default */
function dialectOf(name: string, { read }: SourceFiles): Dialect {
  try {
    return chosenDialect(read(name)) ?? DEFAULT_DIALECT;
  } catch {
    // The session says why the file cannot be read.
    return DEFAULT_DIALECT;
  }
}

async function newCoverage(): Promise<Coverage> {
  const { Coverage } = await import('../../../contract/repl/coverage.ts');
  return new Coverage();
}

/** @returns the run of a file that was not run @param why as a clause */
export function notRun(file: string, why: string, dialect: Dialect = DEFAULT_DIALECT): FileRun {
  const message = `The file was not run: ${why}`;
  return {
    result: { file, expectations: [], error: { place: undefined, message, frames: [] }, notes: [] },
    dialect,
    value: undefined,
    failures: [`${oneLine(file)}:Error: ${oneLine(message)}`],
    printed: [],
    seconds: 0,
    read: [file],
    isLate: false,
    coverage: [],
  };
}

/** @returns the result without the tests whose file, transaction and name do not have the text in them */
function selected(result: FileResult, filter: string | undefined): FileResult {
  if (filter === undefined) return result;
  const wanted = filter.toLowerCase();
  const tests = testsOf(result).filter(({ path }) => path.toLowerCase().includes(wanted));
  return { ...result, expectations: tests.map(({ expectation }) => expectation) };
}

async function linesOfFailures(
  result: FileResult,
  { colours = false, columns = COLUMNS }: RunOptions,
  { read }: SourceFiles,
  session: ContractSession,
): Promise<string[]> {
  // What explains failures is loaded only if there are some, so that tests that pass take no longer.
  const { failureLines } = await import('../failures/failure-lines.ts');
  return failureLines(result, { read, names: () => session.names(), paint: colours ? inColours : inPlain, columns });
}

/** @returns the options of a session that prints texts of the code and, with `trace`, the values of top-level forms */
export function sessionOptions(
  { dialect, trace, maxSteps }: RunOptions,
  { read }: SourceFiles,
  print: (line: string) => void,
): SessionOptions {
  return {
    dialect,
    maxSteps,
    stepsAdvice: '--max-steps N allows more',
    readFile: read,
    resolvePath,
    onPrint: (text) => print(severalLines(text)),
    ...(trace && { onTrace: (place, text) => print(`${placeText(place)}:Trace: ${severalLines(text)}`) }),
  };
}
