/**
 * Figures that the terminal, `stats`, the web page and mining systems derive from a status, and the columns of tables.
 * Pure, since the page loads this file.
 */

import { OUTCOMES } from '../../miner/events/vocabulary.ts';
import type { DeviceStatus, OutcomeCounts, RelayStatus, RigStatus, Shares, Summary, Work, Worker } from './status.ts';
import {
  describeOutcomes,
  formatAmount,
  formatCelsius,
  formatDuration,
  formatEfficiency,
  formatHashrate,
  formatPercent,
  formatWatts,
} from './units.ts';

/** Whether shares are to be shown: the present work has a share difficulty, or there have been shares. */
export function countsShares(work: Pick<Work, 'shareDifficulty'> | null, shares: OutcomeCounts): boolean {
  return (work !== null && work.shareDifficulty !== null) || OUTCOMES.some((outcome) => shares[outcome] > 0);
}

/** `12 accepted, 0 rejected, 1 stale`; if shares are shown, they come first, and blocks follow. */
export function describeVerdicts(
  counts: OutcomeCounts & { readonly shares: Shares },
  work: Work | null = null,
): string {
  const blocks = describeOutcomes(counts);
  const { shares } = counts;
  return countsShares(work, shares) ? `shares: ${describeOutcomes(shares)}; blocks: ${blocks}` : blocks;
}

/** Whether a rig has relays and no devices, so that it does not hash itself. */
export function livesOnRelays({ devices, relays }: Pick<RigStatus, 'devices' | 'relays'>): boolean {
  return Object.keys(devices).length === 0 && Object.keys(relays).length > 0;
}

/**
 * Accepted ÷ expected blocks of the devices; null while fewer than one is expected. Relays do not count, because their
 * hashes are only estimated.
 */
export function luckOf({ devices, expectedBlocks }: Pick<Summary, 'devices' | 'expectedBlocks'>): number | null {
  if (expectedBlocks < 1) return null;
  return Object.values(devices).reduce((sum, { accepted }) => sum + accepted, 0) / expectedBlocks;
}

/** The devices that have ever worked, by name. */
export function inService(devices: RigStatus['devices']): [name: string, device: DeviceStatus][] {
  return Object.entries(devices).filter(([, { hasWorked }]) => hasWorked);
}

export function sumOfRelays(
  relays: RigStatus['relays'],
): Pick<RelayStatus, 'sessions' | 'workersConnected' | 'hashesPerSecond'> {
  const sum = { sessions: 0, workersConnected: 0, hashesPerSecond: 0 };
  for (const { sessions, workersConnected, hashesPerSecond } of Object.values(relays)) {
    sum.sessions += sessions;
    sum.workersConnected += workersConnected;
    sum.hashesPerSecond += hashesPerSecond;
  }
  return sum;
}

/** @param relays the names of the relays @returns a word for how the hashrates of their workers are known */
export function howKnown(relays: readonly string[]): string {
  const isOfFleet = (name: string) => name === 'fleet';
  if (!relays.some(isOfFleet)) return 'estimated from shares';
  return relays.every(isOfFleet) ? 'as its rigs report it' : 'estimated from shares or reported by rigs';
}

/** @returns the highest temperature in °C; null if no device has a sensor */
export function hottest(devices: RigStatus['devices']): number | null {
  const known = Object.values(devices).flatMap(({ sensors }) => sensors.temperatureCelsius ?? []);
  return known.length === 0 ? null : Math.max(...known);
}

/** Runs of hex digits that are too long to read, such as public keys. */
const HEX_RUN = /[0-9a-f]{40,}/gi;

/** @returns the name with keys shortened: `k:3f1c88…9b04.rig1` */
export function shortName(name: string): string {
  return name.replaceAll(HEX_RUN, (run) => `${run.slice(0, 6)}…${run.slice(-4)}`);
}

/** `12/0/1`: accepted, rejected and stale. */
export function formatVerdicts({
  accepted,
  rejected,
  stale,
}: Pick<OutcomeCounts, 'accepted' | 'rejected' | 'stale'>): string {
  return `${accepted}/${rejected}/${stale}`;
}

/* Columns of tables. */

export interface Column<Item> {
  readonly heading: string;
  /** The heading in tables of text, which have less room. */
  readonly shortHeading?: string;
  /** Text is aligned on the left, numbers on the right. */
  readonly isText?: true;
  /** @returns null if the value is not known */
  readonly cell: (item: Item) => string | null;
}

type Rates = Pick<DeviceStatus, 'hashesPerSecondByWindow' | 'highestHashesPerSecond'>;

