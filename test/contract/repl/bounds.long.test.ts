/** Numbers with so many digits that they must be bounded by the length of what is printed. */

import { expect, test } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { newSession } from '../dialogue.ts';

/** @returns the failure of the last text; without one, its value */
function outcome(texts: readonly string[], maxSteps: number, dialect: Dialect = 4): string | undefined {
  const session = newSession(dialect, {}, maxSteps);
  let last: string | undefined;
  for (const text of texts) {
    const { values, error } = session.runText(text);
    last = error?.message ?? values.at(-1);
  }
  return last;
}

test.each(['(^ 2 65535)', '(* 1.5 (^ 2 65000))'])(
  'the digits of numbers are characters of what is printed: %s',
  (number) => {
    const lists = `(fold (lambda (x y) [x x]) ${number} (enumerate 1 12))`;
    expect(outcome([lists], 20_000_000)).toBe('A value has more than 8388608 characters');
  },
);
