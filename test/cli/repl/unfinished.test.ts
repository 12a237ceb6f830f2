import { describe, expect, it } from 'vitest';
import { isUnfinished, unclosedIn } from '#pickaxe/cli/repl/unfinished.js';

describe('an input goes on in the next line', () => {
  it.each([
    ['with an open bracket', '(+ 1'],
    ['with an open list', '[1 2'],
    ['with an open object', '{"a": 1'],
    ['with a bracket that is closed inside of another', '(let ((x 1))'],
    ['with a bracket before a comment that closes it', '(+ 1 ; )'],
    ['with a bracket before a text that closes it', '(format ")"'],
    ['with an empty text', '(length ""'],
    ['with a text that begins with an escaped quotation mark', '(length "\\")"'],
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

describe('the bracket that lacks its end', () => {
  const found = (text: string, end = text.length) => unclosedIn(text, end);
  it.each([
    ['(a', { offset: 0, isGuess: false }],
    ['(a (b) [c', { offset: 7, isGuess: false }],
    ['(a) (b', { offset: 4, isGuess: false }],
    ['(a) "(" ; (', undefined],
    ['(a\n  (b\n(c)\n', { offset: 5, isGuess: false }],
    ['(a\n  (b\n(c))\n', { offset: 5, isGuess: true }],
    ['(f (a\n  (b)\n(c))', { offset: 3, isGuess: true }],
    // Arguments that are indented more than the line of their function are no reason to suspect it.
    ['  (map (lambda (x)\n    (f x)) [1]', { offset: 2, isGuess: false }],
    ['(module m G\n(defun f () (a)\n(defun g () 1))', { offset: 12, isGuess: true }],
    ['(module m G\n(defun f () (a))\n(b', { offset: 29, isGuess: false }],
  ])('of %j', (text, unclosed) => {
    expect(found(text)).toEqual(unclosed);
  });

  it('is sought only before the fault', () => {
    expect(found('(a [b) (c', 5)).toEqual({ offset: 3, isGuess: false });
  });
});
