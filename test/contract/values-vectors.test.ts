import { describe, expect, it } from 'vitest';
import { Decimal } from '#pickaxe/contract/decimal.js';
import { ContractError } from '#pickaxe/contract/errors.js';
import { printed } from '#pickaxe/contract/printing.js';
import { areEqual, type Value } from '#pickaxe/contract/values.js';
import { evaluate, isSmall } from './small-evaluator.ts';
import { vectors } from './vectors.ts';

/** Computed with binary64 functions, whose last digits differ from one machine's library to another's. */
const TRANSCENDENTAL = /\((\^|log|ln|exp|sqrt) /;
const RELATIVE_ERROR = 1e-12;
const small = Object.entries(vectors.expressions).flatMap(([native, all]) =>
  all
    .filter(({ code, equals = '' }) => isSmall(code) && isSmall(equals))
    .flatMap((vector) => vector.dialects.map((dialect) => ({ native, vector, dialect: Number(dialect) as 4 | 5 }))),
);

describe('expressions of the sources', () => {
  it('are checked in great number', () => {
    expect(new Set(small.map(({ vector }) => vector)).size).toBeGreaterThanOrEqual(150);
  });

  it.each(small)('$vector.code in dialect $dialect', ({ vector, dialect }) => {
    const { code, prints, equals, error } = vector;
    if (prints === undefined && equals === undefined) {
      const failing = () => evaluate(code, dialect);
      expect(failing).toThrow(ContractError);
      if (error !== undefined) expect(failing).toThrow(error);
      return;
    }
    const value = evaluate(code, dialect);
    const isRounded = TRANSCENDENTAL.test(code) && value instanceof Decimal;
    if (prints !== undefined && isRounded) expectClose(value, evaluate(prints, dialect));
    else if (prints !== undefined) expect(printed(value, { dialect })).toBe(prints);
    if (equals !== undefined && isRounded) expectClose(value, evaluate(equals, dialect));
    else if (equals !== undefined) expect(areEqual(value, evaluate(equals, dialect))).toBe(true);
  });
});

function expectClose(actual: Decimal, expected: Value): void {
  const wanted = Number((expected as Decimal).toString());
  expect(Math.abs(actual.toNumber() - wanted)).toBeLessThanOrEqual(RELATIVE_ERROR * Math.abs(wanted));
}
