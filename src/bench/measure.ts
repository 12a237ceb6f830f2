/** Measures devices, one after the other or all at once, as often as asked: hashrate first, then the hash sum. */

import type { Engine } from '../engine/engine.ts';
import { type Clock, wallMs } from '../system/clock.ts';
import type { Challenge } from './challenge.ts';
import { CheckedCandidates, doubtsOf, searchChallenge } from './checked-candidates.ts';
import { deviceResult, type MeasuredRun } from './device-result.ts';
import { inStep, type Opened, type OpenOptions, openAll } from './open.ts';
import { type MeasuredRate, measureRate } from './rate.ts';
import type { DeviceResult } from './result.ts';
import { spreadOf } from './spread.ts';

export interface MeasureOptions extends OpenOptions {
  readonly challenge: Challenge;
  readonly warmUpMs: number;
  /** How long each run measures. */
  readonly seconds: number;
  /** How many runs each device has. */
  readonly repeat: number;
  /** Whether all are measured at once. They then compete for the processor and for power, as while mining. */
  readonly together: boolean;
  readonly clock: Clock;
  /** A uniform integer in [0, below). */
  readonly random: (below: number) => number;
  readonly onProgress: (engine: Engine, progress: Progress) => void;
}

/** How far a device is with one of its runs. */
export type Progress = { readonly run: number } & (
  | { readonly step: 'opening' | 'warming-up' | 'failed' }
  /** `done` is a part from 0 to 1, `hashesPerSecond` the hashrate of the last slice. */
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
 * Every device has its first run before any has its second (A B A B), so that a machine that slows down as it gets warm
 * slows all alike. A device that fails has no further run. Closes the engines after each run.
 * @returns the results of the devices that have a complete run, in the order of the engines
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

/** @param found the right candidates of all devices and runs; those of this run are added */
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
