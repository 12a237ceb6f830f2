/** Tests the searcher on a simulated GPU whose answers the tests choose. */

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { type Report, Searcher } from '#pickaxe/miner/engine/gpu/child/searcher.js';
import type { Scan, Scanner } from '#pickaxe/miner/engine/gpu/child/shader-scanner.js';
import { hashTail, type Puzzle, solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce, type Range } from '#pickaxe/protocol/chain/nonce.js';
import { everythingSolves, jobOf, someHeaderHex } from '../../../../interfaces/jobs.ts';
import { turns } from '../../../../turns.ts';
import { watchPolls } from './polls.ts';

const UNIT = 64;
const SLOTS = 2;
const BATCH_MS = 10;
const CHECK_EVERY_MS = 1_000;
const job = jobOf(someHeaderHex, everythingSolves);
const strip = (counter: number, counters: number): Range => ({
  lane: 3,
  step: 1,
  page: 9,
  pages: 1,
  counter,
  counters,
});

/** A dispatch that has no answer yet. */
interface Flight {
  readonly range: Range;
  readonly answer: (scan: Scan) => void;
  readonly fail: (error: Error) => void;
}

function rig({ firstCounters = UNIT, checkTakesMs = 0, checked = Promise.resolve() } = {}) {
  const clock = { ...systemClock, ms: 0, nowUs: () => 0n, monotonicMs: () => clock.ms };
  const flights: Flight[] = [];
  const scanner = {
    unit: UNIT,
    most: 2 ** 20,
    get free() {
      return flights.length < SLOTS;
    },
    scan: (_: Puzzle, range: Range) => new Promise<Scan>((answer, fail) => void flights.push({ range, answer, fail })),
  } as unknown as Scanner;
  const reports: Report[] = [];
  const ended: number[] = [];
  const lost: unknown[] = [];
  const counts = { idle: 0, checks: 0 };
  const searcher = new Searcher({
    scanner,
    batchMs: BATCH_MS,
    firstCounters,
    checkEveryMs: CHECK_EVERY_MS,
    clock,
    hooks: {
      report: (report) => reports.push(report),
      idle: () => void counts.idle++,
      ended: (search) => ended.push(search),
      check: async () => {
        counts.checks++;
        clock.ms += checkTakesMs;
        await checked;
      },
      lost: (error) => lost.push(error),
    },
  });
  /** Answers the oldest dispatch after the given time, and lets the searcher react. */
  const done = async (scan: Scan = { hits: [] }, tookMs = 1) => {
    clock.ms += tookMs;
    const flight = flights.shift()!;
    flight.answer(scan);
    await turns();
    return flight.range;
  };
  return { clock, flights, reports, ended, lost, counts, searcher, done };
}

test('a wrong hit stays a candidate, unless only the words below the most significant one decide', async () => {
  const { searcher, reports, done } = rig();
  const nonce = { lane: 3, step: 1, page: 9, counter: 100 };
  const hash = hashTail(job, nonce);
  const candidatesAt = async (target: Uint32Array) => {
    const puzzle = { ...job, target };
    searcher.begin(1, puzzle);
    searcher.add(1, strip(100, UNIT));
    await done({ hits: [{ page: 9, counter: 100 }] });
    return { solves: solves(puzzle, nonce), candidates: reports.at(-1)!.candidates };
  };
  const withTop = (top: number, lower: number) => Uint32Array.of(...Array(7).fill(lower), top);
  expect(await candidatesAt(withTop(hash[7], 0xffff_ffff))).toEqual({ solves: true, candidates: [joinNonce(nonce)] });
  expect(await candidatesAt(withTop(hash[7], 0))).toEqual({ solves: false, candidates: [] });
  expect(await candidatesAt(withTop(hash[7] - 1, 0xffff_ffff))).toEqual({
    solves: false,
    candidates: [joinNonce(nonce)],
  });
});

