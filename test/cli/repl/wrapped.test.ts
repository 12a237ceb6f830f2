import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { wrapped } from '#pickaxe/cli/repl/wrapped.js';
import { inColours } from '#pickaxe/rig/terminal/screen.js';

it.each<[line: string, columns: number, lines: readonly string[]]>([
  ['as wide', 7, ['as wide']],
  ['as wide as that', 7, ['as wide', '  as', '  that']],
  ['two  blanks stay', 13, ['two  blanks', '  stay']],
  // A line that is indented goes on a little further to the right, and one with a mark or a figure below its text.
  ['  some text', 8, ['  some', '    text']],
  ['    ✓ a name of a test', 16, ['    ✓ a name of', '      a test']],
  ['✗ a.repl  3 of 4 tests failed', 20, ['✗ a.repl  3 of 4', '  tests failed']],
  ['      1691  a.repl > one', 20, ['      1691  a.repl >', '            one']],
  [
    '        12        +2  a.repl > one',
    26,
    ['        12        +2  a.repl', '                      >', '                      one'],
  ],
  ['        12       new  a > one', 25, ['        12       new  a >', '                      one']],
  // A word that is wider than the terminal stays whole.
  ['a wordthatiswide b', 8, ['a', '  wordthatiswide', '  b']],
  ['wordthatiswide', 8, ['wordthatiswide']],
  // Characters count, and not their code units.
  ['😀😀😀 😀', 5, ['😀😀😀 😀']],
])('%j in %d columns', (line, columns, lines) => {
  expect(wrapped(line, columns)).toEqual(lines);
});

it('colours take no room', () => {
  const lines = wrapped(inColours('red', 'as wide as that'), 7);
  expect(lines.map(stripVTControlCharacters)).toEqual(['as wide', '  as', '  that']);
  expect(lines.join('\n')).not.toBe(stripVTControlCharacters(lines.join('\n')));
});
