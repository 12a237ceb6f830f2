/** A run ends when its session keeps too much, or on request. Code cannot catch this. */

import { expect, it, test } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { Session, type SessionOptions } from '#pickaxe/contract/repl/repl-session.js';
import { Kept } from '#pickaxe/contract/runtime/kept.js';

/** A text of 8,192 characters and a number. */
const TEXT = '(defun text (n) (+ (format "{}" [n]) (fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 10))))';
const MODULE = `(begin-tx)
(module m G (defcap G () true) (defschema s v:string) (deftable t:{s})
  (defcap E (x) @event true) (defun e (x) (emit-event (E x)))
  (defpact flow (x) (step (yield {"x": x})) (step 1))
  ${TEXT})
(create-table t)
(use m)`;

function sessionWith(options: Partial<SessionOptions>): Session {
  const readFile = () => `; ${'a'.repeat(8190)}\n`;
  return new Session({ dialect: 4, readFile, resolvePath: (_, path) => path, ...options });
}

test.each<[what: string, code: string]>([
  ['prints', '(map (lambda (n) (print (text n))) (enumerate 1 20))'],
  ['expectations that pass', '(map (lambda (n) (expect (text n) 1 1)) (enumerate 1 20))'],
  ['expectations that fail', '(map (lambda (n) (expect "a" (text n) 1)) (enumerate 1 20))'],
  ['rows', '(map (lambda (n) (insert m.t (format "{}" [n]) {"v": (text n)})) (enumerate 1 20))'],
  ['rows that replace each other', '(map (lambda (n) (write m.t "k" {"v": (text n)})) (enumerate 1 20))'],
  ['keys of rows', '(map (lambda (n) (insert m.t (text n) {"v": ""})) (enumerate 1 20))'],
  ['events', '(map (lambda (n) (m.e (text n))) (enumerate 1 20))'],
  ['defpacts', Array.from({ length: 20 }, (_, at) => `(m.flow (text ${at}))(pact-state true)`).join('\n')],
  ['proofs', '(map (lambda (n) (mock-spv "a" {"v": (text n)} {})) (enumerate 1 20))'],
  [
    'namespaces and keysets',
    '(env-data {"k": (map (text) (enumerate 1 20))})(define-namespace "n" (read-keyset "k") (read-keyset "k"))',
  ],
  ['constants of modules', `(module c G (defcap G () true) (use m) (defconst C (map (text) (enumerate 1 20))))`],
  ['files', '(map (lambda (n) (load "a")) (enumerate 1 20))'],
  ['small rows', '(map (lambda (n) (insert m.t (format "{}" [n]) {"v": ""})) (enumerate 1 400))'],
])('a session that keeps too much ends: %s', (_, code) => {
  for (const dialect of [4, 5] as Dialect[]) {
    const few = sessionWith({ dialect, maxKept: 100_000 });
    expect(few.runText(MODULE).error).toBeUndefined();
    const caught = few.runText(`${code}\n(expect "not reached" 1 2)`);
    expect(caught.error?.message).toBe('The run has ended: the session keeps more than 100000 characters');
    const many = sessionWith({ dialect, maxKept: 10_000_000 });
    many.runText(MODULE);
    expect(many.runText(code).error).toBeUndefined();
  }
});

it('constants outside of modules are counted', () => {
  const session = sessionWith({ dialect: 5, maxKept: 100_000 });
  session.runText(MODULE);
  const constants = Array.from({ length: 20 }, (_, at) => `(defconst C${at} (text ${at}))`);
  expect(session.runText(constants.join('\n')).error?.message).toMatch(/^The run has ended: the session keeps/);
});

it('a value with the same parts many times is counted in bounded time, and may be kept', () => {
  const session = sessionWith({ dialect: 5 });
  const doubled = '(defconst D (fold (lambda (l n) [l l]) ["a"] (enumerate 1 60)))';
  expect(session.runText(doubled).error).toBeUndefined();
});

it('code catches no end of a run', () => {
  for (const code of ['(try 1 (print (text 1)))', '(expect-failure "a" (m.e (text 1)))']) {
    const session = sessionWith({ maxKept: 8_000 });
    session.runText(MODULE);
    expect(session.runText(code)).toMatchObject({
      expectations: [],
      error: { message: 'The run has ended: the session keeps more than 8000 characters' },
    });
  }
});

it('traced values are counted', () => {
  const session = sessionWith({ maxKept: 60_000, onTrace: () => {}, readFile: () => `${MODULE}(text 1)(text 2)` });
  expect(session.runFile('a').error?.message).toMatch(/^The run has ended/);
  const untraced = sessionWith({ maxKept: 60_000, readFile: () => `${MODULE}(text 1)(text 2)` });
  expect(untraced.runFile('a').error).toBeUndefined();
});

it('results are bounded over several sessions, since their reports repeat them', () => {
  const reported = new Kept(100, 'the results have');
  const run = () => sessionWith({ reported }).runText(`(expect "${'a'.repeat(40)}" 1 1)`);
  expect(run().error).toBeUndefined();
  expect(run().error?.message).toBe('The run has ended: the results have more than 100 characters');
});

it('a run that must end ends within a form, with the place of the form and what was found before', () => {
  let asked = 0;
  const whyEnd = () => (++asked > 5 ? 'the time is over' : undefined);
  const files = { 'a.repl': '(expect "a" 1 1)\n (try 1 (length (map (+ 1) (enumerate 1 100000))))\n(expect "b" 1 1)' };
  const session = new Session({ dialect: 4, whyEnd, readFile: () => files['a.repl'], resolvePath: (_, path) => path });
  const { expectations, error } = session.runFile('a.repl');
  expect(expectations.map(({ text }) => text)).toEqual(['Expect: success: a']);
  expect(error).toMatchObject({
    message: 'The run has ended: the time is over',
    place: { file: 'a.repl', position: { line: 2, column: 1 } },
    frames: [],
  });
});

it('a run that must end begins no other form', () => {
  let isOver = false;
  const session = sessionWith({
    whyEnd: () => (isOver ? 'the time is over' : undefined),
    onPrint: () => (isOver = true),
  });
  const { values, error } = session.runText('(print "a")\n(print "b")');
  expect(values).toHaveLength(1);
  expect(error?.message).toBe('The run has ended: the time is over');
});
