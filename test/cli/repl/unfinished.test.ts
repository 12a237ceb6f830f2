import { describe, expect, it } from 'vitest';
import { isUnfinished } from '#pickaxe/cli/repl/unfinished.js';

describe('an input goes on in the next line', () => {
  it.each([
    ['with an open bracket', '(+ 1'],
    ['with an open list', '[1 2'],
    ['with an open object', '{"a": 1'],
    ['with a bracket that is closed inside of another', '(let ((x 1))'],
    ['with a bracket before a comment that closes it', '(+ 1 ; )'],
    ['with a bracket before a text that closes it', '(format ")"'],
    ['with a text that ends with a backslash', '"abc\\'],
    ['with a text that ends with a backslash and white space', '"abc\\\n   '],
  ])('%s', (_, input) => {
    expect(isUnfinished(input)).toBe(true);
  });
});

describe('an input is finished', () => {
  it.each([
    ['without brackets', 'x'],
    ['with closed brackets', '(+ 1 [2 {"a": 3}])'],
    ['with an open bracket in a comment', '(+ 1 2) ; ('],
    ['with an open bracket in a text', '(length "([{")'],
    ['with an escaped quotation mark in a text', '(length "\\"(")'],
    ['with a text over two lines', '(length "ab\\\n  \\cd")'],
    ['with comments alone', '; ("'],
    ['of which no next line can close a bracket', '(+ 1]'],
    ['of which no next line can open a bracket', '1)'],
    ['of which no next line can close a text', '(length "abc'],
    ['of which no next line can close a text of an earlier line', '("abc\n)'],
    ['with a gap in a text that does not end with a backslash', '(length "ab\\\n  cd'],
  ])('%s', (_, input) => {
    expect(isUnfinished(input)).toBe(false);
  });
});
