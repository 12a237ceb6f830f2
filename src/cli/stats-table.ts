/** How a rig is doing, as `pickaxe stats` prints it for people. Pure. */

import { countsShares, livesOnRelays } from '../report/figures.ts';
import type { Status } from '../report/http/schemas.ts';
import {
  describeAcceptedBlocks,
  describeChance,
  describeCoins,
  describeOutcomes,
  describePowerCost,
  describeState,
  describeWorkers,
  formatDuration,
  formatHashrate,
  formatPercent,
  withPrefix,
} from '../report/units.ts';
import { oneLine } from '../text/plain-text.ts';

type Device = Status['devices'][string];
type Source = Status['sources'][string];

/** Between two columns. */
const GAP = '  ';

export function statsLines(status: Status): string[] {
  const { rig, version, uptimeSeconds: uptime, sources, devices, relays } = status;
  const hasDevices = !livesOnRelays(status);
  return [
    ...aligned([
      ['rig', `${oneLine(rig)}, pickaxe ${version}, up for ${formatDuration(uptime)}`],
      ['state', state(status)],
      ...(hasDevices ? [['hashrate', rates(status)]] : []),
      ...(countsShares(status.work, status.shares) ? [['shares', shares(status)]] : []),
      ['blocks', blocks(status)],
      ...(status.acceptedBlocks ? [['accepted', describeAcceptedBlocks(status.acceptedBlocks)]] : []),
      ...(status.earnings.blocksPerDay === null ? [] : [['earnings', earnings(status)]]),
      ['work', work(status)],
      ...Object.entries(sources).map(([name, source]) => [source.kind, connection(name, source)]),
    ]),
    ...(hasDevices ? ['', ...deviceTable(devices)] : []),
    ...Object.entries(relays).flatMap(([name, relay]) => ['', ...workers(name, relay)]),
  ];
}

function state({ state, sourceKind, stateReason: reason, stateAgeSeconds: age }: Status): string {
  return `${describeState(state, sourceKind)} for ${formatDuration(age)}${reason === null ? '' : ` (${oneLine(reason)})`}`;
}

/** The average over the whole run is there from the start; the others once their time has passed. */
function rates({ hashesPerSecondByWindow, averageHashesPerSecond: average }: Status): string {
  const passed = Object.entries(WINDOWS).flatMap(([window, title]) => {
    const rate = hashesPerSecondByWindow[window as keyof typeof WINDOWS];
    return rate === null ? [] : [`${formatHashrate(rate)} over ${title}`];
  });
  return [...passed, `${formatHashrate(average)} since the start`].join(', ');
}

const WINDOWS = { last10s: '10 s', last60s: '60 s', last15m: '15 min' } as const;

function shares({ shares, provenHashesPerSecond, lastShareSeconds: last }: Status): string {
  const age = last === null ? 'none accepted yet' : `the last one ${formatDuration(last)} ago`;
  return `${describeOutcomes(shares)}; ${age}; proven ${formatHashrate(provenHashesPerSecond)} over 15 min`;
}

function blocks(status: Status): string {
  const { expectedBlocks: expected, effort } = status;
  return `${describeOutcomes(status)}; ${expected.toFixed(1)} expected, effort ${formatPercent(effort)}`;
}

/** What is not known is left out. */
function earnings(status: Status): string {
  const known = Object.fromEntries(Object.entries(status.earnings).filter(([, figure]) => figure !== null));
  return [describeCoins(known), describeChance(known), describePowerCost(known, !livesOnRelays(status))]
    .filter((part) => part !== '')
    .join('; ');
}

function work({ work }: Status): string {
  if (!work) return 'none yet';
  const { chain, height, difficulty, shareDifficulty } = work;
  const share = shareDifficulty === null ? '' : `, of a share ${plain(shareDifficulty)}`;
  return `chain ${chain}, height ${height}, difficulty ${plain(difficulty)}${share}`;
}

function connection(name: string, { state, reason, ageSeconds: age }: Source): string {
  const why = state === 'lost' || state === 'unhealthy' ? ` (${oneLine(reason)})` : '';
  return `${oneLine(name)}: ${state} for ${formatDuration(age)}${why}`;
}

function deviceTable(devices: Status['devices']): string[] {
  return aligned([HEADINGS, ...Object.entries(devices).map(([name, device]) => row(name, device))]);
}

const HEADINGS = [
  'device',
  'state',
  '10 s',
  '60 s',
  '15 min',
  'accepted',
  'hardware errors',
  'failures',
  'temperature',
  'power',
];

function row(name: string, device: Device): string[] {
  const { state, hashesPerSecondByWindow: rates, accepted, hardwareErrors, reopens, sensors } = device;
  return [
    name,
    state,
    ...(['last10s', 'last60s', 'last15m'] as const).map((window) => measured(rates[window], formatHashrate)),
    String(accepted),
    String(hardwareErrors),
    String(reopens),
    measured(sensors.temperatureCelsius, (celsius) => `${celsius.toFixed(0)} °C`),
    measured(sensors.powerWatts, (watts) => `${watts.toFixed(0)} W`),
  ];
}

/** The workers of one relay: a line about all, and a table. */
function workers(name: string, relay: Status['relays'][string]): string[] {
  const { sessions, workers } = relay;
  return [
    `${oneLine(name)}: ${describeWorkers(relay)}, estimated from shares; sessions ${sessions}`,
    ...(workers.length === 0 ? [] : aligned([WORKER_HEADINGS, ...workers.map(workerRow)])),
  ];
}

const WORKER_HEADINGS = ['worker', 'sessions', 'estimated', 'difficulty', 'acc/rej/stale/dup', 'blocks', 'last share'];

function workerRow(worker: Status['relays'][string]['workers'][number]): string[] {
  const { name, sessions, hashesPerSecond, difficulty, accepted, rejected, stale, duplicate, blocks } = worker;
  return [
    oneLine(name),
    String(sessions),
    formatHashrate(hashesPerSecond),
    measured(difficulty, plain),
    `${accepted}/${rejected}/${stale}/${duplicate}`,
    String(blocks),
    measured(worker.lastShareSeconds, (seconds) => `${formatDuration(seconds)} ago`),
  ];
}

/** @returns `-` for what is not known */
export function measured(value: number | null, format: (value: number) => string): string {
  return value === null ? '-' : format(value);
}

function plain(difficulty: number): string {
  return withPrefix(difficulty).trimEnd();
}

/** @param rows of the same length each */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]))
      .join(GAP)
      .trimEnd(),
  );
}
