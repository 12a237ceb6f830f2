/** Formats failures for people: the place, the message, the line of source with a caret, and how values differ. */

import { oneLine } from '../../../base/text/plain-text.ts';
import type { Expectation, Failure, FileResult, Place } from '../../../contract/repl/result.ts';
import type { Paint } from '../../../rig/terminal/screen.ts';
import { failuresOf, placeText } from '../report.ts';
import { excerptLines } from './excerpt.ts';
import { bracketHint, nameHint } from './hints.ts';
import { diffLines } from './value-diff.ts';

/** What the lines need to know of the run. */
export interface Sources {
  /** @returns the text of a file that was run @throws Error if it cannot be read any more */
  readonly read: (path: string) => string;
  /** @returns the names that the session knows */
  readonly names: () => readonly string[];
  readonly paint: Paint;
  /** Number of columns of the terminal, or a usual number: values that do not fit are compared on several lines. */
  readonly columns: number;
}

/** @returns the lines of the error that ended the run, and of each failed expectation; none if all has passed */
export function failureLines(result: Pick<FileResult, 'file' | 'error' | 'expectations'>, sources: Sources): string[] {
  const { file, error } = result;
  return [
    ...(error === undefined ? [] : errorLines(error, file, sources)),
    ...failuresOf(result).flatMap((each) => failedLines(each, sources)),
  ];
}

/** @returns a line with the place and the message of an error, its excerpt, and a line for each frame of the stack */
export function errorLines(error: Failure, file: string, sources: Sources): string[] {
  const { place, message, frames, subject } = error;
  const where = place === undefined ? oneLine(file) : placeText(place);
  const source = sourceOf(place, sources);
  const hint = bracketHint(error, source);
  const label = hint ? `${hint.text}: ${placeText(hint.place)}` : nameHint(message, sources.names(), source);
  return [
    sources.paint('red', `${where}:Error: ${oneLine(message)}`),
    ...excerpt(hint?.place ?? place, source, label ?? subject, sources),
    ...frames.map((frame) => sources.paint('dim', ` at ${oneLine(frame)}`)),
  ];
}

/** @returns a line with the place and the text of a failed expectation, its excerpt, and how two long values differ */
export function failedLines({ place, text, values, subject, cause }: Expectation, sources: Sources): string[] {
  const source = sourceOf(place, sources);
  const line = `${placeText(place)}:ExecError: ${oneLine(text)}`;
  const isElsewhere = cause !== undefined && (cause.file !== place.file || cause.position.line !== place.position.line);
  const inner = sourceOf(cause, sources);
  const label = nameHint(text, sources.names(), `${source}\n${inner}`) ?? subject;
  const diff =
    values && line.length > sources.columns ? diffLines(values.expected, values.received, sources.paint) : [];
  return [
    sources.paint('red', diff.length === 0 ? line : withoutValues(line, values?.expected)),
    ...excerpt(place, source, isElsewhere ? undefined : label, sources),
    ...(isElsewhere ? [sources.paint('dim', ` at ${placeText(cause)}`), ...excerpt(cause, inner, label, sources)] : []),
    ...diff,
  ];
}

/** @returns the line without its end, which begins with the first value */
function withoutValues(line: string, expected = ''): string {
  const ends = [': expected ', ' expected: '].map((before) => line.indexOf(before + oneLine(expected)));
  const end = ends.find((at) => at >= 0);
  return end === undefined ? line : `${line.slice(0, end)}: the values differ`;
}

function sourceOf(place: Place | undefined, { read }: Sources): string {
  try {
    return place === undefined ? '' : read(place.file);
  } catch {
    // The file has been removed since it was run.
    return '';
  }
}

function excerpt(place: Place | undefined, source: string, label: string | undefined, sources: Sources): string[] {
  const { paint, columns } = sources;
  const position = place?.position ?? { line: 0, column: 0 };
  return excerptLines(source, position, { paint, columns, label: label && oneLine(label) });
}
