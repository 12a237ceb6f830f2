/** Measures devices, one after the other or all at once: hashrate first, then the hash sum. */

import type { Engine, EngineInfo } from '../engine/engine.ts';
import type { Clock } from '../system/clock.ts';
import { type Challenge, EXPECTED_CANDIDATES } from './challenge.ts';
import { CheckedCandidates, doubtsOf, errorsOf, searchChallenge } from './checked-candidates.ts';
import { inStep, type OpenOptions, openAll } from './open.ts';
import { measureRate } from './rate.ts';
import type { ReadingSummary } from './readings.ts';
import type { DeviceResult } from './result.ts';
import { spreadOf } from './spread.ts';

export interface MeasureOptions extends OpenOptions {
  readonly challenge: Challenge;
  readonly warmUpMs: number;
  /** How long each measurement takes. */
  readonly seconds: number;
  /** Whether all are measured at once: as while mining, they then compete for the processor and for power. */
  readonly together: boolean;
  readonly clock: Clock;
  /** A uniform integer in [0, below). */
  readonly random: (below: number) => number;
}

interface Measured {
  readonly engine: Engine;
  readonly info: EngineInfo;
  readonly readings: ReadingSummary;
  readonly slices: readonly number[];
  readonly candidates: CheckedCandidates;
}

/** Closes the engines afterwards. @returns the results of those that could be measured, in the order of the engines */
export async function measureDevices(engines: readonly Engine[], options: MeasureOptions): Promise<DeviceResult[]> {
  const groups = options.together ? [engines] : engines.map((engine) => [engine]);
  const measured: Measured[] = [];
  for (const group of groups) measured.push(...(await measureGroup(group, options)));
  const found = new Set(measured.flatMap(({ candidates }) => [...candidates.found.keys()]));
  return measured.map((one) => resultOf(one, found.size));
}

async function measureGroup(engines: readonly Engine[], options: MeasureOptions): Promise<Measured[]> {
  const { challenge, failed } = options;
  try {
    const opened = await openAll(engines, options);
    const rated = await inStep(opened, failed, async ({ engine, readings, info }) => {
      const slices = await measureRate(engine, { ...options, onStart: () => readings.clear() });
      return { engine, info, slices, readings: readings.summary };
    });
    return await inStep(rated, failed, async (one) => {
      const candidates = new CheckedCandidates(challenge);
      await searchChallenge(one.engine, candidates, NEVER);
      return { ...one, candidates };
    });
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

const NEVER = new AbortController().signal;

/** @param all how many candidates the devices found together */
function resultOf({ engine, info, readings, slices, candidates }: Measured, all: number): DeviceResult {
  const { name, kind } = engine;
  const { model, kernel, threads } = info;
  const { sum, wrong } = candidates;
  const found = candidates.found.size;
  const missed = all - found;
  const hashrate = spreadOf(slices);
  const { powerW } = readings;
  return {
    name,
    kind,
    model,
    kernel,
    ...(threads !== undefined && { threads }),
    hashrate,
    slices: slices.map(Math.round),
    ...readings,
    ...(powerW && { hashes_per_joule: hashrate.mean / powerW }),
    sum,
    candidates: { found, expected: EXPECTED_CANDIDATES, wrong, missed },
    errors: [...errorsOf(wrong, missed), ...doubtsOf(candidates)],
  };
}