test('two dispatches are in flight, and a third begins when one of them is done', async () => {
  const { searcher, flights, reports, counts, done } = rig();
  searcher.begin(1, job);
  searcher.add(1, strip(0, 4 * UNIT));
  expect(flights.map(({ range }) => range)).toEqual([strip(0, UNIT), strip(UNIT, UNIT)]);
  expect(counts.idle).toBe(0);
  await done({ hits: [] }, BATCH_MS); // The dispatch took as long as it should, so the next one is as large.
  expect(flights.map(({ range }) => range.counter)).toEqual([UNIT, 2 * UNIT]);
  expect(reports).toEqual([{ search: 1, searched: strip(0, UNIT), beganMs: 0, candidates: [] }]);
  while (flights.length > 0) await done({ hits: [] }, BATCH_MS);
  expect(reports.map(({ searched }) => searched.counter)).toEqual([0, UNIT, 2 * UNIT, 3 * UNIT]);
  expect(counts.idle).toBe(1);
});

test('a range with too many hits is searched again in halves, and the hits of one workgroup always fit', async () => {
  const { searcher, flights, reports, done } = rig();
  searcher.begin(1, job);
  // Dispatches double while they take no time: this one has four workgroups.
  searcher.add(1, strip(0, UNIT));
  await done();
  searcher.add(1, strip(0, 2 * UNIT));
  await done();
  const before = reports.length;
  searcher.add(1, strip(1_000, 4 * UNIT));
  expect(await done('overflow')).toEqual(strip(1_000, 4 * UNIT));
  expect(flights.map(({ range }) => range)).toEqual([strip(1_000, 2 * UNIT), strip(1_000 + 2 * UNIT, 2 * UNIT)]);
  await done('overflow');
  await done();
  while (flights.length > 0) expect((await done()).counters).toBe(UNIT);
  const searched = reports.slice(before).map((report) => report.searched);
  expect(searched.sort((a, b) => a.counter - b.counter)).toEqual([
    strip(1_000, UNIT),
    strip(1_000 + UNIT, UNIT),
    strip(1_000 + 2 * UNIT, 2 * UNIT),
  ]);
});

test('a range with too many hits is not cut into parts smaller than a workgroup', async () => {
  const { searcher, flights, done } = rig({ firstCounters: 2 * UNIT });
  searcher.begin(1, job);
  searcher.add(1, strip(0, UNIT + 10));
  await done('overflow');
  expect(flights.map(({ range }) => range)).toEqual([strip(0, UNIT), strip(UNIT, 10)]);
});

test('a stopped search ends once, when its last dispatch is reported', async () => {
  const { searcher, flights, reports, ended, done } = rig();
  searcher.begin(1, job);
  searcher.add(1, strip(0, 10 * UNIT));
  searcher.stop(1);
  expect(ended).toEqual([]);
  await done();
  expect(ended).toEqual([]);
  await done();
  expect(flights).toEqual([]);
  expect(reports).toHaveLength(2);
  expect(ended).toEqual([1]);
  searcher.begin(2, job);
  searcher.stop(2);
  expect(ended).toEqual([1, 2]);
  for (const search of [1, 2, 3]) searcher.stop(search);
  expect(ended).toEqual([1, 2]);
});

test('Dawn is asked for the end of the oldest batch when it should end, and the parent is told when none is left', async () => {
  const nextPollMs = watchPolls();
  const now = vi.spyOn(performance, 'now').mockReturnValue(5_000);
  onTestFinished(() => now.mockRestore());
  const { searcher, counts, done } = rig();
  searcher.begin(1, job);
  searcher.add(1, strip(0, 5 * UNIT));
  // The lengths of the first two batches are not known, and those of the next ones are.
  for (const [pollMs, tookMs] of [
    [1, BATCH_MS],
    [1, BATCH_MS],
  ]) {
    expect(await nextPollMs()).toBe(pollMs);
    await done({ hits: [] }, tookMs);
  }
  expect(await nextPollMs()).toBeCloseTo(0.995 * BATCH_MS + 0.5);
  await done({ hits: [] }, BATCH_MS);
  // It began when the one before should have ended.
  expect(await nextPollMs()).toBeCloseTo(2 * 0.995 * BATCH_MS - BATCH_MS + 0.5);
  await done({ hits: [] }, BATCH_MS);
  expect(counts.idle).toBe(0);
  await done({ hits: [] }, BATCH_MS);
  expect(counts.idle).toBe(1);
});

test('the device is checked between dispatches when enough time has passed', async () => {
  const { searcher, counts, done } = rig();
  searcher.begin(1, job);
  const dispatch = async (tookMs: number) => {
    searcher.add(1, strip(0, UNIT));
    await done({ hits: [] }, tookMs);
    return counts.checks;
  };
  expect(await dispatch(CHECK_EVERY_MS - 1)).toBe(0);
  expect(await dispatch(1)).toBe(1);
  expect(await dispatch(CHECK_EVERY_MS - 1)).toBe(1);
  expect(await dispatch(1)).toBe(2);
});

