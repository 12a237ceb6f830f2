/** Puzzles and ranges to try kernels on, and the reference's answers. */

import fc from 'fast-check';
import { ROW_COUNTERS } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { type Puzzle, solves } from '#pickaxe/protocol/chain/job.js';
import { countersAt, lanesAt, type NonceParts, PAGES, type Range, STEPS } from '#pickaxe/protocol/chain/nonce.js';

/** Every nonce of a range that solves, in the order that kernels search in. */
export function solutionsIn(puzzle: Puzzle, { lane, step, page, pages, counter, counters }: Range): NonceParts[] {
  const found: NonceParts[] = [];
  for (let p = page; p < page + pages; p++) {
    for (let c = counter; c < counter + counters; c++) {
      if (solves(puzzle, { lane, step, page: p, counter: c })) found.push({ lane, step, page: p, counter: c });
    }
  }
  return found;
}

const word = fc.integer({ min: 0, max: 0xffff_ffff });
const words = (count: number) => fc.array(word, { minLength: count, maxLength: count }).map((a) => Uint32Array.from(a));

export const anyPuzzle: fc.Arbitrary<Puzzle> = fc.record({
  midstate: words(8),
  tail: words(8).map((low) => Uint32Array.from({ length: 16 }, (_, i) => (i === 5 ? low[5] & 0xffff : (low[i] ?? 0)))),
  // Targets from one where nearly nothing solves to one where nearly everything does.
  target: fc.tuple(words(7), word, fc.nat(31)).map(([low, top, shift]) => Uint32Array.of(...low, top >>> shift)),
});

const edges = (max: number) => fc.oneof(fc.constantFrom(0, 1, max - 1, max), fc.integer({ min: 0, max }));

export const anyRange: fc.Arbitrary<Range> = fc
  .constantFrom(...STEPS)
  .chain((step) =>
    fc.record({
      lane: edges(lanesAt(step) - 1),
      step: fc.constant(step),
      page: edges(PAGES - 1),
      pages: fc.integer({ min: 1, max: 3 }),
      counter: edges(countersAt(step) - 1),
      counters: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(ROW_COUNTERS - 1, ROW_COUNTERS)),
    }),
  )
  .map((range) => ({
    ...range,
    page: Math.min(range.page, PAGES - range.pages),
    counter: Math.min(range.counter, countersAt(range.step) - range.counters),
  }));

/** 32 bytes, as hex: about every 16th nonce solves. */
export const easyTarget = `${'ff'.repeat(31)}0f`;

/** The corners of the nonce space, with rows that end before, at and after the end of a vector of any width. */
export const corners: readonly Range[] = STEPS.flatMap((step) =>
  [0, lanesAt(step) - 1].flatMap((lane) =>
    [0, PAGES - 1].flatMap((page) =>
      [1, 3, 4, 5, 31, 32, 33, ROW_COUNTERS - 1, ROW_COUNTERS].flatMap((counters) =>
        [0, countersAt(step) - counters].map((counter) => ({ lane, step, page, pages: 1, counter, counters })),
      ),
    ),
  ),
);
