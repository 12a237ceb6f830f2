/**
 * Measures devices, one after the other or all at once, in one or more runs. Each run measures the hashrate first, and
 * then computes the hash sum.
 */

import { type Clock, wallMs } from '../../base/system/clock.ts';
import type { CoreKind } from '../../miner/engine/device.ts';
import { DeviceError, type Engine, type EngineInfo, type EngineListener } from '../../miner/engine/engine.ts';
import { Space } from '../../miner/loop/space.ts';
import { WORK_BYTES } from '../../protocol/chain/bytes.ts';
import { prepareJob } from '../../protocol/chain/job.ts';
import { LANES } from '../../protocol/chain/nonce.ts';
import { parseWork } from '../../protocol/chain/work.ts';
import { type DeviceResult, spreadOf } from './bench-result.ts';
import { type Challenge, CheckedCandidates, doubtsOf, searchChallenge } from './challenge.ts';
import { deviceResult, type MeasuredRun, Readings } from './device-result.ts';

export interface MeasureOptions extends OpenOptions {
  readonly challenge: Challenge;
  readonly warmUpMs: number;
  /** Length of each run's measurement of the hashrate, without the warm-up. */
  readonly seconds: number;
  /** Number of runs of each device. */
  readonly repeat: number;
  /** Whether all devices are measured at once. If so, they compete for the processor and for power, as in mining. */
  readonly together: boolean;
  readonly clock: Clock;
  readonly random: (below: number) => number;
  readonly onProgress: (engine: Engine, progress: Progress) => void;
}

export type Progress = { readonly run: number } & (
  | { readonly step: 'opening' | 'warming-up' | 'failed' }
  /**
   * `done` is the finished fraction, from 0 to 1. `hashesPerSecond` is the hashrate of the last slice; absent before
   * the first slice has ended.
   */
  | { readonly step: 'measuring'; readonly done: number; readonly hashesPerSecond?: number }
  | { readonly step: 'searching-challenge'; readonly done: number }
  | { readonly step: 'done'; readonly hashesPerSecond: number; readonly spread: number }
);

interface Rated extends MeasuredRate {
  readonly engine: Engine;
  readonly opened: Opened;
  readonly date: string;
}

/**
 * All devices have their first runs before any device has its second (A B A B). So a machine that slows down while it
 * becomes warm affects all devices alike. A device that fails has no further runs. Engines are closed after each run.
 * @returns the results of the devices that have at least one complete run, in the order of the engines
 */
export async function measureDevices(engines: readonly Engine[], options: MeasureOptions): Promise<DeviceResult[]> {
  const groups = options.together ? [engines] : engines.map((engine) => [engine]);
  const measured: MeasuredRun[] = [];
  const found = new Set<bigint>();
  const gone = new Set<Engine>();
  for (let run = 1; run <= options.repeat; run++) {
    const failed: OpenOptions['failed'] = (engine, fault) => {
      gone.add(engine);
      options.onProgress(engine, { run, step: 'failed' });
      options.failed(engine, fault);
    };
    for (const group of groups) {
      const left = group.filter((engine) => !gone.has(engine));
      measured.push(...(await measureGroup(left, run, found, { ...options, failed })));
    }
  }
  return engines.flatMap((engine) => {
    const runs = measured.filter((each) => each.engine === engine);
    return runs.length > 0 ? [deviceResult(runs, found.size)] : [];
  });
}