test('a check waits for a free slot', async () => {
  const { searcher, clock, flights, counts, done } = rig();
  searcher.begin(1, job);
  searcher.add(1, strip(0, UNIT));
  clock.ms = CHECK_EVERY_MS;
  // Both places are taken before the end of this dispatch is noticed.
  flights.shift()!.answer({ hits: [] });
  searcher.add(1, strip(0, 2 * UNIT));
  expect(flights).toHaveLength(SLOTS);
  await turns();
  expect(counts.checks).toBe(0);
  await done();
  expect(counts.checks).toBe(1);
});

describe('the measured time of a dispatch', () => {
  const FIRST = 8 * UNIT;
  /** Two dispatches in flight at first, and more to come. */
  function two(options: { checkTakesMs?: number } = {}, startMs = 0) {
    const made = rig({ firstCounters: FIRST, ...options });
    made.clock.ms = startMs;
    made.searcher.begin(1, job);
    made.searcher.add(1, strip(0, 100 * UNIT));
    expect(made.flights.map(({ range }) => range.counters)).toEqual([FIRST, FIRST]);
    return made;
  }
  const lastOf = ({ flights }: ReturnType<typeof rig>) => flights.at(-1)!.range.counters;

  test('begins at the end of the previous dispatch', async () => {
    const made = two();
    for (let i = 0; i < 6; i++) {
      await made.done({ hits: [] }, BATCH_MS);
      expect(lastOf(made)).toBe(FIRST);
    }
  });

  test('does not include a check of the device', async () => {
    const made = two({ checkTakesMs: 20 * BATCH_MS }, CHECK_EVERY_MS - BATCH_MS);
    await made.done({ hits: [] }, BATCH_MS);
    expect(made.counts.checks).toBe(1);
    await made.done({ hits: [] }, BATCH_MS);
    expect(lastOf(made)).toBe(FIRST);
  });

  test('is ignored for the small rest of a range', async () => {
    const made = rig({ firstCounters: FIRST });
    made.searcher.begin(1, job);
    for (const counters of [FIRST, FIRST / 2, FIRST / 4, 1]) {
      made.searcher.add(1, strip(0, counters));
      await made.done({ hits: [] }, BATCH_MS);
    }
    made.searcher.add(1, strip(0, 2 * FIRST));
    expect(lastOf(made)).toBe(FIRST);
  });
});

test('a dispatch that fails loses the device', async () => {
  const { searcher, flights, lost, reports } = rig();
  searcher.begin(1, job);
  searcher.add(1, strip(0, UNIT));
  const error = new Error('the driver says no');
  flights.shift()!.fail(error);
  await turns();
  expect(lost).toEqual([error]);
  expect(reports).toEqual([]);
});

/** An action that a test ends. */
function action() {
  const state = { began: false, end: () => {} };
  const run = () =>
    new Promise<string>((resolve) => {
      state.began = true;
      state.end = () => resolve('done');
    });
  return { state, run };
}

