/** Runs files of contract code, each in its own interpreter, and reports the results. */

import { writeFileSync } from 'node:fs';
import { EXIT, UsageError } from '../../app/exit.ts';
import type { Dialect } from '../../contract/dialect.ts';
import type { FileResult } from '../../contract/repl/result.ts';
import type { Session, SessionOptions } from '../../contract/repl/session.ts';
import { severalLines } from '../../text/plain-text.ts';
import type { Io } from '../io.ts';
import { junitXml } from './junit.ts';
import { fileLines, hasFailed, placeText, reportOf, summaryLine } from './report.ts';
import { resolvePath, type SourceFiles, STDIN, STDIN_NAME } from './source-files.ts';

/** Tests put another one in its place. */
export type ContractSession = Pick<Session, 'runFile' | 'runText' | 'names'>;
export type MakeSession = (options: SessionOptions) => ContractSession;

export interface RunOptions {
  readonly dialect: Dialect;
  /** Whether to print the value of each top-level form. */
  readonly trace: boolean;
  /** Whether the results are JSON, and what the code prints goes to stderr. */
  readonly json: boolean;
  /** The file for the results as JUnit XML. */
  readonly junit?: string;
}

/**
 * @param paths what was given on the command line
 * @returns failed if a form or an expectation has failed
 * @throws UsageError, before anything is run, for a file that cannot be read, and if the JUnit file cannot be written
 */
export function runFiles(
  paths: readonly string[],
  options: RunOptions,
  files: SourceFiles,
  makeSession: MakeSession,
  io: Pick<Io, 'out' | 'say'>,
): number {
  const names = paths.map((path) => (path === STDIN ? STDIN_NAME : path));
  for (const name of names) files.check(name);
  const results: FileResult[] = [];
  for (const name of names) {
    const result = makeSession(sessionOptions(options, files, io)).runFile(name);
    const lines = options.json ? [JSON.stringify(reportOf(result))] : fileLines(result, names.length > 1);
    io.out(`${lines.join('\n')}\n`);
    results.push(result);
  }
  if (!options.json) io.out(`${summaryLine(results)}\n`);
  if (options.junit !== undefined) writeJunit(options.junit, results);
  return results.some(hasFailed) ? EXIT.failed : EXIT.done;
}

/** @returns options of a session that prints what its code prints, and traces if wanted */
export function sessionOptions(
  { dialect, trace, json }: RunOptions,
  { read }: SourceFiles,
  io: Pick<Io, 'out' | 'say'>,
): SessionOptions {
  const print = json ? io.say : (line: string) => io.out(`${line}\n`);
  return {
    dialect,
    readFile: read,
    resolvePath,
    onPrint: (text) => print(severalLines(text)),
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
