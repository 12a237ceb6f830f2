/** Searches whose hits are known, for the tests of the C kernels. */

import { ROW_COUNTERS } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import type { Puzzle } from '#pickaxe/protocol/chain/job.js';
import { COUNTERS, type Range } from '#pickaxe/protocol/chain/nonce.js';
import { everythingSolves, jobOf, searchVectors, someHeaderHex } from '../interfaces/jobs.ts';
import { corners, easyTarget, solutionsIn } from '../miner/engine/cpu/puzzles.ts';
import type { Answer, Question } from './driver.ts';

export const question = (puzzle: Puzzle, range: Range): Question => ({ puzzle, range, run: 5, currentRun: 5 });

/**
 * The hits that a kernel must have, no more and no less. A kernel tests the bits of hash word 7 above the target's
 * highest bit, so it searches for the next target whose lower bits are all ones.
 */
export function expected({ puzzle, range }: Question): Answer {
  const bits = 32 - Math.clz32(puzzle.target[7]);
  const tested = Uint32Array.from({ length: 8 }, (_, i) => (i < 7 ? 0xffff_ffff : 2 ** bits - 1));
  return { pages: range.pages, hits: solutionsIn({ ...puzzle, target: tested }, range) };
}

/** The ranges around each vector's nonce: it is first, last and alone in its row. */
export const vectorQuestions = searchVectors.first.flatMap(({ headerHex, targetHex, lane, page, counter }) =>
  [
    [0, 100],
    [99, 100],
    [0, 1],
  ].map(([before, counters]) => {
    const start = Math.max(0, Math.min(counter - before, COUNTERS - counters));
    return question(jobOf(headerHex, targetHex), { lane, step: 1, page, pages: 1, counter: start, counters });
  }),
);

/** The ranges of the other vectors, in rows. */
export const rowQuestions = searchVectors.all.flatMap(({ headerHex, targetHex, lanes, pages, start, count }) =>
  lanes.flatMap((lane) =>
    Array.from({ length: Math.ceil(count / ROW_COUNTERS) }, (_, row) => {
      const counter = start + row * ROW_COUNTERS;
      const counters = Math.min(ROW_COUNTERS, start + count - counter);
      return question(jobOf(headerHex, targetHex), {
        lane,
        step: 1,
        page: pages[0],
        pages: pages.length,
        counter,
        counters,
      });
    }),
  ),
);

export const cornerQuestions = corners.flatMap((range) =>
  [everythingSolves, easyTarget].map((targetHex) => question(jobOf(someHeaderHex, targetHex), range)),
);
