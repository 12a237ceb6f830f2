/** The measurements of variants and of lengths of batches, on a pretended GPU with a clock of its own. */

import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bestBatch, raceBatches, raceVariants } from '#pickaxe/miner/engine/gpu/child/autotune.js';
import type { Scan, Scanner } from '#pickaxe/miner/engine/gpu/child/shader-scanner.js';
import { nameOf, TUNING_LIMITS, VARIANTS } from '#pickaxe/miner/engine/gpu/tuning.js';
import type { Puzzle } from '#pickaxe/protocol/chain/job.js';
import { COUNTERS, type Range, sizeOf } from '#pickaxe/protocol/chain/nonce.js';

const UNIT = 2048;
const MOST = 2 ** 31;
const LIMITS = { ...TUNING_LIMITS, warmUpMs: 0 };

let nowMs: number;
beforeEach(() => {
  nowMs = 1_000;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => spy.mockRestore());
});

/** A scanner that searches this number of counters in a ms. The GPU runs batches one after the other. */
function scannerOf(perMs: number, variant = VARIANTS[0], fails = false) {
  const ranges: Range[] = [];
  let freeMs = 0;
  const scan = async (_: Puzzle, range: Range): Promise<Scan> => {
    ranges.push(range);
    const endMs = Math.max(nowMs, freeMs) + sizeOf(range) / perMs;
    freeMs = endMs;
    await null;
    if (fails) throw new Error('the device is lost');
    nowMs = Math.max(nowMs, endMs);
    return { hits: [] };
  };
  return { ranges, scanner: { variant, unit: UNIT, most: MOST, scan } as unknown as Scanner };
}

/** Counts the turns of each variant, by the calls that say what is being tried. */
function counted() {
  const calls: (string | undefined)[] = [];
  const turnsOf = (scanner: Scanner) => calls.filter((name) => name === nameOf(scanner.variant)).length;
  return { calls, turnsOf, trying: (variant?: (typeof VARIANTS)[number]) => calls.push(variant && nameOf(variant)) };
}

describe('the race of variants', () => {
  test('gives the rate of each, the fastest first, and no final turns to one that is hopeless', async () => {
    const { calls, turnsOf, trying } = counted();
    const [slow, close, fast] = [0.92e6, 0.94e6, 1e6].map((perMs, i) => scannerOf(perMs, VARIANTS[i]));
    const all = [slow, close, fast].map(({ scanner }) => scanner);
    const results = await raceVariants(all, LIMITS, trying);
    expect(results.map(({ scanner, hashesPerSecond }) => [scanner.variant, hashesPerSecond])).toEqual([
      [VARIANTS[2], 1e9],
      [VARIANTS[1], 0.94e9],
      [VARIANTS[0], 0.92e9],
    ]);
    // One warms it up.
    expect(all.map(turnsOf)).toEqual([1 + 3, 1 + 3 + 6, 1 + 3 + 6]);
    // After each turn no variant is tried.
    expect(calls.filter((_, i) => i % 2 === 1).every((name) => name === undefined)).toBe(true);
    expect(calls).toHaveLength(2 * (4 + 10 + 10));
  });

  test('searches whole workgroups of one page, and none that do not exist', async () => {
    const { ranges, scanner } = scannerOf(1e6);
    await raceVariants([scanner], LIMITS, () => {});
    for (const { step, pages, counter, counters } of ranges) {
      expect([step, pages, counters % UNIT]).toEqual([1, 1, 0]);
      expect(counter + counters).toBeLessThanOrEqual(COUNTERS);
    }
    const counters = ranges.map((range) => range.counters);
    expect(counters.slice(0, 3)).toEqual([UNIT, 2 * UNIT, 4 * UNIT]);
    // Batches of 8 ms, one after the other.
    const batch = Math.floor(8e6 / UNIT) * UNIT;
    expect(counters.at(-1)).toBe(batch);
    expect(ranges.slice(-3).map(({ counter }, i, [first]) => counter - first.counter - i * batch)).toEqual([0, 0, 0]);
  });

  test('has no batch that is larger than a batch may be, however fast the GPU is', async () => {
    const { ranges, scanner } = scannerOf(1e9);
    await raceVariants([scanner], LIMITS, () => {});
    expect(Math.max(...ranges.map(({ counters }) => counters))).toBeLessThanOrEqual(MOST);
  });

  test('begins when the GPU is warm, unless there is only one variant', async () => {
    const limits = { ...TUNING_LIMITS, warmUpMs: 100_000 };
    const [one, other] = [scannerOf(1e6, VARIANTS[0]), scannerOf(1e6, VARIANTS[1])];
    const { turnsOf, trying } = counted();
    const beganMs = nowMs;
    await raceVariants([one.scanner], limits, trying);
    expect(nowMs - beganMs).toBeLessThan(1_000);
    expect(turnsOf(one.scanner)).toBe(10);
    await raceVariants([one.scanner, other.scanner], limits, trying);
    expect(nowMs - beganMs).toBeGreaterThan(100_000);
    expect(turnsOf(other.scanner)).toBe(10);
    expect(turnsOf(one.scanner)).toBeGreaterThan(1_000);
  });

  test('leaves a variant named with which the device is lost', async () => {
    const { calls, trying } = counted();
    const [well, lost] = [scannerOf(1e6, VARIANTS[0]), scannerOf(1e6, VARIANTS[1], true)];
    await expect(raceVariants([well.scanner, lost.scanner], LIMITS, trying)).rejects.toThrow('the device is lost');
    expect(calls).toEqual([nameOf(VARIANTS[0]), undefined, nameOf(VARIANTS[1])]);
  });

  test('runs each turn when the GPU has nothing else to do', async () => {
    const { scanner } = scannerOf(1e6);
    let turns = 0;
    await raceVariants(
      [scanner],
      LIMITS,
      () => {},
      (turn) => {
        turns++;
        return turn();
      },
    );
    expect(turns).toBe(10);
  });
});

