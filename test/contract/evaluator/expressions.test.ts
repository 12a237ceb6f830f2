/** Expressions whose values the sources state. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { newSession } from '../dialogue.ts';
import { vectors } from '../vectors.ts';

/** Functions whose last bit differs between versions of Node.js. */
const BINARY64 = /\((\^|log|ln|exp|sqrt) /;
const RELATIVE_ERROR = 1e-12;

/** @returns what the interpreter prints, or its failure */
function resultOf(code: string, dialect: Dialect) {
  const { values, error } = newSession(dialect).runText(code);
  return { text: values.at(-1), fault: error?.message };
}

describe.each([4, 5] as const)('in dialect %i', (dialect) => {
  const all = Object.values(vectors.expressions)
    .flat()
    .filter(({ dialects }) => dialects.includes(`${dialect}`));

  it.each(all)('$code', ({ code, prints, equals, error, fails }) => {
    const { text, fault } = resultOf(code, dialect);
    if (error !== undefined || fails) {
      expect(fault).toContain(error ?? '');
      return;
    }
    expect(fault).toBeUndefined();
    const wanted = prints ?? resultOf(equals ?? '', dialect).text;
    if (BINARY64.test(code) && Number.isFinite(Number(wanted))) {
      expect(Math.abs(Number(text) - Number(wanted))).toBeLessThanOrEqual(RELATIVE_ERROR * Math.abs(Number(wanted)));
      return;
    }
    if (prints !== undefined) expect(text).toBe(prints);
    if (equals !== undefined) expect(resultOf(`(= ${code} ${equals})`, dialect).text).toBe('true');
  });
});
