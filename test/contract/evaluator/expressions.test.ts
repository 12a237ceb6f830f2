/** The evaluator on expressions whose values the sources state. */

import { describe, expect, it } from 'vitest';
import { ContractError } from '#pickaxe/contract/errors.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { Decimal } from '#pickaxe/contract/values/decimal.js';
import { areEqual, type Value } from '#pickaxe/contract/values/values.js';
import { evaluate } from '../evaluate.ts';
import { type ExpressionVector, vectors } from '../vectors.ts';

/** Functions whose last bit differs from one version of Node.js to another. */
const BINARY64 = /\((\^|log|ln|exp|sqrt) /;
const RELATIVE_ERROR = 1e-12;

/** Those of which only natives that this evaluator has are part. */
function isKnown({ code }: ExpressionVector, native: string): boolean {
  const called = Array.from(code.matchAll(/\(([^\s()[\]{}"]+)/g), ([, name]) => name);
  const isForm = (name: string) => ['lambda', 'let', 'let*', 'cond'].includes(name);
  return (
    (NATIVES.has(native) || isForm(native)) &&
    called.every((name) => NATIVES.has(name) || isForm(name) || /^(?:[a-z]|\d)$/.test(name))
  );
}

describe.each([4, 5] as const)('in dialect %i', (dialect) => {
  const all = Object.entries(vectors.expressions).flatMap(([native, each]) =>
    each.filter((vector) => vector.dialects.includes(`${dialect}`) && isKnown(vector, native)),
  );
  it.each(all)('$code', ({ code, prints, equals, error, fails }) => {
    if (error !== undefined || fails) {
      expect(() => evaluate(code, dialect)).toThrow(error ?? ContractError);
      return;
    }
    const { value, text } = evaluate(code, dialect);
    if (BINARY64.test(code) && value instanceof Decimal) {
      expectClose(value, evaluate(equals ?? prints ?? '', dialect).value);
      return;
    }
    if (prints !== undefined) expect(text).toBe(prints);
    if (equals !== undefined) expect(areEqual(value, evaluate(equals, dialect).value)).toBe(true);
  });
});

function expectClose(actual: Decimal, expected: Value): void {
  expect(expected).toBeInstanceOf(Decimal);
  const wanted = (expected as Decimal).toNumber();
  expect(Math.abs(actual.toNumber() - wanted)).toBeLessThanOrEqual(RELATIVE_ERROR * Math.abs(wanted));
}
