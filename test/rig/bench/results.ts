/** Results of `pickaxe bench`, made up. */

import { type BenchResult, type DeviceResult, type RunResult, spreadOf } from '#pickaxe/rig/bench/bench-result.js';

/** The figures of a device without sensors. */
export const SENSORS = {
  temperatureCelsius: null,
  powerWatts: null,
  powerLimitWatts: null,
  coreHertz: null,
  memoryHertz: null,
  hashesPerJoule: null,
};

/** @param slices H/s */
export function run(slices: number[], changes: Partial<RunResult> = {}): RunResult {
  const { mean, median, p90, spread } = spreadOf(slices);
  return {
    date: '2026-11-22T07:33:27.123Z',
    hashesPerSecond: mean,
    spread,
    medianHashesPerSecond: median,
    p90HashesPerSecond: p90,
    slices,
    performanceCoresHashesPerSecond: null,
    efficiencyCoresHashesPerSecond: null,
    ...SENSORS,
    hashSum: '0123456789abcdef',
    candidates: { found: 4_000, expected: 4_096, wrong: 0, missed: 0 },
    errors: [],
    ...changes,
  };
}

/**
 * @param slices H/s, for each run
 * @param changes of the device
 * @param runChanges of all its runs
 */
export function device(
  name: string,
  slices: number[][],
  changes: Partial<DeviceResult> = {},
  runChanges: Partial<RunResult> = {},
): DeviceResult {
  const runs = slices.map((each) => run(each, runChanges));
  const all = spreadOf(slices.flat());
  const { median, spread } = spreadOf(runs.map(({ hashesPerSecond }) => hashesPerSecond));
  const common = {
    name,
    model: `model of ${name}`,
    kernel: 'k',
    hashesPerSecond: median,
    spread: runs.length > 1 ? spread : null,
    medianHashesPerSecond: all.median,
    p90HashesPerSecond: all.p90,
    performanceCoresHashesPerSecond: null,
    efficiencyCoresHashesPerSecond: null,
    ...SENSORS,
    runs,
  };
  const gpu = {
    bus: '0000:65:00.0',
    driver: 'NVIDIA: 550.54.14',
    variant: 'k 128×16',
    workgroupSize: 128,
    noncesPerInvocation: 16,
    batchSeconds: 0.008,
  };
  const made =
    name === 'cpu' ? { ...common, kind: 'cpu', threads: 2, cores: null } : { ...common, ...gpu, kind: 'gpu' };
  return { ...made, ...changes } as DeviceResult;
}

/** A CPU of two kinds of cores. */
export const hybrid = device(
  'cpu',
  [[300e6], [310e6]],
  {
    kernel: 'avx2+sse41',
    threads: 31,
    cores: [
      { kind: 'performance', threads: 15, kernel: 'avx2' },
      { kind: 'efficiency', threads: 16, kernel: 'sse41' },
    ],
    performanceCoresHashesPerSecond: 205e6,
    efficiencyCoresHashesPerSecond: 100e6,
  },
  { performanceCoresHashesPerSecond: 205e6, efficiencyCoresHashesPerSecond: 100e6 },
);

export function result(devices: DeviceResult[], changes: Partial<BenchResult> = {}): BenchResult {
  return {
    type: 'bench',
    formatVersion: 1,
    date: '2026-11-22T07:33:25.000Z',
    machine: { cpu: 'c', cores: 2, os: 'o', osName: 'O', node: 'v20', pickaxe: '0.1.0' },
    seed: 'pickaxe',
    count: 2 ** 27,
    durationSeconds: 10,
    repeat: 1,
    together: false,
    devices,
    failed: [],
    ...changes,
  };
}
