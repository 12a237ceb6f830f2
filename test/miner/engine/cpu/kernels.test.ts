import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { HIT_WORDS, type Kernel, packSearch, ROW_COUNTERS, scan } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { answersRight, loadKernel } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import type { Puzzle } from '#pickaxe/protocol/chain/job.js';
import { COUNTERS, joinNonce, PAGES, type Range, splitNonce } from '#pickaxe/protocol/chain/nonce.js';
import { everythingSolves, jobOf, nothingSolves, searchVectors, someHeaderHex } from '../../../interfaces/jobs.ts';
import { loadableKernels, nativeIsBuilt } from './loadable-kernels.ts';
import { anyPuzzle, anyRange, corners, easyTarget, solutionsIn } from './puzzles.ts';

test('the kernels that need no compiler load everywhere, the portable one with any build', () => {
  expect(loadableKernels).toEqual(expect.arrayContaining(['wasm-simd', 'wasm']));
  if (nativeIsBuilt) expect(loadableKernels).toContain('portable');
});

const wholePlane: Range = { lane: 0, step: 1, page: 0, pages: PAGES, counter: 0, counters: ROW_COUNTERS };

test('the mask keeps every bit above the highest one of the target', () => {
  const rotl7 = (word: number) => ((word << 7) | (word >>> 25)) >>> 0;
  const maskOf = (word7: number) => {
    const target = Uint32Array.of(0, 0, 0, 0, 0, 0, 0, word7);
    return packSearch({ midstate: new Uint32Array(8), tail: new Uint32Array(16), target }, 1, wholePlane)[24];
  };
  expect(maskOf(0)).toBe(0xffff_ffff);
  expect(maskOf(1)).toBe(rotl7(0xffff_fffe));
  expect(maskOf(0x00ff_0000)).toBe(rotl7(0xff00_0000));
  expect(maskOf(0x8000_0000)).toBe(0);
  expect(maskOf(0xffff_ffff)).toBe(0);
});

test.each(loadableKernels.filter((name) => name.startsWith('wasm')))(
  '%s leaves a search after some rows, because V8 installs optimized code only between calls',
  (name) => {
    const search = packSearch(jobOf(someHeaderHex, nothingSolves), 1, wholePlane);
    const hits = new Uint32Array(HIT_WORDS);
    const { search: call } = loadKernel(name);
    for (let i = 0; i < 3; i++) expect(call(search, Int32Array.of(1), hits)).toBe(64);
    // A search of fewer rows is not made longer.
    const short = packSearch(jobOf(someHeaderHex, nothingSolves), 1, { ...wholePlane, pages: 3 });
    expect(call(short, Int32Array.of(1), hits)).toBe(3);
  },
);

/** A thread that changes the current run as soon as a search begins. */
const begun = new Int32Array(new SharedArrayBuffer(4));
const sharedRun = new Int32Array(new SharedArrayBuffer(4));
const runChanger = new Worker(
  `const { begun, sharedRun } = require('node:worker_threads').workerData;
   for (;;) {
     Atomics.wait(begun, 0, 0);
     Atomics.store(sharedRun, 0, Atomics.load(begun, 0));
     Atomics.store(begun, 0, 0);
     Atomics.notify(begun, 0);
   }`,
  { eval: true, workerData: { begun, sharedRun } },
);
afterAll(() => runChanger.terminate());

function whileRunChanges<T>(from: number, to: number, act: (currentRun: Int32Array) => T): T {
  Atomics.store(sharedRun, 0, from);
  Atomics.store(begun, 0, to);
  Atomics.notify(begun, 0);
  const result = act(sharedRun);
  Atomics.wait(begun, 0, to);
  return result;
}

/** Searches a whole range, call after call. */
function scanAll(kernel: Kernel, puzzle: Puzzle, range: Range): bigint[] {
  const found: bigint[] = [];
  for (let done = 0; done < range.pages; ) {
    const rest = { ...range, page: range.page + done, pages: range.pages - done };
    const { pages, candidates } = scan(kernel, puzzle, 5, rest, Int32Array.of(5));
    expect(pages).toBeGreaterThan(0);
    found.push(...candidates);
    done += pages;
  }
  return found;
}

const reference = (puzzle: Puzzle, range: Range): bigint[] => solutionsIn(puzzle, range).map(joinNonce);

/** The nonces that solve around a vector's nonce, in an area that contains every row with that nonce. */
const { lane, page, counter, headerHex, targetHex } = searchVectors.first.find(
  (vector) => vector.counter >= ROW_COUNTERS && vector.counter < COUNTERS - ROW_COUNTERS,
)!;
const around = { lane, step: 1, page, pages: 1, counter: counter - ROW_COUNTERS + 1, counters: 2 * ROW_COUNTERS - 1 };
const solutionsAround = reference(jobOf(headerHex, targetHex), around);

const cornerJob = jobOf(someHeaderHex, easyTarget);
const solutionsInCorners = corners.map((range) => reference(cornerJob, range));