export const RATE_COLUMNS = {
  last10s: { heading: '10 s', cell: ({ hashesPerSecondByWindow: { last10s } }) => known(last10s, formatHashrate) },
  last60s: { heading: '60 s', cell: ({ hashesPerSecondByWindow: { last60s } }) => known(last60s, formatHashrate) },
  last15m: { heading: '15 min', cell: ({ hashesPerSecondByWindow: { last15m } }) => known(last15m, formatHashrate) },
  highest: { heading: 'highest', cell: ({ highestHashesPerSecond }) => known(highestHashesPerSecond, formatHashrate) },
} as const satisfies Record<string, Column<Rates>>;

export const DEVICE_COLUMNS = {
  state: { heading: 'state', isText: true, cell: ({ state }) => state },
  temperature: { heading: 'temperature', cell: ({ sensors }) => known(sensors.temperatureCelsius, formatCelsius) },
  fan: {
    heading: 'fan',
    cell: ({ sensors: { fanRatio, fanRpm } }) =>
      known(fanRatio, formatPercent) ?? known(fanRpm, (rpm) => `${rpm.toFixed(0)} rpm`),
  },
  power: { heading: 'power', cell: ({ sensors }) => known(sensors.powerWatts, formatWatts) },
  efficiency: { heading: 'per joule', cell: ({ hashesPerJoule }) => known(hashesPerJoule, formatEfficiency) },
  shares: { heading: 'shares acc/rej/stale', cell: ({ shares }) => formatVerdicts(shares) },
  blocks: { heading: 'blocks accepted', shortHeading: 'accepted', cell: ({ accepted }) => String(accepted) },
  hardwareErrors: { heading: 'hardware errors', cell: ({ hardwareErrors }) => String(hardwareErrors) },
  failures: { heading: 'failures', cell: ({ reopens }) => String(reopens) },
} as const satisfies Record<string, Column<DeviceStatus>>;

export const WORKER_COLUMNS = {
  sessions: { heading: 'sessions', cell: ({ sessions }) => String(sessions) },
  rate: {
    heading: 'estimated hashrate',
    shortHeading: 'estimated',
    cell: ({ hashesPerSecond }) => formatHashrate(hashesPerSecond),
  },
  difficulty: {
    heading: 'share difficulty',
    shortHeading: 'difficulty',
    cell: ({ difficulty }) => known(difficulty, formatAmount),
  },
  shares: { heading: 'acc/rej/stale/dup', cell: (worker) => `${formatVerdicts(worker)}/${worker.duplicate}` },
  accepted: { heading: 'accepted', cell: ({ accepted }) => String(accepted) },
  rejected: { heading: 'rejected', cell: ({ rejected }) => String(rejected) },
  stale: { heading: 'stale', cell: ({ stale }) => String(stale) },
  duplicate: { heading: 'duplicate', cell: ({ duplicate }) => String(duplicate) },
  blocks: { heading: 'blocks', cell: ({ blocks }) => String(blocks) },
  lastShare: {
    heading: 'last share',
    cell: ({ lastShareSeconds }) => known(lastShareSeconds, (seconds) => `${formatDuration(seconds)} ago`),
  },
} as const satisfies Record<string, Column<Worker>>;

function known(value: number | null, format: (value: number) => string): string | null {
  return value === null ? null : format(value);
}

/* Tables of text. */

export const UNKNOWN = '-';

export function textTable<Item>(
  first: string,
  columns: readonly Column<Item>[],
  items: readonly (readonly [name: string, item: Item])[],
): string[] {
  const headings = [first, ...columns.map(({ heading, shortHeading }) => shortHeading ?? heading)];
  const rows = items.map(([name, item]) => [name, ...columns.map(({ cell }) => cell(item) ?? UNKNOWN)]);
  return aligned([headings, ...rows], (column) => column === 0 || columns[column - 1].isText === true);
}

export function workerTable(workers: readonly Worker[], nameOf: (name: string) => string): string[] {
  const { sessions, rate, difficulty, shares, blocks, lastShare } = WORKER_COLUMNS;
  const columns = [sessions, rate, difficulty, shares, blocks, lastShare];
  return textTable(
    'worker',
    columns,
    workers.map((worker) => [nameOf(worker.name), worker]),
  );
}

/** @param isLeft whether a column is aligned on the left */
export function aligned(
  rows: readonly (readonly string[])[],
  isLeft: (column: number) => boolean = () => true,
): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  const padded = (cell: string, column: number) =>
    isLeft(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]);
  return rows.map((cells) => cells.map(padded).join('  ').trimEnd());
}
