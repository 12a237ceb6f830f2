import { beforeEach, expect, test } from 'vitest';
import { WorkQueue } from '#pickaxe/engine/gpu/child/searcher.js';

const puzzle = { midstate: new Uint32Array(8), tail: new Uint32Array(16), target: new Uint32Array(8) };
const strip = (counter: number, counters: number) => ({ lane: 1, page: 2, pages: 1, counter, counters });

let queue: WorkQueue;
beforeEach(() => {
  queue = new WorkQueue();
  queue.begin(1, puzzle);
  queue.add(1, strip(100, 50));
});

/** Search, first counter and size of the next dispatch. */
const next = (size: number) => {
  const piece = queue.next(size);
  return piece && [piece.search.id, piece.range.counter, piece.range.counters];
};

test('cuts strips in order', () => {
  queue.add(1, strip(7, 3));
  expect([next(30), next(30), next(30), next(30)]).toEqual([[1, 100, 30], [1, 130, 20], [1, 7, 3], undefined]);
});

test('prefers the newest search that has work', () => {
  queue.begin(2, puzzle);
  expect(next(10)).toEqual([1, 100, 10]);
  queue.add(2, strip(0, 5));
  expect([next(10), next(10)]).toEqual([
    [2, 0, 5],
    [1, 110, 10],
  ]);
});

test('drops the waiting ranges of a stopped search', () => {
  expect(next(10)).toEqual([1, 100, 10]);
  expect(queue.stop(1)).toMatchObject({ stopped: true, dispatched: 1 });
  expect(next(10)).toBeUndefined();
});

test('searches a piece with too many hits again in parts, and keeps to smaller ones', () => {
  const piece = queue.next(40)!;
  queue.again(piece, 20);
  expect([next(40), next(40), next(40)]).toEqual([
    [1, 100, 20],
    [1, 120, 20],
    [1, 140, 10],
  ]);
});

test('forgets a piece with too many hits when its search is stopped', () => {
  const piece = queue.next(40)!;
  queue.stop(1);
  queue.again(piece, 20);
  expect(next(40)).toBeUndefined();
});

test('ignores searches that it does not know or has forgotten', () => {
  queue.forget(1);
  queue.add(1, strip(0, 1));
  expect(next(10)).toBeUndefined();
  expect(queue.stop(1)).toBeUndefined();
});
