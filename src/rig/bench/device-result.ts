/** Makes the result of a device from its runs, and collects the readings of its sensors. */

import type { CoreKind, Telemetry } from '../../miner/engine/device.ts';
import type { Engine, EngineInfo } from '../../miner/engine/engine.ts';
import {
  type DeviceIdentity,
  type DeviceResult,
  meanOf,
  type RatesByCores,
  type RunResult,
  roundTo,
  type SensorSummary,
  spreadOf,
} from './bench-result.ts';
import { EXPECTED_CANDIDATES, errorsOf } from './challenge.ts';

/** Number of decimal places of a spread: it is rounded to a hundredth of a percent. */
const SPREAD_DIGITS = 4;

/** A run of a device. To save memory, it contains only the numbers of candidates, not the candidates. */
export interface MeasuredRun {
  readonly engine: Engine;
  readonly info: EngineInfo;
  /** Start of the measurement, as ISO 8601 in UTC. */
  readonly date: string;
  /** Hashrate of each slice in H/s. */
  readonly slices: readonly number[];
  /** Hashrate of each kind of cores in H/s; empty if the engine does not distinguish kinds. */
  readonly byCores: ReadonlyMap<CoreKind, number>;
  readonly sensors: SensorSummary;
  /** Number of right candidates. */
  readonly found: number;
  /** Number of wrong candidates. */
  readonly wrong: number;
  readonly hashSum: string;
  /** Doubts about the candidates, as lines for people. */
  readonly doubts: readonly string[];
}

/**
 * @param measured the runs of one device, at least one
 * @param all number of distinct right candidates that all devices together have found in all runs
 */
export function deviceResult(measured: readonly MeasuredRun[], all: number): DeviceResult {
  const [{ engine, info }] = measured;
  const runs = measured.map((each) => runResult(each, all));
  const { median, spread } = spreadOf(runs.map(({ hashesPerSecond }) => hashesPerSecond));
  const sensors = combine(runs);
  return {
    ...identityOf(engine, info),
    hashesPerSecond: Math.round(median),
    spread: runs.length > 1 ? roundTo(spread, SPREAD_DIGITS) : null,
    ...ratesByCores(measured),
    ...slicesOf(measured.flatMap(({ slices }) => slices)),
    ...sensors,
    hashesPerJoule: perJoule(median, sensors),
    runs,
  };
}

/** @returns the median of the runs for each kind of cores, in H/s; null for a kind that no run distinguishes */
function ratesByCores(runs: readonly Pick<MeasuredRun, 'byCores'>[]): RatesByCores {
  const rateOf = (kind: CoreKind) => {
    const rates = runs.flatMap((run) => run.byCores.get(kind) ?? []);
    return rates.length > 0 ? Math.round(spreadOf(rates).median) : null;
  };
  return {
    performanceCoresHashesPerSecond: rateOf('performance'),
    efficiencyCoresHashesPerSecond: rateOf('efficiency'),
  };
}

function slicesOf(slices: readonly number[]) {
  const { median, p90 } = spreadOf(slices);
  return { medianHashesPerSecond: Math.round(median), p90HashesPerSecond: Math.round(p90) };
}

function runResult(run: MeasuredRun, all: number): RunResult {
  const { date, slices, sensors, found, wrong, hashSum, doubts } = run;
  const missed = all - found;
  const { mean, spread } = spreadOf(slices);
  return {
    date,
    hashesPerSecond: Math.round(mean),
    spread: roundTo(spread, SPREAD_DIGITS),
    ...slicesOf(slices),
    slices: slices.map(Math.round),
    ...ratesByCores([run]),
    ...sensors,
    hashesPerJoule: perJoule(mean, sensors),
    hashSum,
    candidates: { found, expected: EXPECTED_CANDIDATES, wrong, missed },
    errors: [...errorsOf(wrong, missed), ...doubts],
  };
}

export function identityOf(
  { name, kind }: Engine,
  { model, kernel, threads, cores, bus, gpu }: EngineInfo,
): DeviceIdentity {
  if (kind === 'cpu') {
    return { kind: 'cpu', name, model, kernel, threads: threads ?? null, cores: cores ? [...cores] : null };
  }
  return {
    kind: 'gpu',
    name,
    model,
    bus: bus ?? null,
    driver: gpu?.driver ?? null,
    kernel,
    variant: gpu?.variant ?? null,
    workgroupSize: gpu?.workgroupSize ?? null,
    noncesPerInvocation: gpu?.noncesPerInvocation ?? null,
    batchSeconds: gpu === undefined ? null : gpu.batchMs / 1000,
  };
}

/** Collects the readings of a device's sensors while it is measured. */
export class Readings {
  readonly #summaries: SensorSummary[] = [];

  clear(): void {
    this.#summaries.length = 0;
  }

  take({ temperatureCelsius, powerWatts, powerLimitWatts, coreHertz, memoryHertz }: Telemetry): void {
    this.#summaries.push({
      temperatureCelsius: temperatureCelsius ?? null,
      powerWatts: powerWatts || null, // Some drivers report 0 if the power is not known.
      powerLimitWatts: powerLimitWatts ?? null,
      coreHertz: coreHertz ?? null,
      memoryHertz: memoryHertz ?? null,
    });
  }

  get summary(): SensorSummary {
    return combine(this.#summaries);
  }
}

/** @returns the highest temperature, and the mean of each other figure; null for a figure without readings */
export function combine(summaries: readonly SensorSummary[]): SensorSummary {
  const known = (field: keyof SensorSummary) => summaries.flatMap((each) => each[field] ?? []);
  const mean = (field: keyof SensorSummary) => {
    const values = known(field);
    return values.length > 0 ? roundTo(meanOf(values), 2) : null;
  };
  const temperatures = known('temperatureCelsius');
  return {
    temperatureCelsius: temperatures.length > 0 ? Math.max(...temperatures) : null,
    powerWatts: mean('powerWatts'),
    powerLimitWatts: mean('powerLimitWatts'),
    coreHertz: mean('coreHertz'),
    memoryHertz: mean('memoryHertz'),
  };
}

/** @returns the efficiency in H/J; null if the power is not known */
export function perJoule(hashesPerSecond: number, { powerWatts }: SensorSummary): number | null {
  return powerWatts === null ? null : Math.round(hashesPerSecond / powerWatts);
}