describe.each(loadableKernels)('%s', (name) => {
  const kernel = loadKernel(name);

  test.each(searchVectors.first)('finds nonce $nonce', (vector) => {
    const { lane, page, counter } = vector;
    const job = jobOf(vector.headerHex, vector.targetHex);
    // First, last and alone in its row.
    for (const [before, counters] of [
      [0, 100],
      [99, 100],
      [0, 1],
    ]) {
      const start = Math.max(vector.start, Math.min(counter - before, 0x1_0000_0000 - counters));
      const range = { lane, step: 1, page, pages: 1, counter: start, counters };
      expect(scanAll(kernel, job, range)).toEqual(reference(job, range));
      expect(scanAll(kernel, job, range)).toContain(BigInt(vector.nonce));
    }
  });

  test.each(searchVectors.all)('finds all nonces from counter $start on', (vector) => {
    const job = jobOf(vector.headerHex, vector.targetHex);
    const found = [];
    for (const lane of vector.lanes) {
      for (let done = 0; done < vector.count; done += ROW_COUNTERS) {
        const counters = Math.min(ROW_COUNTERS, vector.count - done);
        const range = {
          lane,
          step: 1,
          page: vector.pages[0],
          pages: vector.pages.length,
          counter: vector.start + done,
          counters,
        };
        found.push(...scanAll(kernel, job, range));
      }
    }
    const expected = vector.hits.map(([lane, page, counter]) => joinNonce({ lane, step: 1, page, counter }));
    expect(new Set(found)).toEqual(new Set(expected));
    expect(found).toHaveLength(expected.length);
  });

  test('agrees with the reference on any header, target and range', () => {
    fc.assert(
      fc.property(anyPuzzle, anyRange, (puzzle, range) => {
        expect(scanAll(kernel, puzzle, range)).toEqual(reference(puzzle, range));
      }),
    );
  });

  test('finds a nonce at every place in a row', () => {
    const job = jobOf(headerHex, targetHex);
    expect(solutionsAround).toContain(joinNonce({ lane, step: 1, page, counter }));
    for (let place = 0; place < ROW_COUNTERS; place++) {
      const start = counter - place;
      const inRow = solutionsAround.filter((nonce) => {
        const found = splitNonce(nonce).counter;
        return found >= start && found < start + ROW_COUNTERS;
      });
      expect(scanAll(kernel, job, { lane, step: 1, page, pages: 1, counter: start, counters: ROW_COUNTERS })).toEqual(
        inRow,
      );
    }
  });

  test('finds all nonces in the corners of the space', () => {
    expect(corners.map((range) => scanAll(kernel, cornerJob, range))).toEqual(solutionsInCorners);
  });

  test('reports every nonce of a row of any length, and none past its end, when every nonce solves', () => {
    const hits = new Uint32Array(HIT_WORDS);
    const job = jobOf(someHeaderHex, everythingSolves);
    const wrong: number[] = [];
    for (let counters = 1; counters <= ROW_COUNTERS; counters++) {
      const range = { lane: 0, step: 1, page: 7, pages: 2, counter: COUNTERS - counters, counters };
      const pages = kernel.search(packSearch(job, 1, range), Int32Array.of(1), hits);
      const areAllInOrder = hits.subarray(1, 1 + counters).every((offset, i) => offset === i);
      if (pages !== 1 || hits[0] !== counters || !areAllInOrder) wrong.push(counters);
    }
    expect(wrong).toEqual([]);
  });

  test('loses nothing when every nonce solves', () => {
    const job = jobOf(someHeaderHex, everythingSolves);
    const range = { lane: 0, step: 1, page: 0xfffe, pages: 2, counter: 2 ** 32 - ROW_COUNTERS, counters: ROW_COUNTERS };
    expect(scanAll(kernel, job, range)).toEqual(reference(job, range));
  });

  test('searches nothing when another run is the current one', () => {
    const job = jobOf(someHeaderHex, everythingSolves);
    const range = { lane: 0, step: 1, page: 0, pages: 5, counter: 0, counters: ROW_COUNTERS };
    expect(scan(kernel, job, 5, range, Int32Array.of(6))).toEqual({ pages: 0, candidates: [] });
  });

  test('stops in the middle of a search when another run becomes the current one', () => {
    const search = packSearch(jobOf(someHeaderHex, nothingSolves), 5, wholePlane);
    const hits = new Uint32Array(HIT_WORDS);
    const uninterrupted = name.startsWith('wasm') ? kernel.search(search, Int32Array.of(5), hits) : PAGES;
    let rows = 0;
    // On a busy machine the other thread can be late, or early, a thousand times in a row.
    const untilMs = performance.now() + 20_000;
    while ((rows === 0 || rows === uninterrupted) && performance.now() < untilMs) {
      rows = whileRunChanges(5, 6, (currentRun) => kernel.search(search, currentRun, hits));
    }
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThan(uninterrupted);
  });

  test('keeps no state of an earlier search', () => {
    const range = { lane: 0, step: 1, page: 0, pages: 1, counter: 0, counters: ROW_COUNTERS };
    const hits = new Uint32Array(HIT_WORDS);
    kernel.search(packSearch(jobOf(someHeaderHex, everythingSolves), 1, range), Int32Array.of(1), hits);
    expect(hits[0]).toBe(ROW_COUNTERS);
    kernel.search(packSearch(jobOf(someHeaderHex, nothingSolves), 1, range), Int32Array.of(1), hits);
    expect(hits[0]).toBe(0);
  });

  test.each([
    [
      'misses every hit',
      (rows: number, hits: Uint32Array) => {
        hits[0] = 0;
        return rows;
      },
    ],
    ['stops without a reason', () => 0],
    [
      'shifts its hits by one',
      (rows: number, hits: Uint32Array) => {
        for (let i = 1; i <= hits[0]; i++) hits[i]++;
        return rows;
      },
    ],
  ])('fails its known answers when it %s', (_, spoil) => {
    expect(answersRight(kernel)).toBe(true);
    const broken: Kernel = {
      name,
      search: (search, currentRun, hits) => spoil(kernel.search(search, currentRun, hits), hits),
    };
    expect(answersRight(broken)).toBe(false);
  });
});
