/**
 * Figures that are derived from a status, and the columns of tables. The terminal, the log, the command `stats`, the
 * web page and the answers for mining systems use them. The page loads this file, so it must not import Node's modules.
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

/** Whether reports show shares: if the current work has a share difficulty, or if any share has been counted. */
export function countsShares(work: Pick<Work, 'shareDifficulty'> | null, shares: OutcomeCounts): boolean {
  return (work !== null && work.shareDifficulty !== null) || OUTCOMES.some((outcome) => shares[outcome] > 0);
}

/**
 * @returns `12 accepted, 0 rejected, 1 stale` for blocks; or, if shares are shown,
 *   `shares: 40 accepted, 0 rejected, 2 stale; blocks: 1 accepted, 0 rejected, 0 stale`
 */
export function describeVerdicts(
  counts: OutcomeCounts & { readonly shares: Shares },
  work: Work | null = null,
): string {
  const blocks = describeOutcomes(counts);
  const { shares } = counts;
  return countsShares(work, shares) ? `shares: ${describeOutcomes(shares)}; blocks: ${blocks}` : blocks;
}

/** Whether a rig has relays and no devices. Such a rig computes no hashes itself: the relays' workers do. */
export function livesOnRelays({ devices, relays }: Pick<RigStatus, 'devices' | 'relays'>): boolean {
  return Object.keys(devices).length === 0 && Object.keys(relays).length > 0;
}

/**
 * @returns the number of blocks that devices found and sources accepted, divided by the number expected from the
 *   devices' hashes; null while fewer than one block is expected. Blocks of relays do not count, because the hashes of
 *   their workers are only estimated
 */
export function luckOf({ devices, expectedBlocks }: Pick<Summary, 'devices' | 'expectedBlocks'>): number | null {
  if (expectedBlocks < 1) return null;
  return Object.values(devices).reduce((sum, { accepted }) => sum + accepted, 0) / expectedBlocks;
}

/** @returns the names and figures of the devices that have been ready, or have searched nonces, in this run */
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

/** @param relays the names of the relays @returns where the hashrates of their workers come from, as a phrase */
export function howKnown(relays: readonly string[]): string {
  const isOfFleet = (name: string) => name === 'fleet';
  if (!relays.some(isOfFleet)) return 'estimated from shares';
  return relays.every(isOfFleet) ? 'as its rigs report it' : 'estimated from shares or reported by rigs';
}

/** @returns the highest temperature of a device in °C; null if no device has a known temperature */
export function hottest(devices: RigStatus['devices']): number | null {
  const known = Object.values(devices).flatMap(({ sensors }) => sensors.temperatureCelsius ?? []);
  return known.length === 0 ? null : Math.max(...known);
}

/** Matches sequences of 40 or more hex digits, such as public keys, which are too long to read. */
const HEX_RUN = /[0-9a-f]{40,}/gi;

/** @returns the name with the middle of each long sequence of hex digits left out: `k:3f1c88…9b04.rig1` */
export function shortName(name: string): string {
  return name.replaceAll(HEX_RUN, (run) => `${run.slice(0, 6)}…${run.slice(-4)}`);
}

/** @returns the numbers of accepted, rejected and stale solutions: `12/0/1` */
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
  /** Heading in text tables, whose columns are narrower; `heading` is used if it is absent. */
  readonly shortHeading?: string;
  /** Present if the cells are texts, which are aligned on the left. Numbers are aligned on the right. */
  readonly isText?: true;
  /** @returns the text of the item's cell; null if the value is not known */
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

/**
 * @param rows cells by row and column; the first row decides the number of columns
 * @param isLeft whether the column with this index is aligned on the left
 * @returns one line per row. A column has the same width in all lines
 */
export function aligned(
  rows: readonly (readonly string[])[],
  isLeft: (column: number) => boolean = () => true,
): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  const padded = (cell: string, column: number) =>
    isLeft(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]);
  return rows.map((cells) => cells.map(padded).join('  ').trimEnd());
}
