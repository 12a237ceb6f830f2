/** A pure function that shows a line of source, with a caret below the place of a fault. */

import type { Position } from '../../../contract/errors.ts';
import type { Paint } from '../../../rig/terminal/screen.ts';

/** Fewest characters of the source that are shown. */
const LEAST_SHOWN = 20;

interface ExcerptOptions {
  readonly paint: Paint;
  /** Number of columns that the lines may have. */
  readonly columns: number;
  /** What is written behind the caret. */
  readonly label?: string | undefined;
}

/** @returns two lines; without a source or a label none, as for a position behind the last line */
export function excerptLines(
  text: string,
  { line, column }: Pick<Position, 'line' | 'column'>,
  { paint, columns, label = '' }: ExcerptOptions,
): string[] {
  const source = (text.split('\n')[line - 1] ?? '').trimEnd();
  if (source === '') return label === '' ? [] : [`  ${paint('red', label)}`];
  const number = `${line}`;
  // Each character takes one column, so that the caret stands below the right one.
  const characters = Array.from(source, (character) => (/\p{C}|\p{Z}/u.test(character) ? ' ' : character));
  const room = Math.max(LEAST_SHOWN, columns - number.length - '   | '.length);
  const start = column < room ? 0 : Math.min(column - Math.floor(room / 2), characters.length - room);
  const first = Math.max(0, start);
  const shown = characters.slice(first, first + room);
  // An ellipsis marks where the line is cut.
  if (first > 0) shown[0] = '…';
  if (first + room < characters.length) shown[room - 1] = '…';
  const before = ' '.repeat(Math.max(0, column - first));
  return [
    `  ${paint('dim', `${number} |`)} ${shown.join('')}`,
    `  ${paint('dim', `${' '.repeat(number.length)} |`)} ${before}${paint('red', label === '' ? '^' : `^ ${label}`)}`,
  ];
}
