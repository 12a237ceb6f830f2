/**
 * The C kernels outside of Node: those of another kind of chip, and under sanitizers (address and undefined behaviour).
 * test/engine/cpu/kernels.test.ts tries them as they ship.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Puzzle } from '#pickaxe/chain/job.js';
import { COUNTERS, type Range } from '#pickaxe/chain/nonce.js';
import { ROW_COUNTERS } from '#pickaxe/engine/cpu/kernels/kernel.js';
import { everythingSolves, jobOf, nothingSolves, searchVectors, someHeaderHex } from '../contract/jobs.ts';
import { anyPuzzle, anyRange, corners, easyTarget, solutionsIn } from '../engine/cpu/puzzles.ts';
import { type Answer, ask, buildDriver, kernelsOf, type Question, variants, whyMissing } from './driver.ts';

const temporary = mkdtempSync(join(tmpdir(), 'pickaxe-driver-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const question = (puzzle: Puzzle, range: Range): Question => ({ puzzle, range, run: 5, currentRun: 5 });

/**
 * The hits that a kernel must have, no more and no less: it tests the bits of hash word 7 above the target's highest, so it
 * searches for the next target whose bits below are all ones.
 */
function expected({ puzzle, range }: Question): Answer {
  const bits = 32 - Math.clz32(puzzle.target[7]);
  const tested = Uint32Array.from({ length: 8 }, (_, i) => (i < 7 ? 0xffff_ffff : 2 ** bits - 1));
  return { pages: range.pages, hits: solutionsIn({ ...puzzle, target: tested }, range) };
}

/** The ranges around each vector's nonce: it is first, last and alone in its row. */
const vectorQuestions = searchVectors.first.flatMap(({ headerHex, targetHex, lane, page, counter }) =>
  [
    [0, 100],
    [99, 100],
    [0, 1],
  ].map(([before, counters]) => {
    const start = Math.max(0, Math.min(counter - before, COUNTERS - counters));
    return question(jobOf(headerHex, targetHex), { lane, page, pages: 1, counter: start, counters });
  }),
);

/** The ranges of the other vectors, in rows. */
const rowQuestions = searchVectors.all.flatMap(({ headerHex, targetHex, lanes, pages, start, count }) =>
  lanes.flatMap((lane) =>
    Array.from({ length: Math.ceil(count / ROW_COUNTERS) }, (_, row) => {
      const counter = start + row * ROW_COUNTERS;
      const counters = Math.min(ROW_COUNTERS, start + count - counter);
      return question(jobOf(headerHex, targetHex), { lane, page: pages[0], pages: pages.length, counter, counters });
    }),
  ),
);

const cornerQuestions = corners.flatMap((range) =>
  [everythingSolves, easyTarget].map((targetHex) => question(jobOf(someHeaderHex, targetHex), range)),
);

const anyQuestions = fc.array(
  fc.tuple(anyPuzzle, anyRange).map(([puzzle, range]) => question(puzzle, range)),
  { minLength: 1, maxLength: 20 },
);

describe.each(variants.map((variant) => [variant.name, variant] as const))('%s', async (_, variant) => {
  const folder = mkdtempSync(join(temporary, 'variant-'));
  const missing = whyMissing(variant, folder);
  if (missing !== undefined) {
    test.skipIf(!process.env.CI)(`is not tried: it requires the Debian packages ${variant.debianPackages}`, () => {
      throw missing;
    });
    return;
  }
  const program = await buildDriver(variant, folder);
  const kernels = kernelsOf(variant, program);

  test('has kernels for its kind of chip', () => {
    const names = kernels.map(({ name }) => name);
    expect(names).toContain('portable');
    expect(names.length).toBeGreaterThan(1);
    if (variant.emulator !== undefined) expect(names).toEqual(['neonx2', 'neon', 'portable']);
  });

  const supported = kernels.filter((kernel) => kernel.supported).map((kernel) => kernel.name);
  describe.each(supported)('%s', (kernel) => {
    const answers = (questions: readonly Question[]) => ask(variant, program, kernel, questions);

    test.each([
      ['nonce of a vector', vectorQuestions],
      ['solution in the rows of the vectors', rowQuestions],
      ['corner of the nonce space', cornerQuestions],
    ])('finds every %s', (_, questions) => {
      expect(answers(questions)).toEqual(questions.map(expected));
    });

    test('finds the same hits as the reference for any header, target and range', () => {
      fc.assert(
        fc.property(anyQuestions, (questions) => {
          expect(answers(questions)).toEqual(questions.map(expected));
        }),
        { numRuns: 20 },
      );
    });

    test('finds nothing when nothing solves, and when another run is the current one', () => {
      const range = { lane: 1, page: 2, pages: 50, counter: 3, counters: ROW_COUNTERS };
      const nothing = question(jobOf(someHeaderHex, nothingSolves), range);
      const stale = { ...question(jobOf(someHeaderHex, everythingSolves), range), currentRun: 6 };
      expect(answers([nothing, stale])).toEqual([
        { pages: 50, hits: [] },
        { pages: 0, hits: [] },
      ]);
    });
  });
});
