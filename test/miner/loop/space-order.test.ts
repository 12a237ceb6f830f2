import { describe, expect, it } from 'vitest';
import { Space } from '#pickaxe/miner/loop/space.js';
import { COUNTERS, PAGES, type Range, sizeOf } from '#pickaxe/protocol/chain/nonce.js';

const LANE = { lane: 0xabcd, step: 1 };
const ALL = { counters: COUNTERS, pages: PAGES };

const rectangle = (page: number, pages: number, counter: number, counters: number): Range => ({
  ...LANE,
  page,
  pages,
  counter,
  counters,
});

/** @returns what is left of a space, piece by piece, in the order of the pages and counters */
function piecesOf(space: Space): string[] {
  const pieces: Range[] = [];
  for (let piece = space.take(ALL); piece; piece = space.take(ALL)) pieces.push(piece);
  return pieces.sort((a, b) => a.page - b.page || a.counter - b.counter).map(shown);
}

const shown = ({ page, pages, counter, counters }: Range) => `${page}+${pages} × ${counter}+${counters}`;

describe('a new space', () => {
  it('begins on page 0 with counter 0, whatever is taken', () => {
    for (const most of [ALL, { counters: 512, pages: 9 }, { counters: 512, pages: 1 }]) {
      const space = new Space(LANE);
      expect(space.left).toBe(sizeOf(ALL));
      expect(space.take(most)).toMatchObject({ ...LANE, page: 0, counter: 0 });
    }
    expect(piecesOf(new Space(LANE))).toEqual([`0+${PAGES} × 0+${COUNTERS}`]);
  });

  it.each([1, 2, PAGES - 1])('that begins on page %i has the pages before it, too, for later', (page) => {
    const space = new Space(LANE, page);
    expect(space.left).toBe(sizeOf(ALL));
    expect(piecesOf(space)).toEqual([`0+${page} × 0+${COUNTERS}`, `${page}+${PAGES - page} × 0+${COUNTERS}`]);
  });

  it.each([1, 2, 512, COUNTERS - 1])('begins its first column at counter %i', (counter) => {
    const space = new Space(LANE, 0, counter);
    expect(space.take({ counters: 1, pages: 2 })).toMatchObject({ page: 0, counter });
  });

  it.each([
    ['one page begins at counter 0', 1, 0],
    ['two pages begins at the first column', 2, 1_024],
  ])('of which a device wants %s', (_, pages, counter) => {
    const space = new Space(LANE, 5, 1_024);
    expect(space.take({ counters: 512, pages })).toEqual({ ...LANE, page: 5, pages, counter, counters: 512 });
  });

  it('is divided once, and what is given back later is not', () => {
    const space = new Space(LANE, 5, 1_024);
    const first = space.take({ counters: 512, pages: 2 })!;
    const low = space.take({ counters: COUNTERS, pages: 1 })!;
    space.giveBack(first);
    for (let i = 0; i < 3; i++) space.take({ counters: 512, pages: 2 });
    space.giveBack(low);
    const pieces = piecesOf(space);
    expect(pieces).toContain(shown(low));
    expect(pieces).toContain(`0+5 × 0+1024`);
  });

  it('is divided once, and not in what was taken before, whether that is given back sooner or later', () => {
    const space = new Space(LANE, 5, 1_024);
    const small = space.take({ counters: 100, pages: 1 })!;
    const page = space.take({ counters: COUNTERS, pages: 1 })!;
    space.giveBack(small);
    space.take({ counters: 512, pages: 2 });
    space.giveBack(page);
    const pieces = piecesOf(space);
    expect(pieces).toContain(shown(small));
    expect(pieces).toContain(shown(page));
  });
});

