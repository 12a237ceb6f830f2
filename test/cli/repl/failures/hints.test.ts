import { describe, expect, it } from 'vitest';
import { bracketHint, nameHint } from '#pickaxe/cli/repl/failures/hints.js';

/** An error at this offset of the source. */
const failureAt = (offset: number, message = "Expected: [')']") => ({
  message,
  place: { file: 'a.repl', position: { line: 1, column: offset, offset } },
  frames: [],
});

describe('a bracket that lacks its end', () => {
  it('is shown where it stands', () => {
    const source = '(+ 1 2)\n"🎉" (+ 1\n  2]';
    expect(bracketHint(failureAt(source.length - 1), source)).toEqual({
      text: 'this ( lacks its )',
      place: { file: 'a.repl', position: { line: 2, column: 4, offset: 13 } },
    });
  });

  it('is shown in the first line, too', () => {
    const place = { file: 'a.repl', position: { line: 1, column: 1, offset: 1 } };
    expect(bracketHint(failureAt(7), ' (+ 1 2]')).toEqual({ text: 'this ( lacks its )', place });
  });

  it.each([
    ['an error of another kind', failureAt(6, 'Unexpected end of input'), '(+ 1 2]'],
    ['an error that names no place', { ...failureAt(6), place: undefined }, '(+ 1 2]'],
    ['a place where no bracket is open', failureAt(8), '(+ 1 2) ]'],
    ['a place where the form has one part too many', failureAt(5), '(f 1 2)'],
  ])('is not looked for after %s', (_, failure, source) => {
    expect(bracketHint(failure, source)).toBeUndefined();
  });
});

describe('a name that is unknown', () => {
  it.each([
    ['Unbound variable env-sig', ['env-sigs', 'env-data'], '', 'did you mean env-sigs?'],
    ['Cannot resolve "totl"', ['env-data'], '(let ((total 1)) totl)', 'did you mean total?'],
    [
      'FAILURE: d evaluation failed with error message:\nUnbound variable env-sig\n',
      ['env-sigs'],
      '',
      'did you mean env-sigs?',
    ],
    ['Unbound variable q', ['+', 'at'], '(let ((p 1)) q)', undefined],
    ['Unbound variable unlike-any', ['env-sigs'], '1', undefined],
    ['Cannot find module: coins', ['coin'], 'coin', undefined],
  ])('%j', (message, names, source, hint) => {
    expect(nameHint(message, names, source)).toBe(hint);
  });
});
