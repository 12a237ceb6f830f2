/** How a rig is doing, as `pickaxe stats` prints it for people. Pure. */

import type { Status } from '../report/http/schemas.ts';
import { formatDuration, formatHashrate, formatPercent, withPrefix } from '../report/units.ts';
import { oneLine } from '../text/one-line.ts';

type Device = Status['devices'][string];
type Source = Status['sources'][string];

/** Between two columns. */
const GAP = '  ';

export function statsLines(status: Status): string[] {
  const { rig, version, uptimeSeconds: uptime, work, sources, devices } = status;
  return [
    ...aligned([
      ['rig', `${oneLine(rig)}, pickaxe ${version}, up for ${formatDuration(uptime)}`],
      ['state', state(status)],
      ['hashrate', rates(status)],
      ['blocks', blocks(status)],
      ['work', work ? `chain ${work.chain}, height ${work.height}, difficulty ${plain(work.difficulty)}` : 'none yet'],
      ...Object.entries(sources).map(([name, source]) => ['node', node(name, source)]),
    ]),
    '',
    ...aligned([HEADINGS, ...Object.entries(devices).map(([name, device]) => row(name, device))]),
  ];
}

function state({ state, stateReason: reason, stateAgeSeconds: age }: Status): string {
  return `${state} for ${formatDuration(age)}${reason === null ? '' : ` (${oneLine(reason)})`}`;
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

function blocks({ accepted, rejected, stale, unknown, expectedBlocks: expected, effort }: Status): string {
  const lost = unknown > 0 ? `, ${unknown} unknown` : '';
  const verdicts = `${accepted} accepted, ${rejected} rejected, ${stale} stale${lost}`;
  return `${verdicts}; ${expected.toFixed(1)} expected, effort ${formatPercent(effort)}`;
}

function node(name: string, { state, reason, ageSeconds: age }: Source): string {
  return `${oneLine(name)}: ${state} for ${formatDuration(age)}${state === 'lost' ? ` (${oneLine(reason)})` : ''}`;
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

function measured(value: number | null, format: (value: number) => string): string {
  return value === null ? '-' : format(value);
}

function plain(difficulty: number): string {
  return withPrefix(difficulty).trimEnd();
}

/** @param rows of the same length each */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]))
      .join(GAP)
      .trimEnd(),
  );
}