describe('the race of lengths of a batch', () => {
  test('has a row for each, with the hashes that New Cuts leave and the use of the processor', async () => {
    // Each turn keeps the processor busy for 3 of 12 ms, whatever the clock says.
    const spy = vi
      .spyOn(performance, 'eventLoopUtilization')
      .mockReturnValue({ active: 3, idle: 9, utilization: 0.25 });
    onTestFinished(() => spy.mockRestore());
    const { calls, trying } = counted();
    const { ranges, scanner } = scannerOf(1e6);
    const rows = await raceBatches(scanner, 1e9, LIMITS, trying);
    expect(rows).toEqual(
      [2, 4, 8, 16, 32].map((batchMs) => ({
        batchMs,
        hashesPerSecond: 1e9,
        score: Math.round(1e9 * (1 - (2 * batchMs) / 30_000)),
        busy: 0.25,
      })),
    );
    expect(calls).toEqual(Array.from({ length: 5 * 3 }, () => [nameOf(VARIANTS[0]), undefined]).flat());
    const sizes = [2, 4, 8, 16, 32].map((batchMs) => Math.floor((1e6 * batchMs) / UNIT) * UNIT);
    expect([...new Set(ranges.map(({ counters }) => counters))]).toEqual(sizes);
  });
});

const row = (batchMs: number, score: number, busy = 0.01) => ({ batchMs, hashesPerSecond: score, score, busy });

test('of batches with equal scores, the shortest is the best', () => {
  expect(bestBatch([row(2, 900), row(4, 999), row(8, 1000), row(16, 1001)]).batchMs).toBe(4);
  expect(bestBatch([row(2, 900), row(4, 950), row(8, 1000), row(16, 1100)]).batchMs).toBe(16);
});

test('a batch that keeps the processor busy is chosen only when all do', () => {
  expect(bestBatch([row(2, 1000, 0.09), row(4, 1000, 0.05), row(8, 999, 0.025), row(16, 999, 0.02)]).batchMs).toBe(8);
  expect(bestBatch([row(2, 1000, 0.3), row(4, 1000, 0.2), row(8, 900, 0.1)]).batchMs).toBe(8);
});
