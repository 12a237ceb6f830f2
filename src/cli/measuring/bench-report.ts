/** Formats the results of `pickaxe bench` for people and for spreadsheets. */

import type { Logger } from 'pino';
import { csv } from '../../base/text/plain-text.ts';
import { plural } from '../../base/text/quantities.ts';
import { openCpuSensors } from '../../miner/engine/cpu/cpu-sensors.ts';
import type { DeviceKind } from '../../miner/engine/device.ts';
import {
  type BenchResult,
  type DeviceIdentity,
  type DeviceResult,
  type RunResult,
  type SensorSummary,
  type Spread,
  spreadOf,
} from '../../rig/bench/bench-result.ts';
import { CANDIDATES_DEVIATION, DEFAULT_COUNT, DEFAULT_SEED, EXPECTED_CANDIDATES } from '../../rig/bench/challenge.ts';
import { formatHashrate, formatPercent, withPrefix } from '../../rig/status/units.ts';

type Machine = BenchResult['machine'];
type Sensors = SensorSummary & { readonly hashesPerJoule: number | null };

/** @returns `pickaxe 0.1.0 on AMD EPYC, Debian GNU/Linux 12 (bookworm), linux 6.1.0 x64, Node.js v20.20.2` */
export function machineLine({ pickaxe, cpu, osName, os, node }: Machine): string {
  return `pickaxe ${pickaxe} on ${[cpu, ...(osName === null ? [] : [osName]), os].join(', ')}, Node.js ${node}`;
}

/** @returns a text like `2026-11-22T07:33:25.000Z, 3 runs of 10 s on each device, in turns` */
export function circumstances({ date, repeat, durationSeconds, together }: BenchResult): string {
  const runs = repeat > 1 ? `${repeat} runs of ${durationSeconds} s` : `${durationSeconds} s`;
  const order = repeat > 1 ? ' on each device, in turns' : ' on each device';
  return `${date}, ${runs}${together ? ', all devices at once' : order}`;
}

/**
 * @returns `cpu    AMD EPYC; avx512x2, 2 threads`, or
 *   `gpu0   NVIDIA H100; wgsl 128×16, batches of 8 ms; NVIDIA: 550.54.14`; and a newline
 */
export function headingOf(device: DeviceIdentity): string {
  return `${device.name.padEnd(6)} ${device.model}; ${howItHashes(device)}\n`;
}

function howItHashes(device: DeviceIdentity): string {
  if (device.kind === 'cpu') {
    const { kernel, threads } = device;
    return `${kernel}${threads === null ? '' : `, ${plural(threads, 'thread')}`}`;
  }
  const { kernel, variant, batchSeconds, driver } = device;
  const batches = batchSeconds === null ? '' : `, batches of ${formatMilliseconds(batchSeconds)}`;
  return `${variant ?? kernel}${batches}${driver === null ? '' : `; ${driver}`}`;
}

export function row(name: string, value: string): string {
  return `  ${name.padEnd(13)} ${value}\n`;
}

export function formatMilliseconds(seconds: number): string {
  return `${Number((1000 * seconds).toFixed(3))} ms`;
}

/** @returns a text like `81.44 MH/s ± 1.2 %` */
export function formatRate(hashesPerSecond: number, spread: number): string {
  return `${formatHashrate(hashesPerSecond)} ± ${formatPercent(spread, 1)}`;
}

export function sensorRows(sensors: Sensors): string[] {
  const { coreHertz: core, memoryHertz: memory } = sensors;
  const clocks = [
    ...(core === null ? [] : [`${(core / 1e6).toFixed(0)} MHz core`]),
    ...(memory === null ? [] : [`${(memory / 1e6).toFixed(0)} MHz memory`]),
  ];
  return [
    row('power', powerOf(sensors).join(', ') || 'not known'),
    ...(clocks.length > 0 ? [row('clocks', clocks.join(', '))] : []),
  ];
}

function powerOf({ powerWatts, powerLimitWatts, hashesPerJoule, temperatureCelsius }: Sensors): string[] {
  const limit = powerLimitWatts === null ? '' : ` of ${powerLimitWatts.toFixed(0)} W allowed`;
  return [
    ...(powerWatts === null ? [] : [`${powerWatts.toFixed(0)} W${limit}`]),
    ...(hashesPerJoule === null ? [] : [`${withPrefix(hashesPerJoule)}H/J`]),
    ...(temperatureCelsius === null ? [] : [`${temperatureCelsius.toFixed(0)} °C at most`]),
  ];
}

/**
 * Makes one line of a device's result, so that people can paste it elsewhere.
 * @returns `AMD EPYC · avx512x2 × 2 · 197.1 MH/s ± 1.0 % · sum 2b333d3b27f3a450 · pickaxe 0.1.0`; undefined if a run
 *   had errors, or if the hash sums of the runs differ
 */
