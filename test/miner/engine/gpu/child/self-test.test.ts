/** The self-test against simulated GPUs: a right one, and wrong ones of several kinds. */

import { expect, test } from 'vitest';
import { ROW_COUNTERS, scan } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { loadKernel } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { SPOT_CHECK, selfTest, spotCheck } from '#pickaxe/miner/engine/gpu/child/self-test.js';
import type { Hit, Scan } from '#pickaxe/miner/engine/gpu/child/shader-scanner.js';
import { HIT_CAPACITY } from '#pickaxe/miner/engine/gpu/prepare.generated.js';
import type { Puzzle } from '#pickaxe/protocol/chain/job.js';
import {
  COUNTERS,
  countersAt,
  LANES,
  lanesAt,
  PAGES,
  type Range,
  sizeOf,
  splitNonce,
} from '#pickaxe/protocol/chain/nonce.js';
import { solutionsIn } from '../../cpu/puzzles.ts';

/** Number of counters in the smallest workgroup: a GPU that fails with it is refused soon. */
const UNIT = 64;
let nextUnit = UNIT;
/** @returns another number of counters in a workgroup for each test, because the known hits for a number are kept */
const freshUnit = () => {
  nextUnit += 2;
  return nextUnit;
};

type Gpu = (puzzle: Puzzle, range: Range) => Promise<Scan>;

const rightGpu: Gpu = async (puzzle, range) => {
  // All nonces of this range are hits, and there is no room for them.
  if (puzzle.target[7] === 0xffff_ffff && sizeOf(range) > HIT_CAPACITY) return 'overflow';
  const target = Uint32Array.from(puzzle.target, (word, i) => (i < 7 ? 0xffff_ffff : word));
  const hits = solutionsIn({ ...puzzle, target }, range).map(({ page, counter }) => ({ page, counter }));
  return hits.length > HIT_CAPACITY ? 'overflow' : { hits: hits.reverse() };
};

const changed =
  (change: (hits: readonly Hit[], range: Range) => readonly Hit[]): Gpu =>
  async (puzzle, range) => {
    const found = await rightGpu(puzzle, range);
    return found === 'overflow' ? found : { hits: change(found.hits, range) };
  };

const wrongGpus: Record<string, Gpu> = {
  'finds nothing': changed(() => []),
  'loses the nonce of a block': changed((hits, { counters }) => (counters === 2_000 ? [] : hits)),
  'loses a hit when all nonces of a workgroup are hits': changed((hits, { counters }) =>
    hits.length === counters ? hits.slice(1) : hits,
  ),
  'finds one too few': changed((hits) => hits.slice(1)),
  'finds one too many': changed((hits, { page, counter }) => [...hits, { page, counter: counter + 17 }]),
  'finds the right counters on wrong pages': changed((hits) =>
    hits.map(({ page, counter }) => ({ page: page ^ 1, counter })),
  ),
  'finds the right counters, each one page later': changed((hits) =>
    hits.map(({ page, counter }) => ({ page: page + 1, counter })),
  ),
  'finds wrong counters': changed((hits) => hits.map(({ page, counter }) => ({ page, counter: counter ^ 1 }))),
  'finds one wrong counter': changed((hits) =>
    hits.map((hit, i) => (i === 0 ? { ...hit, counter: hit.counter + 1 } : hit)),
  ),
  'always has more hits than there is room for': async () => 'overflow',
  'has one bad lane': changed((hits) => hits.filter(({ counter }) => counter % 64 !== 63)),
  'searches one workgroup only': changed((hits, range) => hits.filter(({ counter }) => counter < range.counter + UNIT)),
  'stops at half of the counters': changed((hits) => hits.filter(({ counter }) => counter < COUNTERS / 2)),
  'ignores the lane': (puzzle, range) => rightGpu(puzzle, { ...range, lane: 0 }),
  'takes a lane for two bytes': (puzzle, range) => rightGpu(puzzle, { ...range, lane: range.lane % LANES }),
  'goes in steps of 1': (puzzle, range) => rightGpu(puzzle, { ...range, step: 1 }),
  'goes in steps of 256 at most': (puzzle, range) => rightGpu(puzzle, { ...range, step: Math.min(range.step, 256) }),
  'searches one page only': (puzzle, range) => rightGpu(puzzle, { ...range, pages: 1 }),
  'searches one page again': (puzzle, range) =>
    rightGpu(puzzle, { ...range, pages: 1 }).then((found) =>
      found === 'overflow' || range.pages === 1
        ? found
        : { hits: [...found.hits, ...found.hits.map((hit) => ({ ...hit, page: hit.page + 1 }))] },
    ),
  'ignores the page': (puzzle, range) => rightGpu(puzzle, { ...range, page: 0 }),
  'does not notice that hits are lost': async (puzzle, range) => {
    const found = await rightGpu(puzzle, range);
    return found === 'overflow' ? { hits: [] } : found;
  },
};

