import { describe, expect, it } from 'vitest';
import { excerptLines } from '#pickaxe/cli/repl/failures/excerpt.js';
import { inPlain } from '#pickaxe/rig/terminal/screen.js';

const excerpt = (text: string, line: number, column: number, options = {}) =>
  excerptLines(text, { line, column }, { paint: inPlain, columns: 80, ...options });

describe('an excerpt', () => {
  it('shows the line with a caret below the column', () => {
    expect(excerpt('one\n(two three)\nfour', 2, 5)).toEqual(['  2 | (two three)', '    |      ^']);
    expect(excerpt(`${'\n'.repeat(99)}x`, 100, 0, { label: 'why' })).toEqual(['  100 | x', '      | ^ why']);
  });

  it('gives tabs, control characters and characters of two code units one column', () => {
    expect(excerpt('\t"😀\x1b" x\r', 1, 5)).toEqual(['  1 |  "😀 " x', '    |      ^']);
  });

  it('shows the part around the caret of a line that is too long', () => {
    const text = `${'a'.repeat(50)}X${'b'.repeat(50)}`;
    expect(excerpt(text, 1, 50, { columns: 26 })).toEqual(['  1 | …aaaaaaaaaXbbbbbbbb…', '    |           ^']);
    expect(excerpt(text, 1, 100, { columns: 26 })).toEqual([
      '  1 | …bbbbbbbbbbbbbbbbbbb',
      '    |                    ^',
    ]);
    expect(excerpt(text, 1, 3, { columns: 0 })[0]).toBe(`  1 | ${'a'.repeat(19)}…`);
    expect(excerpt('short', 1, 30, { columns: 26 })).toEqual(['  1 | short', `    | ${' '.repeat(30)}^`]);
  });

  it('of a line that is empty or not there has only the label', () => {
    expect(excerpt('a\n\n', 2, 0)).toEqual([]);
    expect(excerpt('a', 7, 0, { label: 'why' })).toEqual(['  why']);
  });

  it('is coloured where colours are wanted', () => {
    const paint = (style: string, text: string) => `<${style}>${text}</>`;
    expect(excerpt('a', 1, 0, { paint })).toEqual(['  <dim>1 |</> a', '  <dim>  |</> <red>^</>']);
  });
});
