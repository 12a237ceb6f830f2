/**
 * The charges of the table model in dialect 5, in thousandths of a unit. The rules were held against the figures that
 * the language states for each of its natives, for module loads, and for its coin contract.
 */

import { describe, expect, it } from 'vitest';
import { dialogue } from '../dialogue.ts';
import { hashOf5 } from '../hashes.ts';

/** @returns the charge for the last input, in thousandths of a unit */
function charge(inputs: readonly string[]): number {
  const { say } = dialogue(5, '(env-gasmodel "table")', ...inputs.slice(0, -1));
  say('(env-set-milligas 0)');
  say(inputs[inputs.length - 1]);
  return Number(say('(env-milligas)'));
}

describe('calls of natives', () => {
  it.each<[code: string, thousandths: number]>([
    ['(+ 7 8)', 130],
    ['(- 7)', 100],
    ['(+ 1.5 2)', 130],
    [`(+ ${2n ** 663n} 1)`, 130],
    [`(+ ${2n ** 664n} 1)`, 169],
    [`(+ 1 ${2n ** 1599n})`, 500],
    ['(* 7 300)', 127],
    [`(* ${2n ** 663n} 2)`, 225],
    [`(* ${2n ** 664n} 2)`, 169],
    ['(/ 300.0 7)', 127],
    ['(+ "ab" "cde")', 600],
    ['(+ [1] [2 3])', 700],
    ['(+ {"a": 1} {"b": 2})', 500],
    ['(^ 2 8)', 316],
    ['(= 3 4)', 264],
    ['(= "abc" "abcd")', 203],
    ['(< 1.0 2.0)', 290],
    ['(= [1 2] [1 3])', 1028],
    ['(= {"a": 1} {"b": 1})', 400],
    ['(at 0 [1 2])', 300],
    ['(at "ab" {"ab": 1, "b": 2})', 304],
    ['(map (+ 2) [1 2])', 910],
    ['(map (lambda (x) x) [1 2])', 650],
    ['(filter (< 1) [1 2])', 1028],
    ['(fold (+) 0 [1 2])', 760],
    ['(zip (+) [1 2] [3])', 630],
    ['(compose (+ 1) (* 2) 3)', 356],
    ['(contains 2 [1 2 3])', 728],
    ['(contains "b" "abc")', 204],
    ['(distinct [1 1 2])', 728],
    ['(sort [2 1])', 300],
    ['(reverse [1 2])', 500],
    ['(take 2 "abc")', 300],
    ['(take -2 [1 2 3])', 600],
    ['(drop 1 [1 2])', 300],
    ['(concat ["ab" "c"])', 680],
    ['(format "{}-{}" ["ab" 7])', 1900],
    ['(format "no" [])', 111],
    ['(length "abc")', 101],
    ['(make-list 3 7)', 136],
    ['(enumerate 1 4)', 132],
    ['(str-to-list "abc")', 551],
    ['(str-to-int "123")', 116],
    ['(int-to-str 10 123)', 400],
    ['(hash "abc")', 400],
    ['(hash [1])', 2100],
    ['(if (> 2 1) "a" "b")', 264],
    ['(and true (not false))', 100],
    ['(or? (> 1) (> 2) 1)', 628],
    ['(cond (false 1) 2)', 100],
    ['(try 1 (enforce false "no"))', 100],
    ['(enforce-one "no" [false true])', 100],
    ['(let ((x 1) (y [2])) x)', 100],
    ['(let ((x:[integer] [1 2])) 1)', 250],
    ['(bind {"a": 1} {"a" := x} x)', 376],
    ['((lambda (x y) x) 1 2)', 100],
    ['(let ((f (lambda (x y) x))) (map (f 1) [2 3]))', 850],
    ['(map (constantly 7) [1])', 475],
    ['(fold (and) true [true false])', 750],
    ['(time "2020-01-01T00:00:00Z")', 500],
    ['(format-time "%F" (time "2020-01-01T00:00:00Z"))', 1041],
    ['(parse-time "%F" "2020-01-01")', 602],
    ['(days 2)', 278],
    ['(exp 2)', 2064],
    ['(ln 8)', 1008],
    ['(sqrt 16)', 1010],
    ['(shift 3 2)', 158],
    ['(hash-poseidon 1 2)', 400_200],
    ['(base64-encode "abc")', 266],
    ['(is-principal "k:abc")', 126],
    ['(show 1)', 1300],
  ])('%s', (code, thousandths) => {
    expect(charge([code])).toBe(thousandths);
  });
});

