/**
 * The shapes of the results of `pickaxe bench --json`, and statistics of measured values. `pickaxe bench compare` reads
 * these results.
 */

import { z } from 'zod';
import { Machine } from '../../base/system/machine.ts';
import { CORE_KINDS, DEVICE_FAULTS } from '../../miner/engine/device.ts';
import { isSeed, LEAST_COUNT, MOST_COUNT } from './challenge.ts';

export const BENCH_FORMAT_VERSION = 1;

/** Maximum number of runs, far more than anybody waits for. */
const MOST_RUNS = 1_000;
const MOST_CHARACTERS = 512;
/** Maximum number of devices, more than a rig has. */
const MOST_DEVICES = 1_024;
const MOST_SLICES = 3_600;

/** A text without control characters. Results are shown on terminals, which would execute control characters. */
const line = z
  .string()
  .max(MOST_CHARACTERS)
  .regex(/^\P{C}*$/u, 'control characters');
const positive = z.number().positive();
const fromZero = z.number().min(0);
const tally = z.int().min(0);
/** A time as ISO 8601 in UTC: `2026-11-22T07:33:27.123Z`. */
const date = z.iso.datetime();

/** The readings of sensors during a measurement. A figure without readings is null. */
const sensorFields = {
  /** The highest temperature of the chip. */
  temperatureCelsius: z.number().nullable(),
  /** The mean power. */
  powerWatts: positive.nullable(),
  /** The mean of the card's power limit. */
  powerLimitWatts: positive.nullable(),
  /** The mean clock rate of the chip. */
  coreHertz: fromZero.nullable(),
  /** The mean clock rate of the memory. */
  memoryHertz: fromZero.nullable(),
};
export const SensorSummary = z.strictObject(sensorFields);
export type SensorSummary = Readonly<z.infer<typeof SensorSummary>>;

const identityFields = {
  /** Name of the device in pickaxe: `cpu`, `gpu0` … */
  name: line.min(1),
  /** Name of the chip. */
  model: line,
  kernel: line,
};
/** The kinds of a hybrid CPU's cores, each with its number of threads and its kernel. */
const Cores = z.array(z.strictObject({ kind: z.enum(CORE_KINDS), threads: z.int().positive(), kernel: line }));
/**
 * The hashrate in H/s of all threads on each kind of a CPU's cores. Null for a GPU. Also null if all cores are alike,
 * or if threads cannot be confined to a kind.
 */
const ratesByCores = {
  performanceCoresHashesPerSecond: fromZero.nullable(),
  efficiencyCoresHashesPerSecond: fromZero.nullable(),
};
const RatesByCores = z.strictObject(ratesByCores);
export type RatesByCores = Readonly<z.infer<typeof RatesByCores>>;

const cpuFields = {
  ...identityFields,
  kind: z.literal('cpu'),
  threads: z.int().positive().nullable(),
  /** The kinds of cores. Null if all cores are alike, or if threads cannot be confined to a kind. */
  cores: Cores.min(1).max(CORE_KINDS.length).nullable(),
};
const gpuFields = {
  ...identityFields,
  kind: z.literal('gpu'),
  /** The PCI address. */
  bus: line.nullable(),
  /** The driver's name and version, as the driver reports them. */
  driver: line.nullable(),
  /** The kernel's variant: `wgsl 128×16` is the kernel's name, the workgroup's size and the nonces per invocation. */
  variant: line.nullable(),
  workgroupSize: z.int().positive().nullable(),
  noncesPerInvocation: z.int().positive().nullable(),
  /** Intended duration of one dispatch. */
  batchSeconds: positive.nullable(),
};
const DeviceIdentity = z.discriminatedUnion('kind', [z.strictObject(cpuFields), z.strictObject(gpuFields)]);
export type DeviceIdentity = Readonly<z.infer<typeof DeviceIdentity>>;

const candidateFields = {
  found: tally,
  wrong: tally,
  /** Number of candidates that this search did not find, but another search of the same nonces did. */
  missed: tally,
};

const slicesFields = {
  /** The median of the slices. */
  medianHashesPerSecond: positive,
  /** The 90th percentile of the slices: one slice in ten was faster. */
  p90HashesPerSecond: positive,
};

const RunResult = z.strictObject({
  date,
  /** The mean of the slices. */
  hashesPerSecond: positive,
  /** The standard deviation of the slices, as a fraction of their mean. */
  spread: fromZero,
  ...slicesFields,
  /** The hashrate of each slice in H/s. Slices are successive parts of a measurement, usually of about a second. */
  slices: z.array(positive).min(1).max(MOST_SLICES),
  ...ratesByCores,
  ...sensorFields,
  hashesPerJoule: fromZero.nullable(),
  /** A checksum of the right candidates that were found, 16 hex digits (see `CheckedCandidates.sum`). */
  hashSum: z.string().regex(/^[0-9a-f]{16}$/, 'not 16 hex digits'),
  candidates: z.strictObject({ ...candidateFields, expected: tally }),
  /** Lines for people about wrong or missed candidates, and about doubts. */
  errors: z.array(line).max(8),
});
export type RunResult = Readonly<z.infer<typeof RunResult>>;

