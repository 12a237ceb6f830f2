import { expect, it } from 'vitest';
import { BoundedMap, BoundedSet } from '#pickaxe/base/system/bounded.js';

it('a map keeps its newest entries, and one that is set again is the newest', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});

it('a set keeps its newest members, and one that is added again is the newest', () => {
  const set = new BoundedSet<number>(2);
  set.add(1).add(2).add(1).add(3);
  expect([...set]).toEqual([1, 3]);
});