describe('a space of ranges', () => {
  it('has exactly these, and gives the whole ones to whom wants all', () => {
    const ranges = [rectangle(3, 2, 0, 10), rectangle(9, 1, 5, 1), rectangle(20, 7, 1, 3)] as const;
    const space = Space.of([...ranges]);
    expect(space.left).toBe(20 + 1 + 21);
    expect(piecesOf(space)).toEqual(ranges.map(shown));
    expect(space.left).toBe(0);
    expect(space.take({ counters: 1, pages: 1 })).toBeUndefined();
  });

  it('gives the largest part first to an engine that wants more than there is, down to the last nonce', () => {
    const sizes = [1, 6, 3, 2, 5, 4];
    const space = Space.of(sizes.map((size) => rectangle(size, 1, 0, size)) as [Range, ...Range[]]);
    expect(sizes.map(() => sizeOf(space.take({ counters: 100, pages: 100 })!))).toEqual([6, 5, 4, 3, 2, 1]);
  });

  it('gives what was given back after everything else that suffices', () => {
    const space = Space.of([rectangle(0, 1, 0, 100)]);
    const wish = { counters: 10, pages: 1 };
    const first = space.take(wish)!;
    space.giveBack(first);
    const next = Array.from({ length: 10 }, () => space.take(wish)!.counter);
    expect(next).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 0]);
  });

  it.each([
    [4, 'all', 10],
    [5, 'all', 10],
    [6, 'what is left', 6],
  ])('that has pieces of %i and 10 gives %s to whom wants 10', (size, _, granted) => {
    const space = Space.of([rectangle(0, 1, 0, size), rectangle(5, 1, 0, 10)]);
    expect(space.take({ counters: 10, pages: 1 })?.counters).toBe(granted);
  });

  it.each([
    ['pages', { counters: 2, pages: 4 }, ['0+4 × 0+2', '4+3 × 0+2', '7+3 × 0+2', '0+4 × 2+2']],
    ['counters', { counters: 4, pages: 2 }, ['0+2 × 0+4', '0+2 × 4+3', '0+2 × 7+3', '2+2 × 0+4']],
  ])('uses up the narrow piece beside the first part before it cuts the rest: %s', (_, most, expected) => {
    const space = Space.of([rectangle(0, 10, 0, 10)]);
    expect(expected.map(() => shown(space.take(most)!))).toEqual(expected);
  });

  it('takes no empty range back', () => {
    const space = Space.of([rectangle(0, 1, 0, 10)]);
    space.giveBack(rectangle(7, 0, 0, 10));
    space.giveBack(rectangle(8, 1, 0, 0));
    space.giveBack(rectangle(9, 1, 3, 1));
    expect(piecesOf(space)).toEqual(['0+1 × 0+10', '9+1 × 3+1']);
  });

  it.each([
    ['pages of equal height', rectangle(0, 10, 0, 100), { counters: 100, pages: 4 }, [4, 3, 3]],
    ['fewer, if it divides evenly', rectangle(0, 9, 0, 100), { counters: 100, pages: 4 }, [3, 3, 3]],
    ['exactly what is wanted', rectangle(0, 8, 0, 100), { counters: 100, pages: 4 }, [4, 4]],
    ['all', rectangle(0, 3, 0, 100), { counters: 100, pages: 4 }, [3]],
  ])('is given out in parts that are nearly equal: %s', (_, range, most, expected) => {
    const space = Space.of([range]);
    const pages: number[] = [];
    for (let taken = space.take(most); taken; taken = space.take(most)) pages.push(taken.pages);
    expect(pages).toEqual(expected);
  });

  it.each([
    ['counters', rectangle(10, 10, 1_000, 100), { counters: 10, pages: 5 }, ['10+10 × 1010+90', '15+5 × 1000+10']],
    ['pages', rectangle(10, 100, 1_000, 10), { counters: 5, pages: 10 }, ['10+10 × 1005+5', '20+90 × 1000+10']],
  ])('keeps as many %s as it can in one piece', (_, range, most, expected) => {
    const space = Space.of([range]);
    expect(space.take(most)).toMatchObject({ page: 10, counter: 1_000, ...most });
    expect(space.left).toBe(1_000 - 50);
    expect(piecesOf(space)).toEqual(expected);
  });
});
