/** The largest values that code can make: each bound, and the first value beyond it. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { MAX_BITS } from '#pickaxe/contract/values/integers.js';
import { MAX_CHARACTERS, MAX_PARTS } from '#pickaxe/contract/values/values.js';
import { lastOf } from '../dialogue.ts';

const DOUBLED = (text: string, times: number) => `(fold (lambda (a b) (+ a a)) ${text} (enumerate 1 ${times}))`;

describe.each<Dialect>([4, 5])('in dialect %i', (dialect) => {
  it.each([
    [`(length (make-list ${MAX_PARTS} 1))`, `${MAX_PARTS}`],
    [`(make-list ${MAX_PARTS + 1} 1)`, `A value has more than ${MAX_PARTS} parts`],
    [`(length (enumerate 1 ${MAX_PARTS}))`, `${MAX_PARTS}`],
    [`(enumerate 0 ${MAX_PARTS})`, `A value has more than ${MAX_PARTS} parts`],
    [`(= 0 (shift 1 ${MAX_BITS - 1}))`, 'false'],
    [`(shift 1 ${MAX_BITS})`, `A number has more than ${MAX_BITS} bits`],
    [`(= 0 (^ 2 ${MAX_BITS - 1}))`, 'false'],
    [`(^ 2 ${MAX_BITS})`, `A number has more than ${MAX_BITS} bits`],
    [`(^ 1 ${MAX_BITS + 1})`, '1'],
    [`(+ (shift 1 ${MAX_BITS - 1}) (shift 1 ${MAX_BITS - 1}))`, `A number has more than ${MAX_BITS} bits`],
    [`(length ${DOUBLED('"a"', Math.log2(MAX_CHARACTERS))})`, `${MAX_CHARACTERS}`],
    [`(length ${DOUBLED('"a"', Math.log2(MAX_CHARACTERS) + 1)})`, `A value has more than ${MAX_CHARACTERS} characters`],
  ])('%s', (code, outcome) => {
    expect(lastOf(dialect, [code], {}, 100_000_000)).toBe(outcome);
  });
});
