/** The steps that natives of lists count, so that long lists and texts take no more work than the bound of steps. */

import { expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { evaluate } from '../evaluate.ts';

/** @returns the least number of steps with which code can be evaluated @param most an upper bound */
function stepsOf(code: string, dialect: Dialect, most = 1_024): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    try {
      evaluate(code, dialect, middle);
      high = middle;
    } catch {
      low = middle + 1;
    }
  }
  return low;
}

const lists: [code: string, perItem: number][] = [
  ['(take 1 LIST)', 1],
  ['(drop -1 LIST)', 1],
  ['(take (map (lambda (x) "a") LIST) {"a": 1})', 3],
  ['(reverse LIST)', 1],
  ['(distinct LIST)', 1],
  ['(contains 2 LIST)', 1],
  ['(length LIST)', 0],
  ['(at 0 LIST)', 0],
  // One for the item, and one for its comparison.
  ['(sort LIST)', 2],
  ['(sort ["a"] (map (lambda (x) {"a": 1}) LIST))', 5],
  // One for the item, and one for the call.
  ['(map (lambda (x) x) LIST)', 2],
  ['(filter (lambda (x) true) LIST)', 2],
  ['(fold (lambda (a x) a) 0 LIST)', 2],
  // The list is made twice.
  ['(zip (lambda (x y) x) LIST LIST)', 3],
];

it.each(([4, 5] as const).flatMap((dialect) => lists.map(([code, perItem]) => ({ dialect, code, perItem }))))(
  '$code counts $perItem steps for each item, in dialect $dialect',
  ({ dialect, code, perItem }) => {
    const steps = (count: number) => {
      const list = `(make-list ${count} 1)`;
      return stepsOf(code.replaceAll('LIST', list), dialect) - stepsOf(list, dialect);
    };
    expect((steps(30) - steps(10)) / 20).toBe(perItem);
  },
);

it.each(['(make-list COUNT 1)', '(enumerate 1 COUNT)', '(enumerate COUNT 1)'])('%s counts its items', (code) => {
  const [few, many] = [10, 40].map((count) => stepsOf(code.replaceAll('COUNT', `${count}`), 4));
  expect(many - few).toBe(30);
});

it.each([
  ['(take 1 TEXT)', 1],
  ['(length TEXT)', 1],
  ['(contains "b" TEXT)', 1 / 16],
  ['(sort [TEXT TEXT])', 1 / 64],
] as const)('%s counts %d steps for each character', (code, perCharacter) => {
  const [few, many] = [64, 64 * 11].map((length) => stepsOf(code.replaceAll('TEXT', `"${'a'.repeat(length)}"`), 4));
  expect((many - few) / 640).toBe(perCharacter);
});

it.each(['["a" 1]', '[1 "a"]', '["a" [1]]', '[[1] "a"]'])('(sort %s) counts as sorting numbers does', (list) => {
  expect(stepsOf(`(sort ${list})`, 4) - stepsOf(list, 4)).toBe(stepsOf('(sort [2 1])', 4) - stepsOf('[2 1]', 4));
});

it.each([4, 5] as const)('a pairing of points counts thousands of steps for each pair, in dialect %i', (dialect) => {
  const steps = (count: number) => {
    const points = `(make-list ${count} {'x: 0, 'y: 0}) (make-list ${count} {'x: [0], 'y: [0]})`;
    return stepsOf(`(pairing-check ${points})`, dialect, 100_000) - stepsOf(`[${points}]`, dialect);
  };
  expect((steps(3) - steps(1)) / 2).toBeGreaterThanOrEqual(15_000);
  expect(steps(1)).toBeGreaterThanOrEqual(30_000);
});
