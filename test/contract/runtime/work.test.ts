/** Work on long texts and long logs, which takes steps each time it is done. */

import { expect, it } from 'vitest';
import { anything } from '../tables/modules.ts';
import { Transaction } from '../transaction.ts';

/** A variable with a text of 8,192 characters. */
const TEXT = '(t (fold (lambda (a b) (+ a a)) "abcdefgh" (enumerate 1 10)))';

it.each(['(take 1 t)', '(take -1 t)', '(drop 1 t)', '(drop -1 t)'])('%s takes steps for the whole text', (code) => {
  const often = `(let* (${TEXT}) (length (map (lambda (i) ${code}) (enumerate 1 50))))`;
  expect(new Transaction({ maxSteps: 100_000 }).faultOf(often).message).toBe('Code takes more than 100000 steps');
  expect(new Transaction({ maxSteps: 2_000_000 }).run(often)).toBe('50');
});

it('the log of a transaction takes steps for each of its writes', () => {
  const transaction = anything({ maxSteps: 100_000 });
  transaction.commit(3n, '(map (lambda (i) (write m.t "a" { "v": i })) (enumerate 1 1000))');
  const often = (many: number) => `(length (map (lambda (i) (length (txlog m.t 3))) (enumerate 1 ${many})))`;
  expect(transaction.run(often(2))).toBe('2');
  expect(transaction.faultOf(often(110)).message).toBe('Code takes more than 100000 steps');
});
