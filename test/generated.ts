/** Parts of documents that are made from the code. `RECORD=1` writes them anew, otherwise they are compared. */

import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

/**
 * Compares a table of a document, or writes it.
 * @param document its path below the project's folder
 * @param heading the line below which the table is the first one
 * @param rows all lines of the table below its head
 */
export function expectTable(document: string, heading: string, rows: readonly string[]): void {
  const file = new URL(`../${document}`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  const start = text.indexOf('\n|---', text.indexOf(`\n${heading}\n`)) + 1;
  const first = text.indexOf('\n', start) + 1;
  const blank = text.indexOf('\n\n', first);
  const end = blank < 0 ? text.length : blank + 1;
  if (process.env.RECORD !== undefined) {
    writeFileSync(file, `${text.slice(0, first)}${rows.map((row) => `${row}\n`).join('')}${text.slice(end)}`);
  } else {
    const says = `${document} is made from the code: RECORD=1 npm test writes it`;
    expect(text.slice(first, end).trimEnd().split('\n'), says).toEqual(rows);
  }
}
