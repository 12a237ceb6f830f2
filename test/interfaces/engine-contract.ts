/** The tests that every engine must pass. */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { Engine, SearchReport } from '#pickaxe/miner/engine/engine.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { type Job, solves } from '#pickaxe/protocol/chain/job.js';
import { countersAt, joinNonce, laneWithin, type Range, splitNonce } from '#pickaxe/protocol/chain/nonce.js';
import { integerToTarget, targetToInteger } from '#pickaxe/protocol/chain/target.js';
import { powHash, verify } from '#pickaxe/protocol/chain/verify.js';
import { withNonce } from '#pickaxe/protocol/chain/work.js';
import { everythingSolves, jobOf, nothingSolves, searchVectors, someHeaderHex } from './jobs.ts';
import { Rectangle } from './rectangle.ts';

/** More than any engine searches while a test runs. */
const ENDLESS: Range = { lane: 3, step: 1, page: 0, pages: 0x1_0000, counter: 0, counters: 0x1_0000_0000 };

const never = new AbortController().signal;
const byValue = (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b));
const candidatesOf = (reports: readonly SearchReport[]) => reports.flatMap((report) => report.candidates).sort(byValue);

export function engineContract(name: string, makeEngine: () => Engine): void {
  describe(`${name} as an engine`, () => {
    let engine: Engine;
    beforeAll(async () => {
      engine = makeEngine();
      await engine.open();
    });
    afterAll(() => engine.close());

    /** Searches a rectangle to its end. */
    async function searchAll(job: Job, range: Range): Promise<bigint[]> {
      const ranges = new Rectangle(range);
      const reports = [];
      const startMs = systemClock.monotonicMs();
      for await (const report of engine.search(job, ranges, never)) {
        reports.push(report);
        // New Cut to new job is measured by it.
        expect(report.beganMs).toBeGreaterThanOrEqual(startMs);
        expect(report.beganMs).toBeLessThanOrEqual(systemClock.monotonicMs());
      }
      ranges.expectUsedUp();
      ranges.expectBalanced(reports);
      return candidatesOf(reports);
    }

    /** Starts an endless search; `reports` fills as it goes on, and `ended` settles with it. */
    function searchOn(job: Job, stop: AbortSignal, using = engine) {
      const ranges = new Rectangle(ENDLESS);
      const reports: SearchReport[] = [];
      let onReport = () => {};
      const firstReport = new Promise<void>((resolve) => {
        onReport = resolve;
      });
      const ended = (async () => {
        for await (const report of using.search(job, ranges, stop)) {
          reports.push(report);
          onReport();
        }
      })();
      return { ranges, reports, firstReport: Promise.race([firstReport, ended]), ended };
    }

    test('searches a job again on which it was stopped before', async () => {
      const job = jobOf(someHeaderHex, nothingSolves);
      const [first, again] = [new AbortController(), new AbortController()];
      const old = searchOn(job, first.signal);
      await old.firstReport;
      first.abort();
      const resumed = searchOn(job, again.signal);
      await old.ended;
      await resumed.firstReport;
      const before = resumed.reports.length;
      await vi.waitFor(() => expect(resumed.reports.length).toBeGreaterThan(before + 3), { timeout: 60_000 });
      again.abort();
      await resumed.ended;
      resumed.ranges.expectBalanced(resumed.reports);
    });

    test.each(searchVectors.first)('finds nonce $nonce first', async (vector) => {
      const { lane, page, start, counter } = vector;
      const job = jobOf(vector.headerHex, vector.targetHex);
      const range = { lane, step: 1, page, pages: 1, counter: start, counters: counter - start + 1 };
      expect(await searchAll(job, range)).toEqual([BigInt(vector.nonce)]);
    });

    test.each(searchVectors.all)('finds all nonces from counter $start on', async (vector) => {
      const job = jobOf(vector.headerHex, vector.targetHex);
      const [page] = vector.pages;
      for (const lane of vector.lanes) {
        const range = {
          lane,
          step: 1,
          page,
          pages: vector.pages.length,
          counter: vector.start,
          counters: vector.count,
        };
        const hits = vector.hits.filter((hit) => hit[0] === lane);
        const expected = hits.map(([, page, counter]) => joinNonce({ lane, step: 1, page, counter })).sort(byValue);
        expect(await searchAll(job, range)).toEqual(expected);
      }
    });

    test('loses nothing when every nonce solves', async () => {
      const range = { lane: 0xffff, step: 1, page: 0xfffd, pages: 3, counter: 2 ** 32 - 1537, counters: 1537 };
      const found = await searchAll(jobOf(someHeaderHex, everythingSolves), range);
      expect(found).toHaveLength(3 * 1537);
      expect(new Set(found).size).toBe(3 * 1537);
    });

    test('accepts a hash equal to the target, and none above it', async () => {
      const range = { lane: 9, step: 1, page: 5, pages: 1, counter: 77, counters: 1 };
      const nonce = joinNonce({ lane: 9, step: 1, page: 5, counter: 77 });
      const { header } = jobOf(someHeaderHex, nothingSolves);
      const hash = powHash(withNonce(header, nonce));
      const below = integerToTarget(targetToInteger(hash) - 1n);
      expect(await searchAll(jobOf(someHeaderHex, toHex(hash)), range)).toEqual([nonce]);
      expect(await searchAll(jobOf(someHeaderHex, toHex(below)), range)).toEqual([]);
    });

    test('ends at once when there is nothing to search', async () => {
      const job = jobOf(someHeaderHex, everythingSolves);
      expect(await searchAll(job, { lane: 0, step: 1, page: 0, pages: 0, counter: 0, counters: 0 })).toEqual([]);
    });

    test('takes nothing when stopped before it starts', async () => {
      const { ranges, reports, ended } = searchOn(jobOf(someHeaderHex, nothingSolves), AbortSignal.abort());
      await ended;
      expect(reports).toEqual([]);
      ranges.expectBalanced([]);
    });

    test('reports what it searched when it is stopped, and gives back the rest', async () => {
      const stop = new AbortController();
      const { ranges, reports, firstReport, ended } = searchOn(jobOf(someHeaderHex, nothingSolves), stop.signal);
      await firstReport;
      stop.abort();
      await ended;
      expect(reports.length).toBeGreaterThan(0);
      ranges.expectBalanced(reports);
    });

    test.each([
      { value: 0x0026, bytes: 2 },
      { value: 0x4f_0026, bytes: 3 },
      { value: 0xfeed_beef, bytes: 4 },
    ] as const)('with nonce1 %j, loses no nonce and no candidate when stopped and started again', async (nonce1) => {
      const lane = laneWithin(nonce1, 0);
      // They end at the last counter.
      const range = { ...lane, page: 0, pages: 40, counter: countersAt(lane.step) - 3000, counters: 3000 };
      const job = jobOf(someHeaderHex, `${'ff'.repeat(31)}00`, nonce1);
      const expected = await searchAll(job, range);
      // About one of 256 nonces is a candidate.
      expect(expected.length).toBeGreaterThan(300);
      for (const nonce of expected) expect(verify(job, nonce).proves).toBe(true);
      const ranges = new Rectangle(range);
      const all: SearchReport[] = [];
      let before = -1;
      while (all.length > before) {
        before = all.length;
        const stop = new AbortController();
        for await (const report of engine.search(job, ranges, stop.signal)) {
          all.push(report);
          if (all.length % 5 === 0) stop.abort();
        }
        ranges.expectBalanced(all);
      }
      ranges.expectUsedUp();
      expect(candidatesOf(all)).toEqual(expected);
    });

    test('gives back ranges whose reports nobody has read', async () => {
      const ranges = new Rectangle(ENDLESS);
      const read: SearchReport[] = [];
      for await (const report of engine.search(jobOf(someHeaderHex, nothingSolves), ranges, never)) {
        read.push(report);
        break;
      }
      ranges.expectBalanced(read);
    });

    test('may begin a new job before the old one has ended', async () => {
      const [stopOld, stopNew] = [new AbortController(), new AbortController()];
      const old = searchOn(jobOf(someHeaderHex, nothingSolves), stopOld.signal);
      await old.firstReport;
      const newJob = jobOf(searchVectors.first[1].headerHex, `${'ff'.repeat(30)}0300`);
      const next = searchOn(newJob, stopNew.signal);
      stopOld.abort();
      await Promise.all([old.ended, next.firstReport]);
      stopNew.abort();
      await next.ended;
      old.ranges.expectBalanced(old.reports);
      next.ranges.expectBalanced(next.reports);
      expect(candidatesOf(old.reports)).toEqual([]);
      for (const nonce of candidatesOf(next.reports)) expect(solves(newJob, splitNonce(nonce))).toBe(true);
    });

    test('goes through many jobs in a row', async () => {
      for (let i = 0; i < 20; i++) {
        const stop = new AbortController();
        const { ranges, reports, firstReport, ended } = searchOn(jobOf(someHeaderHex, nothingSolves), stop.signal);
        if (i % 2 === 0) await firstReport;
        stop.abort();
        await ended;
        ranges.expectBalanced(reports);
      }
    });

    test('can be closed in the middle of a search and opened again', async () => {
      const other = makeEngine();
      await other.open();
      const { ranges, reports, firstReport, ended } = searchOn(jobOf(someHeaderHex, nothingSolves), never, other);
      await firstReport;
      await other.close();
      await ended;
      ranges.expectBalanced(reports);
      await other.open();
      await other.close();
      await other.close();
    });
  });
}
