/** Tests the scanner on a device that computes nothing: how it reads the results of a dispatch. */

import { expect, test } from 'vitest';
import { cutBatch, Scanner, SLOTS } from '#pickaxe/miner/engine/gpu/child/shader-scanner.js';
import { HIT_CAPACITY, JOB_WORDS } from '#pickaxe/miner/engine/gpu/prepare.generated.js';
import type { Variant } from '#pickaxe/miner/engine/gpu/tuning.js';
import type { Range } from '#pickaxe/protocol/chain/nonce.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../../../interfaces/jobs.ts';
import { FakeDevice } from './fake-device.ts';

const job = jobOf(someHeaderHex, nothingSolves);
const strip = (counter: number, counters: number) => ({ lane: 3, step: 1, page: 9, pages: 1, counter, counters });
/** WebGPU's limit. */
const MOST_IN_ROW = 65_535;

async function open(variant: Variant = { shader: 'wgsl', workgroupSize: 64, trips: 8 }) {
  const device = new FakeDevice();
  return { device, scanner: await Scanner.compile(device.asDevice, variant) };
}

test('all hits are reported if there is room for them, and one more is an overflow', async () => {
  const { device, scanner } = await open();
  const offsets = Array.from({ length: HIT_CAPACITY }, (_, i) => i);
  const scanOf = (count: number) => {
    const scan = scanner.scan(job, strip(1_000, 2 * HIT_CAPACITY));
    device.dispatches.at(-1)!.finish(count, offsets);
    return scan;
  };
  expect(await scanOf(HIT_CAPACITY)).toEqual({ hits: offsets.map((offset) => ({ page: 9, counter: 1_000 + offset })) });
  expect(await scanOf(HIT_CAPACITY + 1)).toBe('overflow');
});

test('hits past the end of the range are dropped', async () => {
  const { device, scanner } = await open();
  const scan = scanner.scan(job, strip(500, 100));
  device.dispatches[0].finish(4, [0, 99, 100, 511]);
  expect(await scan).toEqual({ hits: [500, 599].map((counter) => ({ page: 9, counter })) });
});

test('offsets that an earlier dispatch left in the buffer are not read', async () => {
  const { device, scanner } = await open();
  const scan = scanner.scan(job, strip(0, 100));
  device.dispatches[0].finish(1, [7, 8, 9]);
  expect(await scan).toEqual({ hits: [{ page: 9, counter: 7 }] });
});

test('every counter has an invocation, in several rows if necessary', async () => {
  const { device, scanner } = await open();
  const { unit } = scanner;
  expect(unit).toBe(512);
  const shapeOf = (counters: number) => {
    void scanner.scan(job, strip(77, counters));
    const { passes, control, finish } = device.dispatches.at(-1)!;
    finish(0);
    expect(passes).toHaveLength(1);
    const [{ workgroups }] = passes;
    const [inRow, rows] = workgroups;
    expect(inRow).toBeLessThanOrEqual(MOST_IN_ROW);
    expect(inRow * rows * unit).toBeGreaterThanOrEqual(counters);
    // The excess is at most that of rounding up to rows.
    expect(inRow * rows).toBeLessThan(counters / unit + rows);
    expect([control[0], control[7]]).toEqual([77, inRow * 64]);
    return new Promise((resolve) => setImmediate(() => resolve(workgroups)));
  };
  expect(await shapeOf(1)).toEqual([1, 1]);
  expect(await shapeOf(unit)).toEqual([1, 1]);
  expect(await shapeOf(unit + 1)).toEqual([2, 1]);
  expect(await shapeOf(MOST_IN_ROW * unit)).toEqual([MOST_IN_ROW, 1]);
  expect(await shapeOf(MOST_IN_ROW * unit + 1)).toEqual([32_768, 2]);
  expect(await shapeOf(scanner.most)).toEqual([Math.ceil(2 ** 22 / 65), 65]);
});

test('hits in every row of workgroups have their counters', async () => {
  const { device, scanner } = await open();
  const counters = 3 * MOST_IN_ROW * scanner.unit;
  const scan = scanner.scan(job, strip(5, counters));
  const offsets = [0, MOST_IN_ROW * scanner.unit, 2 * MOST_IN_ROW * scanner.unit + 1, counters - 1];
  device.dispatches[0].finish(4, offsets);
  expect(await scan).toEqual({ hits: offsets.map((offset) => ({ page: 9, counter: 5 + offset })) });
});

test('the shader gets the most significant word of the target', async () => {
  const { device, scanner } = await open();
  const target = Uint32Array.of(1, 2, 3, 4, 5, 6, 7, 0x1234_5678);
  void scanner.scan({ ...job, target }, strip(0, 1));
  expect(device.dispatches[0].control[1]).toBe(0x1234_5678);
});

test('a batch may have 256 pages, each of which has the words of its own nonces', async () => {
  const { device, scanner } = await open();
  const tail = job.tail.slice();
  const wordsOf = async (page: number, pages: number) => {
    const scan = scanner.scan(job, { ...strip(0, 600), page, pages });
    const { passes, finish } = device.dispatches.at(-1)!;
    expect(passes).toHaveLength(pages);
    finish(1, [1_024 * (pages - 1)]);
    expect(await scan).toEqual({ hits: [{ page: page + pages - 1, counter: 0 }] });
    const first = (i: number) => [...device.job.subarray(64 * i, 64 * i + JOB_WORDS)];
    return Array.from({ length: pages }, (_, i) => first(i));
  };
  const all = await wordsOf(40, 256);
  for (const i of [0, 1, 2, 255]) expect(all[i]).toEqual((await wordsOf(40 + i, 1))[0]);
  expect(new Set(all.map(String)).size).toBe(256);
  expect(job.tail).toEqual(tail);
});

