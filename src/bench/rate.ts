/** A device's hashrate, measured in slices: their spread says how far to trust it. */

import { prepareJob } from '../chain/job.ts';
import { WORK_BYTES } from '../chain/layout.ts';
import { LANES, PAGES } from '../chain/nonce.ts';
import { parseWork } from '../chain/work.ts';
import type { CoreKind } from '../engine/device.ts';
import { DeviceError, type Engine } from '../engine/engine.ts';
import { Space } from '../mine/space.ts';
import type { Clock } from '../system/clock.ts';

/** The figures begin after this: until then kernels warm up, batches find their size, and clocks rise. */
export const WARM_UP_MS = 2_000;
/** How long a slice is. A short measurement has the least number of slices, which are shorter then. */
const SLICE_MS = 1_000;
const LEAST_SLICES = 5;
/** One engine searches a whole space within hours: a measurement ends before that. */
export const MOST_SECONDS = 3_600;

export interface RateOptions {
  readonly warmUpMs: number;
  /** At most 3,600. */
  readonly seconds: number;
  readonly clock: Clock;
  /** A uniform integer in [0, below). */
  readonly random: (below: number) => number;
  /** Called when the warm-up is over. */
  readonly onStart: () => void;
  /**
   * Called at the end of each slice.
   * @param hashesPerSecond the slice's hashrate
   * @param done part of the measurement that is done, 0 to 1
   */
  readonly onSlice: (hashesPerSecond: number, done: number) => void;
}

export interface MeasuredRate {
  /** H/s of each slice. A slice ends with the first report after its time is up, so that hashes and time match. */
  readonly slices: readonly number[];
  /** H/s over all slices, for each kind of cores; empty where the engine does not tell them apart. */
  readonly byCores: ReadonlyMap<CoreKind, number>;
}

/**
 * Searches for a target that nothing meets.
 * @throws DeviceError when the device is lost.
 */
export async function measureRate(engine: Engine, options: RateOptions): Promise<MeasuredRate> {
  const { warmUpMs, seconds, clock, random, onStart, onSlice } = options;
  const count = Math.max(LEAST_SLICES, Math.round((1000 * seconds) / SLICE_MS));
  const sliceMs = (1000 * seconds) / count;
  const job = prepareJob(parseWork(new Uint8Array(WORK_BYTES), { id: 'bench' }));
  const stop = new AbortController();
  const warmMs = clock.monotonicMs() + warmUpMs;
  const slices: number[] = [];
  let startMs: number | undefined;
  let hashes = 0;
  let totalMs = 0;
  const sums = new Map<CoreKind, number>();
  for await (const report of engine.search(job, new Space(random(LANES), random(PAGES)), stop.signal)) {
    const nowMs = clock.monotonicMs();
    if (slices.length === count || nowMs < warmMs) continue;
    if (startMs === undefined) {
      startMs = nowMs;
      onStart();
      continue;
    }
    hashes += report.hashes;
    if (report.cores) sums.set(report.cores, (sums.get(report.cores) ?? 0) + report.hashes);
    if (nowMs - startMs < sliceMs) continue;
    const hashesPerSecond = (1000 * hashes) / (nowMs - startMs);
    slices.push(hashesPerSecond);
    onSlice(hashesPerSecond, slices.length / count);
    totalMs += nowMs - startMs;
    startMs = nowMs;
    hashes = 0;
    if (slices.length === count) stop.abort();
  }
  if (slices.length < count) throw new DeviceError('lost', 'the search ended by itself');
  const byCores = new Map(Array.from(sums, ([kind, sum]) => [kind, (1000 * sum) / totalMs]));
  return { slices, byCores };
}
