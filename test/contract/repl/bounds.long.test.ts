/** Numbers with so many digits that they must be bounded by the length of what is printed. */

import { expect, test } from 'vitest';
import { lastOf } from '../dialogue.ts';

test.each(['(^ 2 65535)', '(* 1.5 (^ 2 65000))'])(
  'the digits of numbers are characters of what is printed: %s',
  (number) => {
    const lists = `(fold (lambda (x y) [x x]) ${number} (enumerate 1 12))`;
    expect(lastOf(4, [lists], {}, 20_000_000)).toBe('A value has more than 8388608 characters');
  },
);
