/**
 * The C kernels outside of Node: those of another kind of chip, those for Windows, and under sanitizers (address and
 * undefined behaviour). test/miner/engine/cpu/kernels.test.ts tries them as they ship.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROW_COUNTERS } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { loadAddon } from '#pickaxe/miner/engine/cpu/kernels/native-kernels.js';
import { everythingSolves, jobOf, nothingSolves, someHeaderHex } from '../interfaces/jobs.ts';
import { anyPuzzle, anyRange } from '../miner/engine/cpu/puzzles.ts';
import { noWine, Windows, why } from '../wine/wine.ts';
import { ask, buildDriver, kernelsOf, type Question, variants, whyMissing } from './driver.ts';
import { cornerQuestions, expected, question, rowQuestions, vectorQuestions } from './questions.ts';

const temporary = mkdtempSync(join(tmpdir(), 'pickaxe-driver-'));
let windows: Windows | undefined;
beforeAll(async () => {
  if (!noWine) windows = Windows.open();
});
afterAll(() => {
  windows?.close();
  rmSync(temporary, { recursive: true, force: true });
});

/**
 * Many questions for each process, because its start takes longer than all answers. On average there are half as many.
 */
const MOST_QUESTIONS = 200;
const anyQuestions = fc.array(
  fc.tuple(anyPuzzle, anyRange).map(([puzzle, range]) => question(puzzle, range)),
  { minLength: 1, maxLength: MOST_QUESTIONS, size: 'max' },
);

describe.each(variants.map((variant) => [variant.name, variant] as const))('%s', async (_, each) => {
  if (each.forWindows && noWine) {
    test.skip(`is not tried${why}`);
    return;
  }
  const variant = {
    ...each,
    get windows() {
      return each.forWindows ? windows : undefined;
    },
  };
  const folder = mkdtempSync(join(temporary, 'variant-'));
  const missing = whyMissing(variant, folder);
  if (missing !== undefined) {
    test.skipIf(!process.env.CI)(`is not tried: it requires the Debian packages ${variant.debianPackages}`, () => {
      throw missing;
    });
    return;
  }
  const program = await buildDriver(variant, folder);
  // Windows does not run yet; it sees the same chip as the addon.
  const kernels = each.forWindows ? loadAddon().kernels : kernelsOf(variant, program);

  test('has kernels for its kind of chip', () => {
    expect(kernelsOf(variant, program)).toEqual(kernels);
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
        { numRuns: 5 },
      );
    });

    test('finds nothing when nothing solves, and when another run is the current one', () => {
      const range = { lane: 1, step: 1, page: 2, pages: 50, counter: 3, counters: ROW_COUNTERS };
      const nothing = question(jobOf(someHeaderHex, nothingSolves), range);
      const stale = { ...question(jobOf(someHeaderHex, everythingSolves), range), currentRun: 6 };
      expect(answers([nothing, stale])).toEqual([
        { pages: 50, hits: [] },
        { pages: 0, hits: [] },
      ]);
    });
  });
});
