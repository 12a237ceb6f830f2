/** The measurements of variants and of lengths of batches, on a pretended GPU with a clock of its own. */

import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bestBatch, type InTurn, raceBatches, raceVariants } from '#pickaxe/miner/engine/gpu/child/autotune.js';
import type { Scan, Scanner } from '#pickaxe/miner/engine/gpu/child/shader-scanner.js';
import { nameOf, TUNING_LIMITS, VARIANTS } from '#pickaxe/miner/engine/gpu/tuning.js';
import type { Puzzle } from '#pickaxe/protocol/chain/job.js';
import { COUNTERS, type Range, sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { turns } from '../../../../turns.ts';
import { watchPolls } from './polls.ts';

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

  test('has no batch that is larger than a batch may be, and none that ends after the last nonce', async () => {
    const { ranges, scanner } = scannerOf(1e9);
    const beforeTurns: number[] = [];
    await raceVariants([scanner], LIMITS, (variant) => variant && beforeTurns.push(ranges.length));
    expect(Math.max(...ranges.map(({ counters }) => counters))).toBe(MOST);
    expect(ranges[beforeTurns[1] - 1].counters).toBe(MOST);
    for (const { counter, counters } of ranges) expect(counter + counters).toBeLessThanOrEqual(COUNTERS);
  });

  test('begins with batches that double until one takes half as long as a batch should', async () => {
    // A workgroup takes a ms.
    const { ranges, scanner } = scannerOf(UNIT);
    const beforeTurns: number[] = [];
    await raceVariants([scanner], LIMITS, (variant) => variant && beforeTurns.push(ranges.length));
    const units = ranges.map(({ counters }) => counters / UNIT);
    expect(units.slice(0, beforeTurns[1])).toEqual([1, 2, 4]);
    expect(new Set(units.slice(beforeTurns[1]))).toEqual(new Set([8]));
  });

  test('gives a slow GPU one workgroup at a time', async () => {
    const { ranges, scanner } = scannerOf(UNIT / 100);
    const [{ hashesPerSecond }] = await raceVariants([scanner], LIMITS, () => {});
    expect(new Set(ranges.map(({ counters }) => counters))).toEqual(new Set([UNIT]));
    expect(hashesPerSecond).toBe(10 * UNIT);
  });

  test('counts the best turn of each, because other programs can only slow a turn down', async () => {
    const { scanner } = scannerOf(1e6);
    let turn = 0;
    const inTurn: InTurn = async (run) => {
      turn++;
      const perMs = Number(await run());
      return (turn === 4 ? perMs : perMs / 2) as never;
    };
    const [{ hashesPerSecond }] = await raceVariants([scanner], LIMITS, () => {}, inTurn);
    expect(hashesPerSecond).toBe(1e9);
  });

  test('asks for the end of each batch when it should end', async () => {
    const nextPollMs = watchPolls();
    const flights: (() => void)[] = [];
    const scan = () => new Promise<Scan>((resolve) => void flights.push(() => resolve({ hits: [] })));
    const scanner = { variant: VARIANTS[0], unit: UNIT, most: MOST, scan } as unknown as Scanner;
    void raceVariants([scanner], LIMITS, () => {});
    const endOne = async (tookMs: number) => {
      nowMs += tookMs;
      flights.shift()!();
      await turns();
    };
    await turns();
    await endOne(8);
    expect(flights).toHaveLength(2);
    expect(await nextPollMs()).toBeCloseTo(0.995 * 8 + 0.5);
    await endOne(8);
    expect(flights).toHaveLength(2);
    // The second batch began when the first one ended.
    expect(await nextPollMs()).toBeCloseTo(2 * 0.995 * 8 - 8 + 0.5);
    await endOne(8);
    expect(await nextPollMs()).toBeCloseTo(3 * 0.995 * 8 - 16 + 0.5);
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
    let count = 0;
    await raceVariants(
      [scanner],
      LIMITS,
      () => {},
      (turn) => {
        count++;
        return turn();
      },
    );
    expect(count).toBe(10);
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