describe('an interruption', () => {
  test('waits for the dispatches in flight, and has the GPU to itself', async () => {
    const { searcher, flights, done } = rig();
    searcher.begin(1, job);
    searcher.add(1, strip(0, 10 * UNIT));
    const { state, run } = action();
    const result = searcher.interrupt(run);
    await done();
    expect([flights.length, state.began]).toEqual([1, false]);
    await done();
    expect([flights.length, state.began]).toEqual([0, true]);
    searcher.add(1, strip(1_000, UNIT));
    expect(flights).toEqual([]);
    state.end();
    expect(await result).toBe('done');
    await turns();
    expect(flights).toHaveLength(SLOTS);
  });

  test('waits while nothing is searched', async () => {
    const { searcher, done } = rig();
    const { state, run } = action();
    void searcher.interrupt(run);
    await turns();
    expect(state.began).toBe(false);
    searcher.begin(1, job);
    searcher.add(1, strip(0, 10 * UNIT));
    await turns();
    expect(state.began).toBe(true);
    state.end();
    await turns();
    await done();
  });

  test('waits when the last range is searched, until there is another one', async () => {
    const { searcher, done } = rig();
    const { state, run } = action();
    searcher.begin(1, job);
    searcher.add(1, strip(0, UNIT));
    void searcher.interrupt(run);
    await done();
    expect(state.began).toBe(false);
    searcher.add(1, strip(UNIT, UNIT));
    await turns();
    expect(state.began).toBe(true);
    state.end();
    await turns();
    await done();
  });

  test('begins as soon as any search has ranges, beside one that has none', async () => {
    const { searcher } = rig();
    const { state, run } = action();
    void searcher.interrupt(run);
    searcher.begin(1, job);
    searcher.begin(2, job);
    searcher.add(2, strip(0, UNIT));
    expect(state.began).toBe(true);
    state.end();
    await turns();
  });

  test('begins once it has waited nineteen times as long as the last one took', async () => {
    const { searcher, clock, done } = rig();
    searcher.begin(1, job);
    searcher.add(1, strip(0, 2 ** 20));
    const began: number[] = [];
    for (let i = 0; i < 2; i++) {
      void searcher.interrupt(async () => {
        began.push(clock.ms);
        clock.ms += 50;
      });
    }
    while (began.length < 1) await done();
    const endedMs = clock.ms;
    await done({ hits: [] }, 19 * 50 - 1);
    await done({ hits: [] }, 0);
    expect(began).toHaveLength(1);
    await done();
    await done({ hits: [] }, 0);
    expect(began[1]).toBe(endedMs + 19 * 50);
  });

  test('takes a twentieth of the time', async () => {
    const { searcher, clock, done } = rig();
    searcher.begin(1, job);
    searcher.add(1, strip(0, 2 ** 20));
    const began: number[] = [];
    const interruption = async () => {
      began.push(clock.ms);
      clock.ms += 50;
    };
    for (let i = 0; i < 3; i++) void searcher.interrupt(interruption);
    while (began.length < 3) await done({ hits: [] }, BATCH_MS);
    const apart = [began[1] - began[0], began[2] - began[1]];
    for (const ms of apart) expect(Math.abs(ms - 20 * 50)).toBeLessThanOrEqual(3 * BATCH_MS);
  });

  test('follows within a minute after one in which the machine was suspended', async () => {
    const { searcher, clock, done } = rig();
    searcher.begin(1, job);
    searcher.add(1, strip(0, 2 ** 30));
    const began: number[] = [];
    for (const tookMs of [3_600_000, 50]) {
      void searcher.interrupt(async () => {
        began.push(clock.ms);
        clock.ms += tookMs;
      });
    }
    for (let i = 0; i < 700; i++) await done({ hits: [] }, 100);
    expect(began).toHaveLength(2);
  });

  test('does not run during a check', async () => {
    let endCheck = () => {};
    const checked = new Promise<void>((resolve) => {
      endCheck = resolve;
    });
    const { searcher, clock, counts, done } = rig({ checked });
    searcher.begin(1, job);
    searcher.add(1, strip(0, 10 * UNIT));
    clock.ms = CHECK_EVERY_MS;
    const { state, run } = action();
    void searcher.interrupt(run);
    await done();
    await done();
    expect([counts.checks, state.began]).toEqual([1, false]);
    endCheck();
    await turns();
    expect(state.began).toBe(true);
  });

  test('that fails does not stop the search', async () => {
    const { searcher, flights, done } = rig();
    searcher.begin(1, job);
    searcher.add(1, strip(0, 10 * UNIT));
    const failed = expect(searcher.interrupt(() => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    await done();
    await done();
    await failed;
    await turns();
    expect(flights).toHaveLength(SLOTS);
  });

  test('can replace the scanner', async () => {
    const { searcher, flights, done } = rig();
    searcher.begin(1, job);
    searcher.add(1, strip(0, 100 * UNIT));
    const ranges: Range[] = [];
    const other = {
      unit: 2 * UNIT,
      most: 2 ** 20,
      free: true,
      scan: async (_: Puzzle, range: Range) => {
        ranges.push(range);
        other.free = ranges.length < 3;
        return new Promise<Scan>(() => {});
      },
    };
    void searcher.interrupt(async () => {
      searcher.replace(other as unknown as Scanner, BATCH_MS, 8 * UNIT);
    });
    await done();
    await done();
    await turns();
    expect(flights).toEqual([]);
    expect(ranges.map(({ counters }) => counters)).toEqual([8 * UNIT, 8 * UNIT, 8 * UNIT]);
  });
});
