import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanColumns, splitRows } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { loadKernel } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { joinNonce, type Range, sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { everythingSolves, jobOf, nothingSolves, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { loadableKernels } from './loadable-kernels.ts';
import { easyTarget, solutionsIn } from './puzzles.ts';

const rowsOf = ({ pages, counters }: Range) => pages * Math.ceil(counters / 512);

/** Several columns, the last one narrower. */
const wide: Range = { lane: 7, step: 1, page: 65_530, pages: 4, counter: 2 ** 32 - 1300, counters: 1300 };

/** Stops a search after a number of rows by making another run the current one. */
function stoppingKernel(stopAfter: number) {
  const kernel = loadKernel('wasm');
  const currentRun = Int32Array.of(1);
  let rows = 0;
  let calls = 0;
  return {
    currentRun,
    calls: () => calls,
    kernel: {
      ...kernel,
      search: (search: Uint32Array, current: Int32Array, hits: Uint32Array) => {
        calls++;
        if (rows === stopAfter) currentRun[0] = 2;
        const oneRow = search.slice();
        oneRow[28] = 1;
        const searched = kernel.search(oneRow, current, hits);
        rows += searched;
        return searched;
      },
    },
  };
}

test.each(loadableKernels)('%s searches all columns of a range, and stops at each row that has candidates', (name) => {
  const kernel = loadKernel(name);
  const job = jobOf(someHeaderHex, easyTarget);
  const found: bigint[] = [];
  const ranges = [wide];
  const current = Int32Array.of(1);
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    const { rows, candidates } = scanColumns(kernel, job, 1, range, current);
    const { searched, rest } = splitRows(range, rows);
    const last = searched.at(-1)!;
    if (rest.length > 0) expect(candidates.length).toBeGreaterThan(0);
    for (const nonce of candidates) {
      const page = Number(nonce >> 48n);
      const counter = Number((nonce >> 16n) & 0xffff_ffffn);
      expect(page).toBe(last.page + last.pages - 1);
      expect(counter).toBeGreaterThanOrEqual(last.counter);
      expect(counter).toBeLessThan(last.counter + last.counters);
    }
    found.push(...candidates);
    ranges.push(...rest);
  }
  const byValue = (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b));
  expect(found.sort(byValue)).toEqual(solutionsIn(job, wide).map(joinNonce).sort(byValue));
});

test('a search of columns ends when the current run changes, and counts the rows before that', () => {
  const job = jobOf(someHeaderHex, nothingSolves);
  for (let stopAfter = 0; stopAfter <= rowsOf(wide); stopAfter++) {
    const { kernel, currentRun, calls } = stoppingKernel(stopAfter);
    expect(scanColumns(kernel, job, 1, wide, currentRun)).toEqual({ rows: stopAfter, candidates: [] });
    // The kernel is called once more, and finds that it must stop: no further column is begun.
    expect(calls()).toBe(Math.min(stopAfter + 1, rowsOf(wide)));
  }
});

test('a search of columns ends with the first row that has candidates', () => {
  const { rows, candidates } = scanColumns(
    loadKernel('wasm'),
    jobOf(someHeaderHex, everythingSolves),
    1,
    wide,
    Int32Array.of(1),
  );
  expect(rows).toBe(1);
  expect(candidates).toHaveLength(512);
});

test('the searched rows and the rest contain each nonce of the range exactly once', () => {
  const anyWide = fc.record({ pages: fc.integer({ min: 1, max: 9 }), counters: fc.integer({ min: 1, max: 5000 }) });
  fc.assert(
    fc.property(anyWide, fc.nat(), (shape, any) => {
      const range = { lane: 1, step: 1, page: 17, counter: 4096, ...shape };
      const rows = any % (rowsOf(range) + 1);
      const { searched, rest } = splitRows(range, rows);
      const ranges = new Rectangle(range);
      ranges.take(range);
      for (const part of rest) ranges.giveBack(part);
      ranges.expectBalanced(
        searched.map((part) => ({ searched: part, hashes: sizeOf(part), beganMs: 0, candidates: [] })),
      );
      expect(searched.reduce((sum, part) => sum + rowsOf(part), 0)).toBe(rows);
      expect(searched.length).toBeLessThanOrEqual(2);
      expect(rest.length).toBeLessThanOrEqual(2);
    }),
  );
});
