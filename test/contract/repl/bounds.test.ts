/** Programs that once took far longer than their number of steps. Each must use up its steps, or return its value. */

import { expect, test } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { MAX_LOAD_DEPTH, MAX_LOADS, Session } from '#pickaxe/contract/repl/repl-session.js';
import { lastOf, newSession } from '../dialogue.ts';

const outcome = (texts: readonly string[], maxSteps: number, dialect: Dialect = 4) =>
  lastOf(dialect, texts, {}, maxSteps);

const many = (count: number, item: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => item(at)).join('');

const MODULE = `(begin-tx)(module m G (defcap G () true) (defcap C (x) true) (defcap E (x) @event true)
  (defcap L (l) (map (lambda (x) (compose-capability (C x))) l))
  (defun listed (l) (with-capability (L l) 1)) (defun f (x) (enforce x "no"))
  (defun e (x) (emit-event (E x))))`;

const SIGNATURES = `(env-sigs [${'{"key":"a","caps":[]} '.repeat(1000)}])`;

/** Two texts of 8,193 characters that differ only in the last one: 128 steps for each comparison. */
const LONG_TEXTS = `(t (fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 10))) (a (+ t "a")) (b (+ t "b"))`;

test('an error for too many steps says how to allow more', () => {
  const session = new Session({ maxSteps: 100, stepsAdvice: 'ask', readFile: () => '', resolvePath: () => '' });
  expect(session.runText('(fold (+) 0 (enumerate 1 500))').error?.message).toBe('Code takes more than 100 steps: ask');
  expect(session.runText('(fold (+) 0 [1 2 3])').values).toEqual(['6']);
});

test.each<[name: string, maxSteps: number, texts: string[]]>([
  [
    'variables behind many scopes',
    200_000,
    [`(let* ((z 1) ${many(1000, (at) => `(v${at} 1)`)}) (fold (lambda (a x) (+ a z)) 0 (enumerate 1 4000)))`],
  ],
  [
    'keys of keysets that are there twice',
    20_000,
    ['(env-data {"k":(make-list 5000 "a")})', '(map (lambda (x) (read-keyset "k")) [1 2 3])'],
  ],
  [
    'signatures for keysets',
    20_000,
    [SIGNATURES, '(env-data {"k":["a"]})', '(map (lambda (x) (enforce-keyset (read-keyset "k"))) [1 2 3 4 5 6])'],
  ],
  ['failures that are caught', 20_000, ['(map (lambda (x) (try x (enforce false "a"))) (enumerate 1 500))']],
  ['failures of enforce-one', 20_000, [`(enforce-one "a" [${'(enforce false "b") '.repeat(500)} true])`]],
  ['calls that a failure comes through', 5_000, [MODULE, '(map (lambda (x) (try x (m.f false))) (enumerate 1 50))']],
  ['printed values', 5_000, ['(let ((l (make-list 1000 "abcde"))) (print l))']],
  ['values that a failed expectation shows', 5_000, ['(let ((l (make-list 1000 "abcde"))) (expect "a" l 1))']],
  [
    'compared values of expectations',
    15_000,
    ['(let* ((a (make-list 4000 1)) (b (make-list 4000 1))) (expect "a" [a a] [b b]))'],
  ],
  ['texts that are equal or not', 100_000, [`(let* (${LONG_TEXTS}) (length (filter (= a) (make-list 1000 b))))`]],
  ['texts before and behind others', 100_000, [`(let* (${LONG_TEXTS}) (length (filter (< a) (make-list 1000 b))))`]],
  ['sorted texts', 100_000, [`(let* (${LONG_TEXTS}) (length (sort (+ (make-list 500 b) (make-list 500 a)))))`]],
  [
    'objects that are sorted by texts',
    100_000,
    [`(let* (${LONG_TEXTS}) (length (sort ["k"] (+ (make-list 500 {"k": b}) (make-list 500 {"k": a})))))`],
  ],
  ['events', 30_000, [MODULE, '(length (map (m.e) (enumerate 1 1000)))']],
  ['composed capabilities', 40_000, [MODULE, '(m.listed (enumerate 1 250))']],
  [
    'proofs that are searched',
    10_000,
    [
      '(map (lambda (x) (mock-spv "t" {"a":x} {})) (enumerate 1 200))',
      '(map (lambda (x) (verify-spv "t" {"a":1})) (enumerate 1 200))',
    ],
  ],
])('%s count as steps', (_, maxSteps, texts) => {
  expect(outcome(texts, maxSteps)).toBe(`Code takes more than ${maxSteps} steps`);
  expect(outcome(texts, 20_000_000)).not.toMatch(/^Code takes/);
});

test('events by the hundred thousand use up the steps', () => {
  const texts = [MODULE, '(length (map (m.e) (enumerate 1 100000)))'];
  // Without the steps of the copies, a third of these steps would be enough.
  expect(outcome(texts, 2_000_000)).toBe('Code takes more than 2000000 steps');
});

test('a variable is found behind scopes in any number', () => {
  const variables = many(20_000, (at) => `(v${at} 1)`);
  expect(outcome([`(let* ((z 7) ${variables}) z)`], 20_000_000, 5)).toBe('7');
});

test('names that code brings in count as steps for each module that follows', () => {
  const functions = many(1000, (at) => `(defun f${at} () 1)`);
  const modules = [`(module m G (defcap G () true) ${functions})`, '(use m)'];
  expect(outcome(modules, 500)).toBe('Code takes more than 500 steps');
  expect(outcome(modules, 20_000)).toBe('"Using m"');
});

test('each form of a session may take the maximum of steps', () => {
  expect(outcome(['(enumerate 1 60)', '(length (enumerate 1 60))'], 100)).toBe('60');
  expect(outcome(['(length (enumerate 1 100))'], 100)).toBe('Code takes more than 100 steps');
});

test('files that load each other are bounded', () => {
  const load = '(load "again.repl")';
  const { error } = newSession(4, { 'first.repl': load, 'again.repl': load }).runFile('first.repl');
  expect(error?.message).toBe(`More than ${MAX_LOAD_DEPTH} files load each other`);
  expect(error?.place?.file).toBe('again.repl');
});

test('files that load others twice are bounded by their sum', () => {
  const names = Array.from({ length: 20 }, (_, at) => `${at}.repl`);
  const files = names.map((name, at) => [name, at < 19 ? `(load "${at + 1}.repl") (load "${at + 1}.repl")` : '1']);
  const { error } = newSession(4, Object.fromEntries(files)).runFile('0.repl');
  expect(error?.message).toBe(`More than ${MAX_LOADS} files are loaded`);
});
