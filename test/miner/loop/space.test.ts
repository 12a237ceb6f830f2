import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Space } from '#pickaxe/miner/loop/space.js';
import {
  COUNTERS,
  countersAt,
  isNonceWithin,
  joinNonce,
  laneWithin,
  type Nonce1,
  PAGES,
  type Range,
  sizeOf,
} from '#pickaxe/protocol/chain/nonce.js';

const LANE = { lane: 0xabcd, step: 1 };
const WHOLE = COUNTERS * PAGES;

function overlap(a: Range, b: Range): boolean {
  return (
    a.counter < b.counter + b.counters &&
    b.counter < a.counter + a.counters &&
    a.page < b.page + b.pages &&
    b.page < a.page + a.pages
  );
}

/** @returns the number of rectangles of a space: an engine that wants everything gets them one at a time */
function piecesOf(space: Space): number {
  let pieces = 0;
  while (space.take({ counters: COUNTERS, pages: PAGES })) pieces++;
  return pieces;
}

const shape = fc.oneof(
  fc.record({ counters: fc.constant(512), pages: fc.integer({ min: 1, max: 20_000 }) }),
  fc.record({ counters: fc.integer({ min: 1, max: 2 ** 28 }), pages: fc.constant(1) }),
  fc.record({ counters: fc.integer({ min: 1, max: COUNTERS }), pages: fc.integer({ min: 1, max: PAGES }) }),
);

const first = fc.record({
  page: fc.integer({ min: 0, max: PAGES - 1 }),
  counter: fc.integer({ min: 0, max: COUNTERS - 1 }),
});

/** Any nonce1, with the miner's choice of a lane that the nonce1 leaves open. */
const anyNonce1: fc.Arbitrary<Nonce1> = fc
  .constantFrom(0, 1, 2, 3, 4)
  .chain((bytes) => fc.record({ bytes: fc.constant(bytes as Nonce1['bytes']), value: fc.nat(2 ** (8 * bytes) - 1) }));

describe('a space', () => {
  it('gives out disjoint ranges of its lane, no larger than asked for, and keeps count', () => {
    fc.assert(
      fc.property(anyNonce1, first, fc.array(shape, { maxLength: 60 }), (nonce1, { page, counter }, shapes) => {
        const lane = laneWithin(nonce1, 0xabcd);
        const counters = countersAt(lane.step);
        const space = new Space(lane, page, counter % counters);
        const taken: Range[] = [];
        for (const [i, most] of shapes.entries()) {
          const range = space.take(most);
          if (!range) continue;
          expect(range).toMatchObject(lane);
          expect(range.counters).toBeLessThanOrEqual(most.counters);
          expect(range.pages).toBeLessThanOrEqual(most.pages);
          expect(range.counter + range.counters).toBeLessThanOrEqual(counters);
          expect(range.page + range.pages).toBeLessThanOrEqual(PAGES);
          const last = { page: range.page + range.pages - 1, counter: range.counter + range.counters - 1 };
          for (const nonce of [range, { ...range, ...last }])
            expect(isNonceWithin(nonce1, joinNonce(nonce))).toBe(true);
          expect(taken.find((other) => overlap(range, other))).toBeUndefined();
          if (i % 5 === 4) space.giveBack(range);
          else taken.push(range);
        }
        expect(space.left + taken.reduce((sum, range) => sum + sizeOf(range), 0)).toBe(counters * PAGES);
      }),
    );
  });

  it.each([
    ['three', { value: 0x4f0026, bytes: 3 }, 2 ** 24],
    ['four', { value: 0xfeedbeef, bytes: 4 }, 2 ** 16],
  ] as const)('has all nonces that a nonce1 of %s bytes leaves, each once', (_, nonce1, counters) => {
    const space = new Space(laneWithin(nonce1, 0xabcd), 5, 512);
    const nonces = new Set<bigint>();
    let size = 0;
    for (let range = space.take({ counters, pages: 7 }); range; range = space.take({ counters, pages: 7 })) {
      size += sizeOf(range);
      for (const counter of [range.counter, range.counter + range.counters - 1]) {
        for (let page = range.page; page < range.page + range.pages; page++) {
          nonces.add(joinNonce({ ...range, page, counter }));
        }
      }
    }
    expect(size).toBe(2 ** (64 - 8 * nonce1.bytes));
    // The first page has two pieces, because CPUs begin with the second column. Both ends of the page are counted.
    expect(nonces.size).toBe(4 * PAGES);
    expect([...nonces].every((nonce) => isNonceWithin(nonce1, nonce))).toBe(true);
  });

  it('can be used up to the last nonce', () => {
    const space = new Space(LANE, 17, 12_345 * 512);
    let searched = 0;
    for (
      let range = space.take({ counters: 2 ** 27, pages: 999 });
      range;
      range = space.take({ counters: 2 ** 27, pages: 999 })
    ) {
      searched += sizeOf(range);
    }
    expect(searched).toBe(WHOLE);
    expect(space.take({ counters: 1, pages: 1 })).toBeUndefined();
  });

  it('begins on its first page', () => {
    for (const page of [1, 30_000, 40_000, PAGES - 51]) {
      expect(new Space(LANE, page).take({ counters: 512, pages: 100 })).toMatchObject({ page });
      expect(new Space(LANE, page).take({ counters: 2 ** 20, pages: 1 })).toMatchObject({ page });
    }
    expect(new Space(LANE, PAGES - 1).take({ counters: 2 ** 20, pages: 1 })).toMatchObject({ page: PAGES - 1 });
  });

  it.each([
    ['CPUs', { counters: 512, pages: PAGES }],
    ['GPUs', { counters: 2 ** 28, pages: 1 }],
  ])('lets %s of two rigs in one lane begin apart', (_, most) => {
    const random = (below: number) => Math.floor(Math.random() * below);
    const taken = Array.from({ length: 50 }, () => Space.anywhere(LANE, random).take(most)!);
    const overlapping = taken.filter((range, i) => taken.some((other, j) => i !== j && overlap(range, other)));
    // Any two overlap with a probability below 1 in 10,000.
    expect(overlapping.length).toBeLessThan(10);
  });

  it('begins with whole rows of the CPU’s kernels', () => {
    const { counter } = Space.anywhere(LANE, () => 7).take({ counters: 1_024, pages: 2 })!;
    expect(counter).toBe(7 * 512);
  });

  it('gives GPUs whole rows where they are alone, and at least half rows beside a CPU', () => {
    const random = (below: number) => Math.floor(Math.random() * below);
    const row = { counters: COUNTERS, pages: 1 };
    expect(Space.anywhere(LANE, random).take(row)!.counters).toBe(COUNTERS);
    const shared = Space.anywhere(LANE, random);
    shared.take({ counters: 512, pages: 17_000 });
    expect(shared.take(row)!.counters).toBeGreaterThanOrEqual(COUNTERS / 2);
  });

  it('gives an engine that doubles its wish the double, and not what was cut for the half', () => {
    const space = new Space(LANE);
    const wishes = [512, 512, 512, 1_024, 2_048, 4_096, 4_096];
    expect(wishes.map((counters) => space.take({ counters, pages: 1 })?.counters)).toEqual(wishes);
  });

  it('grants at least half of a wish, however near to the last page and counter it begins', () => {
    const wishes = [
      { counters: 512, pages: 17_000 },
      { counters: 5 * 512, pages: PAGES },
      { counters: 2 ** 28, pages: 1 },
    ];
    for (const page of [0, 1, 20_000, PAGES / 2, 50_000, PAGES - 10, PAGES - 1]) {
      for (const counter of [0, 512, COUNTERS / 2, COUNTERS - 2 ** 27, COUNTERS - 512]) {
        const space = new Space(LANE, page, counter);
        for (let i = 0; i < 300; i++) {
          for (const most of wishes) expect(sizeOf(space.take(most)!)).toBeGreaterThanOrEqual(sizeOf(most) / 2);
        }
      }
    }
  });

  it('stays in a few pieces however often CPUs and GPUs take ranges', () => {
    const about = (size: number) => Math.round(size * (0.8 + 0.4 * Math.random()));
    for (const [page, counter] of [
      [0, 0],
      [1, 512],
      [30_000, 30_000 * 512],
      [PAGES - 1, COUNTERS - 512],
    ]) {
      const space = new Space(LANE, page, counter);
      for (let i = 0; i < 20_000; i++) {
        space.take({ counters: 512, pages: about(17_000) });
        if (i % 10 === 0) space.take({ counters: about(2 ** 28), pages: 1 });
        if (i % 15 === 0) space.take({ counters: about(2 ** 22), pages: 1 });
      }
      expect(piecesOf(space)).toBeLessThan(100);
    }
  });

  it('keeps granting a CPU its full height and a GPU its full width, side by side', () => {
    const space = new Space(LANE, 5);
    for (let i = 0; i < 200; i++) {
      expect(sizeOf(space.take({ counters: 512, pages: 8_000 })!)).toBeGreaterThan(512 * 500);
      expect(sizeOf(space.take({ counters: 2 ** 26, pages: 1 })!)).toBeGreaterThan(2 ** 24);
    }
  });
});

