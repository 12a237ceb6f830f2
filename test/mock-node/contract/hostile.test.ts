/** Code that wants to take more time or memory than anybody can pay for: it fails, and the node goes on. */

import { beforeAll, describe, expect, it } from 'vitest';
import { parseLocalAnswer } from '#pickaxe/ledger/command/results.js';
import { at } from '../ask.ts';
import { alice, startBank } from './bank.ts';
import { codeOn } from './deployed.ts';

const times = (count: number, text: string) => text.repeat(count);

const CODE: readonly [string, string][] = [
  [
    'loops in loops',
    '(fold (lambda (a b) (+ a (length (map (+ 1) (enumerate 1 100000))))) 0 (enumerate 1 100000))',
  ],
  ['lists of lists', '(fold (lambda (a b) [a a a a]) [1] (enumerate 1 1000))'],
  ['a list that doubles', '(fold (lambda (a b) (+ a a)) [1 2 3 4] (enumerate 1 60))'],
  ['a text that doubles', '(fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 60))'],
  ['a huge list', '(make-list 1000000000000 1)'],
  ['a huge enumeration', '(enumerate 1 1000000000000000)'],
  ['a huge power', '(^ 9999999 99999999)'],
  ['a tower of squares', '(fold (lambda (a b) (* a a)) 99 (enumerate 1 60))'],
  ['a huge shift', '(shift 1 1000000000000)'],
  ['formats in formats', '(fold (lambda (a b) (format "{}{}{}{}" [a a a a])) "x" (enumerate 1 60))'],
  ['deep code', `${times(5_000, '(+ 1 ')}1${times(5_000, ')')}`],
  ['deep lists', `${times(20_000, '[')}${times(20_000, ']')}`],
  ['deep data', `(length ${times(250, '[')}1${times(250, ']')})`],
  [
    'functions that call functions',
    `(namespace "free") (module m G (defcap G () true) (defun f0 (n) n) ${Array.from({ length: 40 }, (_, i) => `(defun f${i + 1} (n) (+ (f${i} n) (f${i} n)))`).join(' ')}) (free.m.f40 1)`,
  ],
  ['catching what fails', '(fold (lambda (a b) (try 0 (length (make-list 1000000 b)))) 0 (enumerate 1 100000))'],
  ['comparisons of long texts', '(let ((t (fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 13)))) (map (lambda (i) (= (+ t "a") (+ t "b"))) (enumerate 1 100000)))'],
  ['hashes of long texts', '(let ((t (fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 13)))) (map (lambda (i) (hash t)) (enumerate 1 100000)))'],
];

let bank: Awaited<ReturnType<typeof startBank>>;

describe('hostile code', () => {
  beforeAll(async () => {
    bank = await startBank();
  });

  it.each(CODE)('%s', async (_, code) => {
    // Deep lists are no failure where they can be read, so this only has to end.
    const asked = await bank.local(0, codeOn(0, code, { meta: { gasLimit: 1_000_000_000 } }));
    const result = asked.status === 200 ? parseLocalAnswer(asked.json).outcome.status : 'refused';
    console.log(_, asked.status, asked.text.slice(0, 300));
  });
});
