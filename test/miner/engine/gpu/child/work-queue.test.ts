import { beforeEach, expect, test } from 'vitest';
import { WorkQueue } from '#pickaxe/miner/engine/gpu/child/searcher.js';

const puzzle = { midstate: new Uint32Array(8), tail: new Uint32Array(16), target: new Uint32Array(8) };
const UNIT = 4;
const strip = (counter: number, counters: number) => ({ lane: 1, step: 1, page: 2, pages: 1, counter, counters });

let queue: WorkQueue;
beforeEach(() => {
  queue = new WorkQueue();
  queue.begin(1, puzzle);
  queue.add(1, strip(100, 50));
});

/** Search, first counter and size of the next dispatch. */
const next = (size: number) => {
  const piece = queue.next(size, UNIT);
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
  const piece = queue.next(40, UNIT)!;
  queue.again(piece, 20);
  expect([next(40), next(40), next(40)]).toEqual([
    [1, 100, 20],
    [1, 120, 20],
    [1, 140, 10],
  ]);
});

test('forgets a piece with too many hits when its search is stopped', () => {
  const piece = queue.next(40, UNIT)!;
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

test('cuts whole pages, each of which takes whole workgroups, once a page is smaller than a dispatch', () => {
  queue.stop(1);
  queue.begin(2, puzzle);
  const pages = { ...strip(0, 10), step: 65_536, pages: 5 };
  queue.add(2, pages);
  const cut = (size: number) => {
    const { page, pages, counter, counters } = queue.next(size, UNIT)!.range;
    return [page, pages, counter, counters];
  };
  // Ten counters take three workgroups of four.
  expect(cut(6)).toEqual([2, 1, 0, 6]);
  expect(cut(100)).toEqual([2, 1, 6, 4]);
  expect(cut(23)).toEqual([3, 1, 0, 10]);
  expect(cut(24)).toEqual([4, 2, 0, 10]);
  expect(cut(1_000)).toEqual([6, 1, 0, 10]);
  expect(queue.next(1, UNIT)).toBeUndefined();
});

test('cuts at most 256 pages', () => {
  queue.stop(1);
  queue.begin(2, puzzle);
  queue.add(2, { ...strip(0, 10), page: 0, pages: 300 });
  expect([1_000_000, 1_000_000].map((size) => queue.next(size, UNIT)?.range.pages)).toEqual([256, 44]);
});

test('a part of one workgroup has one page, so that its hits fit', () => {
  queue.stop(1);
  queue.begin(2, puzzle);
  queue.add(2, { ...strip(0, 1), pages: 9 });
  const piece = queue.next(1_000, UNIT)!;
  expect(piece.range.pages).toBe(9);
  queue.again(piece, UNIT);
  expect(queue.next(1_000, UNIT)?.range).toMatchObject({ pages: 1, counters: 1 });
});