export function resultLine(
  { machine, seed, count }: Pick<BenchResult, 'machine' | 'seed' | 'count'>,
  device: DeviceResult,
): string | undefined {
  const { model, hashesPerSecond, spread, hashesPerJoule, runs } = device;
  const [{ hashSum, spread: ofSlices }] = runs;
  if (runs.some((run) => run.errors.length > 0 || run.hashSum !== hashSum)) return undefined;
  const isUsual = seed === DEFAULT_SEED && count === DEFAULT_COUNT;
  return [
    model,
    kernelsOf(device),
    formatRate(hashesPerSecond, spread ?? ofSlices),
    ...(hashesPerJoule === null ? [] : [`${withPrefix(hashesPerJoule)}H/J`]),
    `sum ${hashSum}${isUsual ? '' : ` of “${seed}” and ${count} nonces`}`,
    `pickaxe ${machine.pickaxe}`,
  ].join(' · ');
}

/** @returns `avx512x2 × 31`, `avx2x2 × 15 + avx2 × 16` for a hybrid CPU, or `wgsl 128×16` for a GPU */
function kernelsOf(device: DeviceResult): string {
  if (device.kind === 'gpu') return device.variant ?? device.kernel;
  const { kernel, threads, cores } = device;
  if (cores !== null) return cores.map((each) => `${each.kernel} × ${each.threads}`).join(' + ');
  return threads === null ? kernel : `${kernel} × ${threads}`;
}

export function benchLines(result: BenchResult): string[] {
  const { machine, repeat, devices, failed } = result;
  const unmeasured = repeat > 1 ? 'not measured to the end' : 'not measured';
  return [
    `${machineLine(machine)}\n`,
    `${circumstances(result)}\n`,
    ...devices.flatMap(deviceLines),
    ...failed.map(({ name, reason }) => `${name.padEnd(6)} ${unmeasured}: ${reason}\n`),
    ...(devices.length > 0 ? closingLines(result) : ['No device could be measured.\n']),
    ...devices.flatMap(({ line }) => (line === undefined ? [] : [`${line}\n`])),
  ];
}

function deviceLines(device: DeviceResult): string[] {
  const { runs } = device;
  return [
    headingOf(device),
    ...(runs.length > 1 ? repeatedRows(device) : [hashrateRow(runs[0])]),
    ...coresRows(device),
    slicesRow(device),
    ...sensorRows(device),
    ...hashSumRows(runs),
    ...runs.flatMap(({ errors }, i) => errors.map((error) => row('ERROR', ofRun(runs, i, error)))),
  ];
}

/** @returns a row for each kind of cores of a hybrid CPU: `    performance 812.4 MH/s (16 threads, avx2)` */
function coresRows(device: DeviceResult): string[] {
  const cores = (device.kind === 'cpu' && device.cores) || [];
  return cores.map(({ kind, threads, kernel }) => {
    const rate = device[`${kind}CoresHashesPerSecond`] ?? 0;
    return row(`  ${kind}`, `${formatHashrate(rate)} (${plural(threads, 'thread')}, ${kernel})`);
  });
}

function hashrateRow({ hashesPerSecond, spread, slices }: RunResult): string {
  return row(
    'hashrate',
    `${formatRate(hashesPerSecond, spread)} (mean of ${slices.length} slices: ${formatRange(spreadOf(slices))})`,
  );
}

function repeatedRows({ hashesPerSecond, spread, runs }: DeviceResult): string[] {
  const rates = spreadOf(runs.map((run) => run.hashesPerSecond));
  return [
    row(
      'hashrate',
      `${formatRate(hashesPerSecond, spread ?? 0)} (median of ${runs.length} runs: ${formatRange(rates)})`,
    ),
    ...runs.map((run, i) => {
      return row(`  run ${i + 1}`, [formatRate(run.hashesPerSecond, run.spread), ...powerOf(run)].join(', '));
    }),
  ];
}

/** @returns a row like `  slices        median 81.50 MH/s, 90th percentile 82.10 MH/s` */
function slicesRow({ medianHashesPerSecond: median, p90HashesPerSecond: p90 }: DeviceResult): string {
  return row('slices', `median ${formatHashrate(median)}, 90th percentile ${formatHashrate(p90)}`);
}

/** @returns a text like `60.90 MH/s to 104.9 MH/s` */
function formatRange({ min, max }: Spread): string {
  return `${formatHashrate(min)} to ${formatHashrate(max)}`;
}

/** @returns one row if all runs have the same hash sum, otherwise a row for each run */
function hashSumRows(runs: DeviceResult['runs']): string[] {
  const agree = runs.every(({ hashSum }) => hashSum === runs[0].hashSum);
  const expected = `${EXPECTED_CANDIDATES} ± ${CANDIDATES_DEVIATION} expected`;
  return (agree ? runs.slice(0, 1) : runs).map(({ hashSum, candidates }, i) => {
    const text = `${hashSum} (${candidates.found} candidates found, ${expected})`;
    return row('hash sum', agree ? text : ofRun(runs, i, text));
  });
}

