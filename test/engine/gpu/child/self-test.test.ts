/** The self-test against simulated GPUs: a right one, and wrong ones of several kinds. */

import { expect, test } from 'vitest';
import { hashTail, type Puzzle } from '#pickaxe/chain/job.js';
import { COUNTERS, type Range, splitNonce } from '#pickaxe/chain/nonce.js';
import { ROW_COUNTERS, scan } from '#pickaxe/engine/cpu/kernels/kernel.js';
import { loadKernel } from '#pickaxe/engine/cpu/kernels/load-kernel.js';
import type { Scan } from '#pickaxe/engine/gpu/child/scanner.js';
import { SPOT_CHECK, selfTest, spotCheck } from '#pickaxe/engine/gpu/child/self-test.js';
import { HIT_CAPACITY } from '#pickaxe/engine/gpu/prepare.generated.js';

const UNIT = 2048;

type Gpu = (puzzle: Puzzle, range: Range) => Promise<Scan>;

const rightGpu: Gpu = async (puzzle, { lane, page, counter, counters }) => {
  const all = Array.from({ length: counters }, (_, i) => counter + i);
  const hits = all.filter((each) => hashTail(puzzle, { lane, page, counter: each })[7] <= puzzle.target[7]);
  return hits.length > HIT_CAPACITY ? 'overflow' : { hits: hits.reverse() };
};

const changed =
  (change: (hits: number[], range: Range) => number[]): Gpu =>
  async (puzzle, range) => {
    const found = await rightGpu(puzzle, range);
    return found === 'overflow' ? found : { hits: change(found.hits, range) };
  };

const wrongGpus: Record<string, Gpu> = {
  'finds nothing': changed(() => []),
  'finds one too few': changed((hits) => hits.slice(1)),
  'finds one too many': changed((hits, { counter }) => [...hits, counter + 17]),
  'has one bad lane': changed((hits) => hits.filter((hit) => hit % 64 !== 63)),
  'searches one workgroup only': changed((hits, range) => hits.filter((hit) => hit < range.counter + UNIT)),
  'stops at half of the counters': changed((hits) => hits.filter((hit) => hit < COUNTERS / 2)),
  'ignores the lane': (puzzle, range) => rightGpu(puzzle, { ...range, lane: 0 }),
  'ignores the page': (puzzle, range) => rightGpu(puzzle, { ...range, page: 0 }),
  'does not notice that hits are lost': async (puzzle, range) => {
    const found = await rightGpu(puzzle, range);
    return found === 'overflow' ? { hits: [] } : found;
  },
};

test('a GPU that computes right passes', () => selfTest(rightGpu, UNIT));

test.each(Object.entries(wrongGpus))('refuses a GPU that %s', async (_, gpu) => {
  await expect(selfTest(gpu, UNIT)).rejects.toMatchObject({ name: 'DeviceError', fault: 'wrong-hashes' });
});

/** Searches with a CPU kernel, which shares only the description with the GPU kernel. */
function spotHits(): number[] {
  const { puzzle, range } = SPOT_CHECK;
  const kernel = loadKernel('wasm');
  const rows = Array.from({ length: range.counters / ROW_COUNTERS }, (_, i) => range.counter + i * ROW_COUNTERS);
  return rows.flatMap((counter) => {
    const row = { ...range, counter, counters: ROW_COUNTERS };
    return scan(kernel, puzzle, 1, row, Int32Array.of(1)).candidates.map((nonce) => splitNonce(nonce).counter);
  });
}

test('the known hits of the spot check are right', async () => {
  const hits = spotHits();
  await spotCheck(async () => ({ hits: [...hits].reverse() }));
  for (const wrong of [[], hits.slice(1), [...hits.slice(1), hits[0] + 1], [...hits, 5]]) {
    await expect(spotCheck(async () => ({ hits: wrong }))).rejects.toMatchObject({ fault: 'wrong-hashes' });
  }
  await expect(spotCheck(async () => 'overflow')).rejects.toMatchObject({ fault: 'wrong-hashes' });
});
