/**
 * A GPU that fails in the middle of a search loses no nonce and no solution: ranges that it had not reported are given
 * out again.
 */

import { beforeAll, expect, test } from 'vitest';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import type { SearchReport } from '#pickaxe/miner/engine/engine.js';
import type { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import type { Job } from '#pickaxe/protocol/chain/job.js';
import type { Range } from '#pickaxe/protocol/chain/nonce.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { jobOf, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { ourNiceness } from '../../../priority.ts';
import type { TestOptions } from './adapter.ts';
import { describeTwoGpus, moreOf, SILENCE_MS, signal, type Watched, watched } from './two-gpus.ts';

/** The nonces that one GPU searches, as seconds of its time: more than it takes at once, and few enough for a test. */
const SECONDS = 0.6;
/** Expected number of solutions, at which almost every dispatch finds one. */
const SOLUTIONS = 10_000;
const never = new AbortController().signal;

const FAILURES: readonly [when: string, TestOptions, strike?: (engine: GpuEngine) => void][] = [
  ['is killed', {}, signal('SIGKILL')],
  ['stands still', { silenceMs: SILENCE_MS }, signal('SIGSTOP')],
  ['crashes', { faults: ['crash'] }],
  ['loses its device', { faults: ['device loss'] }],
  ['talks garbage', { faults: ['garbage'] }],
  ['reports on what it was not given', { faults: ['wrong range'] }],
];

describeTwoGpus('two GPUs on one rectangle', () => {
  let whole: Range;
  let job: Job;
  let expected: readonly bigint[];

  beforeAll(async () => {
    const gpu = watched(0);
    const { tuning } = await gpu.engine.open();
    await gpu.engine.close();
    const counters = Math.min(2 ** 31, Math.round(SECONDS * tuning.hashesPerSecond));
    whole = { lane: 5, step: 1, page: 0x77, pages: 1, counter: 2 ** 32 - counters, counters };
    job = jobOf(someHeaderHex, toHex(targetForDifficulty(counters / SOLUTIONS)));

    // The hashing threads get the priority of the tests, so that other tests on this machine do not stop them.
    const cpu = new CpuEngine({ niceness: ourNiceness });
    await cpu.open();
    const reports: SearchReport[] = [];
    for await (const report of cpu.search(job, new Rectangle(whole), never)) reports.push(report);
    await cpu.close();
    expected = candidatesOf(reports);
    expect(expected.length).toBeGreaterThan(SOLUTIONS / 2);
  });

  for (const [when, options, strike] of FAILURES) {
    test(`find every solution once when one of them ${when}`, async () => {
      const [failing, steady] = [watched(0, options), watched(1)];
      const reports = () => [...failing.reports, ...steady.reports];
      await Promise.all([failing.engine.open(), steady.engine.open()]);
      const ranges = new Rectangle(whole);
      const stop = new AbortController();
      const own = searchAll(failing, job, ranges, never);
      const others = searchAll(steady, job, ranges, stop.signal);
      if (strike) {
        await moreOf(failing);
        strike(failing.engine);
      }
      await expect(own).rejects.toMatchObject({ fault: 'lost' });
      // The GPU that returns searches the rest.
      stop.abort();
      await others;
      ranges.expectBalanced(reports());
      await failing.engine.close();
      await failing.engine.open();
      await searchAll(failing, job, ranges, never);
      await Promise.all([failing.engine.close(), steady.engine.close()]);
      ranges.expectUsedUp();
      ranges.expectBalanced(reports());
      expect(candidatesOf(reports())).toEqual(expected);
    });
  }
});

async function searchAll({ engine }: Watched, ...search: Parameters<GpuEngine['search']>): Promise<void> {
  for await (const _ of engine.search(...search));
}

function candidatesOf(reports: readonly SearchReport[]): bigint[] {
  return reports.flatMap(({ candidates }) => candidates).sort((a, b) => (a < b ? -1 : Number(a > b)));
}
