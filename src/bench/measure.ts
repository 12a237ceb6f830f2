/** Measures devices, one after the other or all at once: hashrate first, then the hash sum. */

import type { Engine, EngineInfo } from '../engine/engine.ts';
import type { Clock } from '../system/clock.ts';
import { type Challenge, EXPECTED_CANDIDATES } from './challenge.ts';
import { answer, Claims, doubtsOf, errorsOf } from './claims.ts';
import { inStep, type OpenOptions, openAll } from './open.ts';
import { measureRate } from './rate.ts';
import type { ReadingSummary } from './readings.ts';
import type { DeviceResult } from './result.ts';
import { spreadOf } from './spread.ts';

export interface MeasureOptions extends OpenOptions {
  readonly challenge: Challenge;
  readonly warmUpMs: number;
  /** Of each measurement. */
  readonly seconds: number;
  /** All at once: as when mining, they compete for the processor and for power. */
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
  readonly claims: Claims;
}

/** @returns what could be measured, in the order of the engines. Engines are closed after that. */
export async function measureDevices(engines: readonly Engine[], options: MeasureOptions): Promise<DeviceResult[]> {
  const groups = options.together ? [engines] : engines.map((engine) => [engine]);
  const measured: Measured[] = [];
  for (const group of groups) measured.push(...(await measureGroup(group, options)));
  const found = new Set(measured.flatMap(({ claims }) => [...claims.found.keys()]));
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
      const claims = new Claims(challenge);
      await answer(one.engine, claims, NEVER);
      return { ...one, claims };
    });
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

const NEVER = new AbortController().signal;

/** @param all candidates that were found by any device */
function resultOf({ engine, info, readings, slices, claims }: Measured, all: number): DeviceResult {
  const { name, kind } = engine;
  const { model, kernel, threads } = info;
  const { sum, wrong } = claims;
  const found = claims.found.size;
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
    errors: [...errorsOf(wrong, missed), ...doubtsOf(claims)],
  };
}