test('a range is cut without losing a nonce: of one page, and of several', () => {
  const page = strip(100, 1_025);
  expect(cutBatch(page, 1_024, 64)).toEqual({ batch: strip(100, 1_024), rest: [strip(1_124, 1)] });
  expect(cutBatch(page, 1_025, 64)).toEqual({ batch: page, rest: [] });
  const pages = { ...strip(0, 64), pages: 300 };
  expect(cutBatch(pages, 2 ** 31, 64)).toEqual({
    batch: { ...pages, pages: 256 },
    rest: [{ ...pages, page: 9 + 256, pages: 44 }],
  });
  expect(cutBatch(pages, 2 * 64, 64)).toEqual({
    batch: { ...pages, pages: 2 },
    rest: [{ ...pages, page: 11, pages: 298 }],
  });
});

test('several pages are searched by a dispatch each, whose hits are told apart', async () => {
  const { device, scanner } = await open();
  const range = { lane: 0x4f_0026, step: 256, page: 9, pages: 3, counter: 1_000, counters: 600 };
  const scan = scanner.scan(job, range);
  const { passes, control, finish } = device.dispatches[0];
  expect(passes).toEqual([0, 1, 2].map((page) => ({ offset: 256 * page, workgroups: [2, 1] })));
  const wordsOf = (page: number) => [...control.subarray(64 * page, 64 * page + 10)];
  // Each page takes two workgroups of 512 counters, and so 1,024 numbers.
  const words = [1_000 * 256 + 0x4f, 0, 16, 12, 8, 7, 1, 2 * 64, 256];
  expect([0, 1, 2].map(wordsOf)).toEqual([0, 1_024, 2_048].map((number) => [...words, number]));
  finish(5, [0, 599, 600, 1_024 + 5, 2_048 + 599]);
  expect(await scan).toEqual({
    hits: [
      { page: 9, counter: 1_000 },
      { page: 9, counter: 1_599 },
      { page: 10, counter: 1_005 },
      { page: 11, counter: 1_599 },
    ],
  });
});

test('only two batches can be in flight, and each end makes room for another', async () => {
  const { device, scanner } = await open();
  const scans = Array.from({ length: SLOTS }, (_, i) => {
    expect(scanner.free).toBe(true);
    return scanner.scan(job, strip(i, 1));
  });
  expect(scanner.free).toBe(false);
  await expect(scanner.scan(job, strip(9, 1))).rejects.toThrow(`only ${SLOTS} batches`);
  device.dispatches[0].finish(0);
  await scans[0];
  expect(scanner.free).toBe(true);
});

test('the job’s words are written again when the job, the lane or the page changes', async () => {
  const { device, scanner } = await open();
  const written = async (search: typeof job, place: Partial<Range> = {}) => {
    const before = device.jobsWritten;
    const scan = scanner.scan(search, { ...strip(0, 1), ...place });
    device.dispatches.at(-1)!.finish(0);
    await scan;
    return device.jobsWritten - before;
  };
  expect(await written(job)).toBe(1);
  expect(await written(job)).toBe(0);
  expect(await written(job, { page: 10 })).toBe(1);
  expect(await written(job, { page: 10, lane: 4 })).toBe(1);
  const other = { ...job };
  expect(await written(other, { page: 10, lane: 4 })).toBe(1);
  expect(await written(other, { page: 10, lane: 4, step: 256 })).toBe(1);
  expect(await written(other, { page: 10, lane: 4, step: 256 })).toBe(0);
  expect(await written(job, { pages: 2 })).toBe(1);
  expect(await written(job, { pages: 2 })).toBe(0);
  expect(await written(job)).toBe(1);
});

test('each dispatch begins with a count of 0, and each page has its own words and the common result', async () => {
  const { device, scanner } = await open();
  for (let i = 0; i < 3; i++) {
    const scan = scanner.scan(job, { ...strip(0, 100), pages: 2 });
    device.dispatches.at(-1)!.finish(0);
    await scan;
  }
  expect(device.cleared.map(({ offset, size }) => [offset, size])).toEqual(Array(3).fill([0, 4]));
  // The same batch is used again, and with it what was bound.
  expect(device.bound).toHaveLength(2);
  const [{ buffer: result }] = device.cleared;
  expect(result.size).toBe(4 + 4 * HIT_CAPACITY);
  for (const [page, [control, words, hits]] of device.bound.entries()) {
    expect([control.offset, control.size]).toEqual([256 * page, 40]);
    expect([words.offset, words.size]).toEqual([256 * page, 4 * JOB_WORDS]);
    expect(hits).toEqual({ buffer: result });
  }
});

test('destroy frees all memory on the device', async () => {
  const { device, scanner } = await open();
  expect(device.buffers.length).toBeGreaterThan(0);
  scanner.destroy();
  expect(device.buffers.filter(({ destroyed }) => !destroyed)).toEqual([]);
});
