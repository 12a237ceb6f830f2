import { expect, it } from 'vitest';
import { csv } from '#pickaxe/base/text/plain-text.js';

it('CSV has a line for each row, with empty cells, and texts in quotes where that is needed', () => {
  const rows = [
    ['a', 7, true, null],
    ['with, comma', 'with "quotes"', 'two\nlines', ''],
  ];
  expect(csv(rows)).toBe('a,7,true,\n"with, comma","with ""quotes""","two\nlines",\n');
  expect(csv([])).toBe('');
});

it.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\tx', "'\tx"],
  ['-1+1', "'-1+1"],
  ['-two words', "'-two words"],
  ['-AbC_9-x', '-AbC_9-x'],
  ['a=1', 'a=1'],
])('the text %j, which a spreadsheet could run, is written as %j', (text, cell) => {
  expect(csv([[text]])).toBe(`${cell}\n`);
});

it('a negative number is one', () => {
  expect(csv([[-1.5]])).toBe('-1.5\n');
});