const MODULE = `(module m G (defcap G () true)
  (defschema row n:integer name:string) (deftable t:{row})
  (defcap C (n:integer) true) (defcap E (n:integer) @event true)
  (defun none () 1) (defun two (a b:[integer]) (map (+ a) b))
  (defun with () (with-capability (C 1) (require-capability (C 1))))
  (defun tell () (emit-event (E 1)))
  (defpact p (a) (step (yield {"a": a})) (step (resume {"a" := x} x))))`;

describe('after a module was loaded', () => {
  it.each<[inputs: readonly string[], thousandths: number]>([
    [['(m.none)'], 0],
    [['(m.two 1 [2])'], 630],
    [['(m.with)'], 750],
    [['(m.tell)'], 1075],
    [['(m.p 1)'], 25_475],
    [['(m.p 1)', '(continue-pact 1)'], 20_276],
    [['(create-table m.t)'], 250_000],
    [['(create-table m.t)', '(insert m.t "k" {"n": 1, "name": "a"})'], 33_450],
    [['(create-table m.t)', '(write m.t "k" {"n": 1, "name": "a"})', '(update m.t "k" {"n": 2})'], 29_750],
    [['(create-table m.t)', '(write m.t "k" {"n": 1, "name": "a"})', '(read m.t "k")'], 6600],
    [['(create-table m.t)', '(write m.t "k" {"n": 1, "name": "a"})', '(with-read m.t "k" {"n" := n} n)'], 6777],
    [['(create-table m.t)', '(with-default-read m.t "k" {"n": 1} {"n" := n} n)'], 2776],
    [['(create-table m.t)', '(write m.t "k" {"n": 1, "name": "a"})', '(select m.t (constantly true))'], 40_000_150],
    [['(create-table m.t)', '(keys m.t)'], 40_000_000],
    [['(env-data {"k": ["a"]})', '(define-keyset "k")'], 7601],
    [['(env-data {"n": "12"})', '(read-integer "n")'], 242],
    [['(describe-module "m")'], 100_000],
  ])('%j', (inputs, thousandths) => {
    expect(charge([MODULE, ...inputs])).toBe(thousandths);
  });
});

describe('reading a module', () => {
  const before = [
    '(begin-tx)',
    `(interface i (defun f:integer ())) (module m G (defcap G () true) (implements i) (defun f:integer () 1) (defun g () 2))
     (module r G (defcap G () true) (defschema s it:module{i}) (deftable t:{s})
       (defun call () (with-read t "k" {"it" := it:module{i}} (it::f))))
     (create-table r.t) (insert r.t "k" {"it": m})`,
    '(commit-tx)',
    '(begin-tx)',
  ];

  it.each<[inputs: readonly string[], thousandths: number]>([
    [['(m.f)'], 12],
    [['(r.call)'], 6303],
    [['(m.f)', '(r.call)'], 6411],
  ])('costs more where its names become those of the transaction: %j', (inputs, thousandths) => {
    expect(charge([...before, ...inputs])).toBe(thousandths);
  });
});

describe('loading', () => {
  it.each<[inputs: readonly string[], thousandths: number]>([
    [[MODULE], 978_215],
    [
      ['(interface i (defun f:integer (a:string)) (defconst C 1) (defcap D (x:integer) @managed x g) (defun g (a b)))'],
      203_000,
    ],
    [
      ['(begin-tx)', MODULE, '(commit-tx)', '(begin-tx)', '(module n G (defcap G () true) (defun f () (m.two 1 [2])))'],
      349_102,
    ],
    [[MODULE, '(module n G (use m) (defcap G () true) (defconst K [(two 1 [2])]) (defun f () (two 1 [2])))'], 425_210],
    [[MODULE, '(interface i (defconst K (m.none)))'], 683_300],
    [['(module one G (defcap G () true) (defun f () 1))', '(interface i (defconst K (one.f)))'], 166_300],
    // The hash is charged when the code is translated, hashed and stored.
    [[MODULE, '(module n G (use m) (defcap G () true))'], 132_505],
    [[MODULE, `(module n G (use m "${hashOf5(MODULE)}") (defcap G () true))`], 157_705],
    [[MODULE, '(static-redeploy "m")'], 509_900],
    [['(module s G (defcap G () true) (defun f () 1))'], 161_015],
  ])('%j', (inputs, thousandths) => {
    expect(charge(inputs)).toBe(thousandths);
  });
});