/** @param found the right candidates of all devices and runs so far. The candidates of this run are added to it */
async function measureGroup(
  engines: readonly Engine[],
  run: number,
  found: Set<bigint>,
  options: MeasureOptions,
): Promise<MeasuredRun[]> {
  const { challenge, failed, onProgress } = options;
  try {
    for (const engine of engines) onProgress(engine, { run, step: 'opening' });
    const opened = await openAll(engines, options);
    const rated = await inStep(opened, failed, (one) => rate(one, run, options));
    return await inStep(rated, failed, async (one) => {
      const { engine, opened, date, slices, byCores } = one;
      const sensors = opened.readings.summary;
      const candidates = new CheckedCandidates(challenge);
      let percent = -1;
      await searchChallenge(engine, candidates, NEVER, () => {
        const done = candidates.hashes / challenge.count;
        if (Math.floor(100 * done) === percent) return;
        percent = Math.floor(100 * done);
        onProgress(engine, { run, step: 'searching-challenge', done });
      });
      for (const nonce of candidates.found.keys()) found.add(nonce);
      const { mean, spread } = spreadOf(slices);
      onProgress(engine, { run, step: 'done', hashesPerSecond: mean, spread });
      const { wrong, sum: hashSum } = candidates;
      const doubts = doubtsOf(candidates);
      const { info } = opened;
      return { engine, info, date, slices, byCores, sensors, found: candidates.found.size, wrong, hashSum, doubts };
    });
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

async function rate(one: Opened, run: number, options: MeasureOptions): Promise<Rated> {
  const { engine, readings } = one;
  const { clock, onProgress } = options;
  let date = '';
  onProgress(engine, { run, step: 'warming-up' });
  const rate = await measureRate(engine, {
    ...options,
    onStart: () => {
      readings.clear();
      date = new Date(wallMs(clock)).toISOString();
      onProgress(engine, { run, step: 'measuring', done: 0 });
    },
    onSlice: (hashesPerSecond, done) => {
      onProgress(engine, { run, step: 'measuring', done, hashesPerSecond });
    },
  });
  return { engine, opened: one, date, ...rate };
}

const NEVER = new AbortController().signal;

/* Opening of devices. */

export interface OpenOptions {
  readonly listener: (engine: Engine) => EngineListener;
  /** Called once for each device that fails. */
  readonly failed: (engine: Engine, fault: DeviceError) => void;
}

export interface Opened {
  readonly engine: Engine;
  readonly info: EngineInfo;
  /** The readings of the device's sensors. New readings are added while the device is open. */
  readonly readings: Readings;
}

/**
 * Opens devices one after the other. A device measures its kernels while it opens, so no other device may run then.
 * @returns the devices that could be opened
 */
export async function openAll(engines: readonly Engine[], { listener, failed }: OpenOptions): Promise<Opened[]> {
  const opened: Opened[] = [];
  for (const engine of engines) {
    const readings = new Readings();
    const open = async () => {
      const telemetry: EngineListener['telemetry'] = (reading) => readings.take(reading);
      return { engine, readings, info: await engine.open({ ...listener(engine), telemetry }) };
    };
    opened.push(...(await inStep([{ engine }], failed, open)));
  }
  return opened;
}

/** Calls `step` for all devices at the same time. @returns the results of the devices that did not fail */
export async function inStep<From extends { readonly engine: Engine }, To>(
  from: readonly From[],
  failed: OpenOptions['failed'],
  step: (from: From) => Promise<To>,
): Promise<To[]> {
  const steps = from.map(async (one) => {
    try {
      return [await step(one)];
    } catch (fault) {
      if (!(fault instanceof DeviceError)) throw fault;
      failed(one.engine, fault);
      return [];
    }
  });
  return (await Promise.all(steps)).flat();
}

/* Measuring the hashrate of a device in slices of time. The spread of the slices shows how reliable the hashrate is. */

/**
 * Usual length of the warm-up before a measurement. In this time kernels warm up, batches reach their size, and clock
 * rates rise.
 */
export const WARM_UP_MS = 2_000;
/** Usual length of a slice. Slices are shorter if a measurement would otherwise have fewer than `LEAST_SLICES`. */
const SLICE_MS = 1_000;
const LEAST_SLICES = 5;
/**
 * Maximum length of a measurement in seconds. An engine needs hours to search its whole space of nonces, so no
 * measurement reaches the end of the space.
 */
export const MOST_SECONDS = 3_600;

interface RateOptions {
  readonly warmUpMs: number;
  /** Length of the measurement, at most `MOST_SECONDS`. */
  readonly seconds: number;
  readonly clock: Clock;
  /** A uniform integer in [0, below). */
  readonly random: (below: number) => number;
  /** Called when the warm-up is over and the measurement begins. */
  readonly onStart: () => void;
  /**
   * Called at the end of each slice, with the slice's hashrate and the finished fraction of the measurement (0 to 1).
   */
  readonly onSlice: (hashesPerSecond: number, done: number) => void;
}

interface MeasuredRate {
  /**
   * Hashrate of each slice in H/s. When a slice's time is over, the next report ends the slice. So the time of a slice
   * is exactly the time in which its hashes were reported.
   */
  readonly slices: readonly number[];
  /** Hashrate of each kind of cores over all slices, in H/s; empty if the engine does not distinguish kinds. */
  readonly byCores: ReadonlyMap<CoreKind, number>;
}

/**
 * Measures the hashrate of a device that searches work whose target no hash meets.
 * @throws DeviceError when the device is lost
 */
export async function measureRate(engine: Engine, options: RateOptions): Promise<MeasuredRate> {
  const { warmUpMs, seconds, clock, random, onStart, onSlice } = options;
  const count = Math.max(LEAST_SLICES, Math.round((1000 * seconds) / SLICE_MS));
  const sliceMs = (1000 * seconds) / count;
  const job = prepareJob(parseWork(new Uint8Array(WORK_BYTES)));
  const stop = new AbortController();
  const warmMs = clock.monotonicMs() + warmUpMs;
  const slices: number[] = [];
  let startMs: number | undefined;
  let hashes = 0;
  let totalMs = 0;
  const sums = new Map<CoreKind, number>();
  for await (const report of engine.search(
    job,
    Space.anywhere({ lane: random(LANES), step: 1 }, random),
    stop.signal,
  )) {
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