test.each([UNIT, 2_048])('a GPU that computes right passes, with workgroups of %i counters', (unit) =>
  selfTest(rightGpu, unit),
);

test('asks only for nonces that exist, up to the first and the last ones', async () => {
  const ranges: Range[] = [];
  const remember: Gpu = (puzzle, range) => {
    ranges.push(range);
    return rightGpu(puzzle, range);
  };
  const unit = freshUnit();
  await selfTest(remember, unit);
  for (const { lane, step, page, pages, counter, counters } of ranges) {
    expect(lane).toBeLessThan(lanesAt(step));
    expect(Number.isInteger(counters)).toBe(true);
    expect(page + pages).toBeLessThanOrEqual(PAGES);
    expect(counter + counters).toBeLessThanOrEqual(countersAt(step));
  }
  // Hits are lost in the second workgroup of a page, too, and on the second page of a dispatch.
  expect(ranges.some(({ step, pages, counters }) => step === 1 && pages === 1 && counters > 2 * unit)).toBe(true);
  expect(ranges.some(({ pages, counters }) => pages === 2 && counters > unit / 2 && counters < unit)).toBe(true);
  for (const step of [1, 256, 65_536]) expect(ranges.some((range) => range.step === step)).toBe(true);
  expect(ranges.some(({ page, counter }) => page === 0 && counter === 0)).toBe(true);
  expect(ranges.some(({ page, pages }) => page + pages === PAGES)).toBe(true);
  expect(ranges.some(({ step, counter, counters }) => counter + counters === countersAt(step))).toBe(true);
});

test.each(Object.entries(wrongGpus))('refuses a GPU that %s', async (_, gpu) => {
  await expect(selfTest(gpu, freshUnit())).rejects.toMatchObject({ name: 'DeviceError', fault: 'wrong-hashes' });
});

/** Searches with a CPU kernel, which shares only the description with the GPU kernel. */
function searchSpot(): Hit[] {
  const { puzzle, range } = SPOT_CHECK;
  const kernel = loadKernel('wasm');
  const rows = Array.from({ length: range.counters / ROW_COUNTERS }, (_, i) => range.counter + i * ROW_COUNTERS);
  return rows.flatMap((counter) => {
    const row = { ...range, counter, counters: ROW_COUNTERS };
    return scan(kernel, puzzle, 1, row, Int32Array.of(1)).candidates.map((nonce) => splitNonce(nonce));
  });
}

let knownHits: readonly Hit[] | undefined;
/** @returns the hits of the spot check, which are searched once */
function spotHits(): readonly Hit[] {
  knownHits ??= searchSpot();
  return knownHits;
}

test('the known hits of the spot check are right', async () => {
  await spotCheck(async () => ({ hits: [...spotHits()].reverse() }));
});

test.each<[string, (hits: readonly Hit[]) => readonly Hit[]]>([
  ['nothing', () => []],
  ['one hit too few', (hits) => hits.slice(1)],
  ['one hit too many', (hits) => [...hits, hits[0]]],
  ['a wrong counter', ([hit, ...others]) => [{ ...hit, counter: hit.counter + 1 }, ...others]],
  ['a hit too many, and the right sum', (hits) => [...hits, { ...hits[0], counter: 0 }]],
])('the spot check refuses a GPU that finds %s, and takes one that finds all', async (_, change) => {
  const hits = spotHits();
  await spotCheck(async () => ({ hits }));
  await expect(spotCheck(async () => ({ hits: change(hits) }))).rejects.toMatchObject({ fault: 'wrong-hashes' });
});

test('the spot check refuses a GPU that has more hits than there is room for', async () => {
  await expect(spotCheck(async () => 'overflow')).rejects.toMatchObject({ fault: 'wrong-hashes' });
});