const summaryFields = {
  /** The median of the runs. */
  hashesPerSecond: positive,
  /** The standard deviation of the runs, as a fraction of their mean; null for a single run. */
  spread: fromZero.nullable(),
  /** For each kind of cores, the median of the runs. */
  ...ratesByCores,
  /** Statistics over all slices of all runs. */
  ...slicesFields,
  ...sensorFields,
  hashesPerJoule: fromZero.nullable(),
  runs: z.array(RunResult).min(1).max(MOST_RUNS),
  /**
   * A line for people, to be copied. Absent if a run had errors, if the hash sums of the runs differ, or in results of
   * older versions.
   */
  line: line.exactOptional(),
};
const DeviceResult = z.discriminatedUnion('kind', [
  z.strictObject({ ...cpuFields, ...summaryFields }),
  z.strictObject({ ...gpuFields, ...summaryFields }),
]);
export type DeviceResult = Readonly<z.infer<typeof DeviceResult>>;

/** Devices that could not be opened or failed during their measurement. */
const Failed = z
  .array(z.strictObject({ name: line.min(1), fault: z.enum(DEVICE_FAULTS), reason: z.string() }))
  .max(MOST_DEVICES);
export type FailedDevice = z.infer<typeof Failed>[number];

const seed = z.string().refine(isSeed, 'not a seed');
const count = z.int().min(LEAST_COUNT).max(MOST_COUNT);

export const BenchResult = z.strictObject({
  type: z.literal('bench'),
  formatVersion: z.literal(BENCH_FORMAT_VERSION),
  date,
  machine: Machine,
  seed,
  /** Number of nonces that were searched for each hash sum. */
  count,
  /** Length of each run's measurement of the hashrate, without the warm-up. */
  durationSeconds: positive,
  /** Number of runs requested for each device. */
  repeat: z.int().min(1).max(MOST_RUNS),
  /** Whether all devices were measured at once. */
  together: z.boolean(),
  devices: z.array(DeviceResult).max(MOST_DEVICES),
  failed: Failed,
});
export type BenchResult = Readonly<z.infer<typeof BenchResult>>;

const Sample = z.strictObject({
  /** Time since all devices were opened. */
  elapsedSeconds: fromZero,
  /** The hashrate since the previous sample. */
  hashesPerSecond: fromZero,
  ...sensorFields,
});
export type Sample = Readonly<z.infer<typeof Sample>>;

const stressFields = {
  /** The mean of the samples. */
  hashesPerSecond: fromZero,
  /** The standard deviation of the samples, as a fraction of their mean. */
  spread: fromZero,
  ...sensorFields,
  hashesPerJoule: fromZero.nullable(),
  /** Number of rounds that were searched to their end. */
  rounds: tally,
  /** The candidates of all rounds. */
  candidates: z.strictObject(candidateFields),
  errors: z.array(z.string()),
  samples: z.array(Sample).min(1),
};
const StressDevice = z.discriminatedUnion('kind', [
  z.strictObject({ ...cpuFields, ...stressFields }),
  z.strictObject({ ...gpuFields, ...stressFields }),
]);
export type StressDevice = Readonly<z.infer<typeof StressDevice>>;

/** The output of `pickaxe bench --stress --json`. */
export const StressResult = z.strictObject({
  type: z.literal('stress'),
  formatVersion: z.literal(BENCH_FORMAT_VERSION),
  date,
  machine: Machine,
  seed,
  /** Number of nonces in each round; null if the rounds grow. */
  count: count.nullable(),
  /** Requested duration of the test. */
  durationSeconds: positive,
  devices: z.array(StressDevice),
  failed: Failed,
});
export type StressResult = Readonly<z.infer<typeof StressResult>>;

/* Statistics of several measurements of the same quantity. */

export interface Spread {
  readonly mean: number;
  readonly median: number;
  /** The 90th percentile: one value in ten is higher. On a busy machine, it varies less than the median. */
  readonly p90: number;
  readonly min: number;
  readonly max: number;
  /** The standard deviation, as a fraction of the mean (the coefficient of variation); 0 for a single value. */
  readonly spread: number;
}

/** @param values at least one value. No value is below 0 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0;
  return {
    mean,
    median: quantileOf(sorted, 0.5),
    p90: quantileOf(sorted, 0.9),
    min: sorted[0],
    max: sorted[sorted.length - 1],
    spread: mean > 0 ? deviation / mean : 0,
  };
}

/** @param sorted values in ascending order @returns the quantile at `part` (0 to 1), interpolated between two values */
function quantileOf(sorted: readonly number[], part: number): number {
  const position = part * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.ceil(position);
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

/** @param values at least one value */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function roundTo(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
