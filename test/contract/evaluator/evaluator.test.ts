/** The evaluation of expressions: variables, functions, types, bounds and the positions of failures. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { printedValue } from '../evaluate.ts';
import { faultOfCode } from '../faults.ts';
import { Transaction } from '../transaction.ts';

it('a function applied to nothing lacks arguments in dialect 4, and is the function itself in dialect 5', () => {
  const code = '(let ((f (lambda (a) (+ a 1)))) (typeof (f)))';
  expect(faultOfCode(code, 4).message).toBe('lambda: Incorrect number of arguments (0) supplied; expected 1');
  expect(printedValue(code, 5)).toBe('"<<closure>>"');
  const free = '(let ((f (lambda () 7))) (f))';
  expect([printedValue(free, 4), printedValue(free, 5)]).toEqual(['7', '7']);
});

describe('variables', () => {
  it.each<[string, Dialect, string]>([
    ['(let ((a 1)) (let ((a 2) (b a)) [a b]))', 4, '[2 1]'],
    ['(let ((a 1)) (let ((a 2) (b a)) [a b]))', 5, '[2 2]'],
    ['(let* ((a 1) (b [a a])) b)', 4, '[1 1]'],
    ['(let ((a 1)) (let ((f (lambda (b) [a b]))) (let ((a 2)) (f a))))', 4, '[1 2]'],
    ['(bind { "a": 1, "b": 2 } { "a" := x, "b" := y } [y x])', 4, '[2 1]'],
  ])('of %s in dialect %i', (code, dialect, text) => {
    expect(printedValue(code, dialect)).toBe(text);
  });

  it.each<[string, Dialect, string]>([
    ['(identity x)', 4, 'Cannot resolve x'],
    ['(identity x)', 5, 'Unbound variable x'],
    ['(identity m.x)', 4, 'Cannot resolve m.x'],
    ['(bind { "a": 1 } { "b" := x } x)', 4, 'Bad column in binding: b'],
  ])('that are missing: %s in dialect %i', (code, dialect, message) => {
    expect(faultOfCode(code, dialect).message).toBe(message);
  });
});

describe('functions', () => {
  it.each<[string, Dialect, string]>([
    ['(let ((f (lambda (x y) x))) (f 1))', 4, 'lambda: Incorrect number of arguments (1) supplied; expected 2'],
    ['(let ((f (lambda (x:integer) x))) (f "a"))', 4, 'Type error: expected integer, found string'],
    ['(let ((f (lambda (x:[integer]) x))) (f [1 "a"]))', 4, 'Type error: expected integer, found string'],
    ['(not 1)', 4, 'Invalid arguments, received [1] for x:bool -> bool'],
    ['(not 1)', 5, 'Type error: failed to call native function not with argument(s) of type(s): integer'],
    ['(not true false)', 5, 'Incorrect number of arguments (2) for native function not supplied; expected (1)'],
    ['(1 2)', 5, 'Cannot apply value to non-closure'],
  ])('that get what they cannot use: %s in dialect %i', (code, dialect, message) => {
    expect(faultOfCode(code, dialect).message).toBe(message);
  });

  it('see no variables of their callers', () => {
    expect(faultOfCode('(let ((f (lambda () a))) (let ((a 1)) (f)))').message).toBe('Cannot resolve a');
  });
});

describe('what is not needed is not evaluated:', () => {
  it.each([
    ['(if true 1 (enforce false "no"))', '1'],
    ['(and false (enforce false "no"))', 'false'],
    ['(or true (enforce false "no"))', 'true'],
    ['(enforce true (enforce false "no"))', 'true'],
    ['(constantly 1 (enforce false "no"))', '1'],
    ['(try 1 2)', '2'],
    ['(try 1 (enforce false "no"))', '1'],
    ['(enforce-one "none" [(enforce false "no") true (enforce false "no")])', 'true'],
    ['(identity (cond (false (enforce false "no")) (true 1) 2))', '1'],
  ])('%s', (code, text) => {
    expect(printedValue(code)).toBe(text);
  });
});

it('try catches only what enforce and its like raise', () => {
  expect(faultOfCode('(try 1 (identity x))').message).toBe('Cannot resolve x');
  expect(faultOfCode('(enforce-one "none" [false (enforce false "no")])')).toMatchObject({
    message: 'none',
    kind: 'tx-failure',
  });
});

it('a failure has the place of the innermost application that has failed', () => {
  const { position } = faultOfCode('(if true\n  (enforce false "no")\n  1)');
  expect(position).toMatchObject({ line: 2, column: 2 });
});

describe('a program without an end', () => {
  /** A function without a name can call itself only as its own argument. */
  const ENDLESS = '(let ((f (lambda (g x) (g g x)))) (f f 1))';

  it.each([4, 5] as const)('that calls itself fails when it is too deep, in dialect %i', (dialect) => {
    expect(faultOfCode(ENDLESS, dialect).message).toBe('Code is nested more than 300 evaluations deep');
  });

  it('that branches instead fails after a number of steps', () => {
    const branching = '(let ((f (lambda (g x) (if x (g g (and true (g g x))) (or x (g g x)))))) (try 1 (f f true)))';
    expect(faultOfCode(branching, 4, 50_000).message).toMatch(
      /^Code (?:takes more than 50000 steps|is nested more than)/,
    );
    const doubling = Array.from({ length: 30 }, (_, i) => `(x${i + 1} (lambda () (and (x${i}) (x${i}))))`).join(' ');
    expect(faultOfCode(`(let* ((x0 (lambda () true)) ${doubling}) (x30))`, 4, 50_000).message).toBe(
      'Code takes more than 50000 steps',
    );
  });
});

it('arguments of a capability take steps for each of their parts', () => {
  const transaction = new Transaction({ maxSteps: 50_000 });
  transaction.run(`(module m G (defcap G () true) (defcap C (l) true)
    (defun f (count) (let ((l (make-list 1000 1)))
      (length (map (lambda (i) (with-capability (C l) i)) (make-list count 1))))))`);
  expect(transaction.run('(m.f 20)')).toBe('20');
  expect(transaction.faultOf('(m.f 60)').message).toBe('Code takes more than 50000 steps');
});

it('a name that a schema shares with a module is a value only as that of the module', () => {
  const transaction = new Transaction({ dialect: 5 });
  transaction.run('(module ledger G (defcap G () true) (defun f () 1))');
  transaction.run(
    '(module m G (defcap G () true) (defschema ledger a:integer) (defun f:object{ledger} () { "a": 1 }))',
  );
  expect(transaction.run('[ledger]')).toBe('[ledger]');
  expect(transaction.run('(m.f)')).toBe('{"a": 1}');
});
