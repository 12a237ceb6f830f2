/** Searches on a GPU that fails, for tests of its faults. */

import type { SearchReport } from '#pickaxe/miner/engine/engine.js';
import type { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';

export const never: AbortSignal = new AbortController().signal;
export const job = jobOf(someHeaderHex, nothingSolves);
export const endless = () =>
  new Rectangle({ lane: 0, step: 1, page: 0, pages: 0x1_0000, counter: 0, counters: 2 ** 32 });

/** Searches until the engine throws. */
export async function searchToTheEnd(engine: GpuEngine, onReport: (report: SearchReport) => void = () => {}) {
  const ranges = endless();
  const reports: SearchReport[] = [];
  const ended = (async () => {
    for await (const report of engine.search(job, ranges, never)) {
      reports.push(report);
      onReport(report);
    }
  })();
  const fault = await ended.then(
    () => undefined,
    (error: unknown) => error,
  );
  ranges.expectBalanced(reports);
  return { fault, reports };
}