const ofRun = (runs: DeviceResult['runs'], i: number, text: string) =>
  runs.length > 1 ? `run ${i + 1}: ${text}` : text;

function closingLines({ seed, count, devices }: BenchResult): string[] {
  const runs = devices.flatMap((device) => device.runs);
  const sums = new Set(runs.map(({ hashSum }) => hashSum));
  const who = devices.length > 1 ? 'devices' : 'runs';
  const repeated = runs.length > devices.length;
  return [
    repeated
      ? 'A device’s hashrate is the median of its runs. ± is the standard deviation of its runs; after a run, of its slices.\n'
      : '± is the standard deviation of the slices.\n',
    `The hash sum is of seed “${seed}” and ${count} nonces.`,
    ...(runs.length > 1 && sums.size === 1 ? [` All ${who} agree.`] : []),
    ...(sums.size > 1 ? [` ${who.toUpperCase()} DISAGREE: at least one of them computed wrong hashes.`] : []),
    '\n',
  ];
}

/* The results as CSV (RFC 4180, but with Unix line ends), with a row for each run of each device. */

type Cell = string | number | null;
interface Facts {
  readonly result: BenchResult;
  readonly device: DeviceIdentity;
  readonly run: RunResult;
  /** Number of the run, from 1. */
  readonly number: number;
}

const COLUMNS: Readonly<Record<string, (facts: Facts) => Cell>> = {
  date: ({ run }) => run.date,
  pickaxe: ({ result }) => result.machine.pickaxe,
  node: ({ result }) => result.machine.node,
  os: ({ result }) => result.machine.os,
  osName: ({ result }) => result.machine.osName,
  cpu: ({ result }) => result.machine.cpu,
  name: ({ device }) => device.name,
  kind: ({ device }) => device.kind,
  model: ({ device }) => device.model,
  bus: ({ device }) => (device.kind === 'gpu' ? device.bus : null),
  driver: ({ device }) => (device.kind === 'gpu' ? device.driver : null),
  kernel: ({ device }) => device.kernel,
  variant: ({ device }) => (device.kind === 'gpu' ? device.variant : null),
  batchSeconds: ({ device }) => (device.kind === 'gpu' ? device.batchSeconds : null),
  threads: ({ device }) => (device.kind === 'cpu' ? device.threads : null),
  cores: ({ device }) => (device.kind === 'cpu' ? coresText(device.cores) : null),
  durationSeconds: ({ result }) => result.durationSeconds,
  together: ({ result }) => String(result.together),
  run: ({ number }) => number,
  hashesPerSecond: ({ run }) => run.hashesPerSecond,
  performanceCoresHashesPerSecond: ({ run }) => run.performanceCoresHashesPerSecond,
  efficiencyCoresHashesPerSecond: ({ run }) => run.efficiencyCoresHashesPerSecond,
  spread: ({ run }) => run.spread,
  medianHashesPerSecond: ({ run }) => run.medianHashesPerSecond,
  p90HashesPerSecond: ({ run }) => run.p90HashesPerSecond,
  temperatureCelsius: ({ run }) => run.temperatureCelsius,
  powerWatts: ({ run }) => run.powerWatts,
  powerLimitWatts: ({ run }) => run.powerLimitWatts,
  coreHertz: ({ run }) => run.coreHertz,
  memoryHertz: ({ run }) => run.memoryHertz,
  hashesPerJoule: ({ run }) => run.hashesPerJoule,
  seed: ({ result }) => result.seed,
  count: ({ result }) => result.count,
  hashSum: ({ run }) => run.hashSum,
  errors: ({ run }) => run.errors.join('; '),
};

/** @returns a text like `15 performance avx2, 16 efficiency sse41`; null if all cores are of one kind */
function coresText(cores: (DeviceIdentity & { kind: 'cpu' })['cores']): string | null {
  return cores?.map(({ kind, threads, kernel }) => `${threads} ${kind} ${kernel}`).join(', ') ?? null;
}

export function benchCsv(result: BenchResult): string {
  const rows = result.devices.flatMap((device) =>
    device.runs.map((run, i) => {
      const facts = { result, device, run, number: i + 1 };
      return Object.values(COLUMNS).map((cell) => cell(facts));
    }),
  );
  return csv([Object.keys(COLUMNS), ...rows]);
}

interface Measured {
  readonly name: string;
  readonly kind: DeviceKind;
  readonly powerWatts: number | null;
}

export async function warnOfHiddenPower(devices: readonly Measured[], log: Logger): Promise<void> {
  for (const { name } of devices.filter(({ kind, powerWatts }) => kind === 'cpu' && powerWatts === null)) {
    const { refused, what } = await openCpuSensors({ threads: 1 });
    if (refused !== undefined) log.warn({ tag: name }, `sensors: ${what}`);
  }
}
