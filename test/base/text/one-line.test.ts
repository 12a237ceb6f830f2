import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { oneLine, severalLines } from '#pickaxe/base/text/plain-text.js';
import { anyText } from '../../any-text.ts';

it.each([
  ['plain text, as it is', 'plain text, as it is'],
  ['two  spaces', 'two  spaces'],
  ['a\r\n\tb', 'a b'],
  ['  <html>\n    <head>\n', '<html> <head>'],
  ['a\x1b[31mred\x07', 'a [31mred'],
  ['a\x9b31mred', 'a 31mred'],
  ['a\x85b\u2028c\u2029d', 'a b c d'],
  ['a\u202eb\u2066c', 'a b c'],
  ['a\x00\x7fb', 'a b'],
  ['größer ≥ 5 °C 👍', 'größer ≥ 5 °C 👍'],
])('%j becomes one line', (text, shown) => {
  expect(oneLine(text)).toBe(shown);
});

test('a long text is cut, but not in the middle of a character', () => {
  expect(oneLine('abcdef', 6)).toBe('abcdef');
  expect(oneLine('abcdefg', 6)).toBe('abcde…');
  expect(oneLine('abcd👍g', 6)).toBe('abcd…');
});

test('no result has a control character or a line break', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), fc.integer({ min: 1, max: 300 }), (text, most) => {
      const shown = oneLine(text, most);
      expect(shown).not.toMatch(/[\p{C}\u2028\u2029]/u);
      expect(shown.length).toBeLessThanOrEqual(most);
    }),
  );
});

test('a text of many spaces is processed quickly', () => {
  expect(oneLine(`a${' '.repeat(1_000_000)}b`)).toHaveLength(1_000_002);
});

test.each([
  ['a\tb\n  c', 'a\tb\n  c'],
  ['a\r\nb', 'a\nb'],
  ['a\rb', 'a b'],
  ['\x1b[2J\u202eab', ' [2J ab'],
])('several lines stay, and what could be a command to a terminal does not: %j', (text, shown) => {
  expect(severalLines(text)).toBe(shown);
});
