import { describe, expect, it } from 'vitest';
import { BoundedMap, BoundedSet, TokenBucket } from '#pickaxe/base/system/bounded.js';

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

describe('a token bucket', () => {
  it('gives so many at once, and then so many a second', () => {
    const bucket = new TokenBucket(3, 2, 0);
    expect([1, 2, 3, 4].map(() => bucket.take(1, 0))).toEqual([true, true, true, false]);
    expect([bucket.take(1, 499), bucket.take(1, 500), bucket.take(1, 501)]).toEqual([false, true, false]);
    expect([1, 2, 3, 4].map(() => bucket.take(1, 100_000))).toEqual([true, true, true, false]);
  });

  it('can leave some for what is more important', () => {
    const bucket = new TokenBucket(3, 1, 0);
    expect([bucket.take(2, 0, 2), bucket.take(1, 0, 2), bucket.take(1, 0, 2)]).toEqual([false, true, false]);
    expect([bucket.take(2, 0), bucket.take(1, 0)]).toEqual([true, false]);
  });

  it('gives so many a second also to those who ask all the time', () => {
    const bucket = new TokenBucket(3, 0.1, 0);
    const given = Array.from({ length: 1_000 }, (_, tenth) => bucket.take(1, 100 * tenth));
    expect(given.filter(Boolean)).toHaveLength(3 + 9);
  });
});
