/** Formats the results of files as lines for people, and as JSON. */

import { z } from 'zod';
import { oneLine, severalLines } from '../../base/text/plain-text.ts';
import { plural } from '../../base/text/quantities.ts';
import type { Dialect } from '../../contract/dialect.ts';
import type { Expectation, Failure, FileResult, Place } from '../../contract/repl/result.ts';

export function failuresOf({ expectations }: Pick<FileResult, 'expectations'>): readonly Expectation[] {
  return expectations.filter(({ passed }) => !passed);
}

/** @returns whether an error has ended the run of the file, or one of its expectations has failed */
export function hasFailed(result: FileResult): boolean {
  return result.error !== undefined || failuresOf(result).length > 0;
}

/** @returns `FILE:LINE:COLUMN`, with lines from 1 and columns from 0 */
export function placeText({ file, position: { line, column } }: Place): string {
  return `${oneLine(file)}:${line}:${column}`;
}

/**
 * @param isOneOfSeveral whether several files were run, so that the last line must name the file
 * @param failures the lines of its failures
 */
export function fileLines(result: FileResult, isOneOfSeveral: boolean, failures: readonly string[]): string[] {
  const { file, notes } = result;
  const name = oneLine(file);
  return [
    ...failures,
    ...[...new Set(notes)].map((note) => `${name}: ${oneLine(note)}`),
    `${isOneOfSeveral ? `${name}: ` : ''}${hasFailed(result) ? 'Load failed' : 'Load successful'}`,
  ];
}

/** Maximum number of files that the summary names. */
const MOST_NAMED = 4;

/** @returns one line about all files */
export function summaryLine(results: readonly FileResult[]): string {
  const count = results.reduce((sum, { expectations }) => sum + expectations.length, 0);
  const failed = results.reduce((sum, result) => sum + failuresOf(result).length, 0);
  const stopped = results.filter(({ error }) => error !== undefined);
  const empty = results.filter(({ error, expectations }) => error === undefined && expectations.length === 0);
  const passed = failed === 0 ? `${count === 1 ? '' : 'all '}passed` : `${count - failed} passed, ${failed} failed`;
  return [
    `${plural(results.length, 'file')}, ${plural(count, 'expectation')}${count === 0 ? '' : `: ${passed}`}`,
    ...(stopped.length === 0 ? [] : [`${plural(stopped.length, 'file')} ended with an error`]),
    ...(empty.length === 0 || results.length === 1 ? [] : [`no expectation in ${namesOf(empty)}`]),
  ].join('; ');
}

function namesOf(results: readonly FileResult[]): string {
  const names = results.slice(0, MOST_NAMED).map(({ file }) => oneLine(file));
  const rest = results.length - names.length;
  return `${names.join(', ')}${rest === 0 ? '' : ` and ${plural(rest, 'other')}`}`;
}

interface ReportedRun {
  readonly result: FileResult;
  readonly dialect: Dialect;
}

/** @param value the last value, if the code was typed */
export function reportOf({ result, dialect }: ReportedRun, value?: string): ReplReport {
  const { file, expectations, error, notes } = result;
  const failures = failuresOf(result).map(({ place, text }) => ({ ...jsonPlace(place), text: severalLines(text) }));
  return {
    file: severalLines(file),
    dialect,
    expectations: expectations.length,
    passed: expectations.length - failures.length,
    failures,
    error: error === undefined ? null : errorToJson(error),
    notes: [...new Set(notes)].map(severalLines),
    ...(value !== undefined && { value: severalLines(value) }),
  };
}

function errorToJson({ place, message, frames }: Failure) {
  return {
    ...(place === undefined ? NOWHERE : jsonPlace(place)),
    message: severalLines(message),
    frames: frames.map(severalLines),
  };
}

function jsonPlace({ file, position: { line, column } }: Place) {
  return { file: severalLines(file), line, column };
}

const NOWHERE = { file: null, line: null, column: null };

const line = z.int().positive();
const column = z.int().nonnegative();

export const ReplReport = z.object({
  file: z.string(),
  dialect: z.union([z.literal(4), z.literal(5)]).meta({ description: 'the generation of the language' }),
  expectations: z.int().nonnegative(),
  passed: z.int().nonnegative(),
  failures: z.array(z.object({ file: z.string(), line, column, text: z.string() })),
  error: z
    .object({
      file: z.string().nullable(),
      line: line.nullable(),
      column: column.nullable(),
      message: z.string(),
      frames: z.array(z.string()),
    })
    .nullable()
    .meta({ description: 'the form that ended the run, or null if the file has run to its end' }),
  notes: z.array(z.string()).meta({ description: 'what was not checked' }),
  value: z.string().optional().meta({ description: 'the last value of `-e` or of standard input; absent for files' }),
});
export type ReplReport = Readonly<z.infer<typeof ReplReport>>;