describe('a space of given ranges', () => {
  const part = fc.record({
    counters: fc.integer({ min: 1, max: 20 }),
    pages: fc.integer({ min: 1, max: 20 }),
    /** The part of a taken range that is given back. A kernel can stop between pages or between counters. */
    keptPages: fc.integer({ min: 0, max: 20 }),
  });

  it('gives out each nonce once, and again only if it was given back, whatever the shapes', () => {
    const block = { ...LANE, page: 60_000, pages: 9, counter: COUNTERS - 40, counters: 33 };
    const strip = { ...LANE, page: 60_000, pages: 1, counter: COUNTERS - 7, counters: 7 };
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 30 }), (parts) => {
        const space = Space.of([block, strip]);
        const times = new Map<string, number>();
        const taken: Range[] = [];
        for (let i = 0; ; i++) {
          const { counters, pages, keptPages } = parts[i % parts.length];
          const range = space.take({ counters, pages });
          if (!range) break;
          taken.push(range);
          // After all shapes were used once, everything is kept, so that the search ends.
          const kept = i < parts.length ? Math.min(keptPages, range.pages) : range.pages;
          space.giveBack({ ...range, page: range.page + kept, pages: range.pages - kept });
          for (let p = range.page; p < range.page + kept; p++) {
            for (let c = range.counter; c < range.counter + range.counters; c++) {
              times.set(`${p} ${c}`, (times.get(`${p} ${c}`) ?? 0) + 1);
            }
          }
        }
        expect(taken.filter(({ lane, step }) => lane !== LANE.lane || step !== LANE.step)).toEqual([]);
        expect(times.size).toBe(sizeOf(block) + sizeOf(strip));
        expect(new Set(times.values())).toEqual(new Set([1]));
        for (const { page, pages, counter, counters } of [block, strip]) {
          expect(times.has(`${page} ${counter}`)).toBe(true);
          expect(times.has(`${page + pages - 1} ${counter + counters - 1}`)).toBe(true);
        }
        expect(space.left).toBe(0);
      }),
    );
  });
});
