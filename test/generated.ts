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
  expectPart(document, heading, rows, (text, from) => text.indexOf('\n', text.indexOf('\n|---', from) + 1) + 1);
}

/** Compares or writes the first list below a heading. @param items one line each */
export function expectList(document: string, heading: string, items: readonly string[]): void {
  expectPart(document, heading, items, (text, from) => text.indexOf('\n- ', from) + 1);
}

/** @param startOf finds the part's first line below a place in the text */
function expectPart(
  document: string,
  heading: string,
  lines: readonly string[],
  startOf: (text: string, from: number) => number,
): void {
  const file = new URL(`../${document}`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  const first = startOf(text, text.indexOf(`\n${heading}\n`));
  const blank = text.indexOf('\n\n', first);
  const end = blank < 0 ? text.length : blank + 1;
  if (process.env.RECORD !== undefined) {
    writeFileSync(file, `${text.slice(0, first)}${lines.map((line) => `${line}\n`).join('')}${text.slice(end)}`);
  } else {
    const message = `${document} is made from the code: RECORD=1 npm test writes it`;
    expect(text.slice(first, end).trimEnd().split('\n'), message).toEqual(lines);
  }
}
