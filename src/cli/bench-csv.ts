/**
 * What `pickaxe bench` found, for spreadsheets: comma-separated values (RFC 4180, but with lines that end as on Unix), one
 * row per device and run. Columns have the names of the JSON's fields, units included; a value that is not known is empty.
 */

import type { BenchResult, DeviceIdentity, RunResult } from '../bench/result.ts';

type Cell = string | number | null;
/** What one row is made of. */
interface Facts {
  readonly result: BenchResult;
  readonly device: DeviceIdentity;
  readonly run: RunResult;
  /** From 1 on. */
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

/** @returns `15 performance avx2, 16 efficiency sse41`; null where all cores are alike */
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
  return [Object.keys(COLUMNS), ...rows].map((cells) => `${cells.map(quoted).join(',')}\n`).join('');
}

/** RFC 4180 §2: quotes around what has commas, quotes or line breaks, and quotes within are doubled. */
function quoted(cell: Cell): string {
  const text = String(cell ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
