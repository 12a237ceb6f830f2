/** A pure function that wraps lines at blanks, where a terminal would break words. */

import { stripVTControlCharacters } from 'node:util';

/** What stands in front of the text of a line: blanks, a mark, or a figure. */
const FRONT = /^ *(?:[✓✗] |\d+ {2}(?: *[+−]?\d+ {2}| *(?:new|gone) {2})?)?/u;
/** How much further the text of a line without a mark or a figure is indented where it goes on. */
const FURTHER = 2;

/**
 * @param line may have colours, whose codes take no room
 * @param columns the width of the terminal
 * @returns the lines, of which all but the first are indented. A word that is wider than the terminal is not broken
 */
export function wrapped(line: string, columns: number): string[] {
  if (widthOf(line) <= columns) return [line];
  const [front] = FRONT.exec(stripVTControlCharacters(line)) ?? [''];
  const indent = front.length + (front.trim() === '' ? FURTHER : 0);
  const lines: string[] = [];
  let open = '';
  for (const [, blanks, word] of line.matchAll(/( *)([^ ]+)/g)) {
    if (widthOf(open) > front.length && widthOf(`${open}${blanks}${word}`) > columns) {
      lines.push(open);
      open = `${' '.repeat(indent)}${word}`;
    } else open += `${blanks}${word}`;
  }
  return [...lines, open];
}

function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}
