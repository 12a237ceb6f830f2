/** The line below the log: how the rig is doing, as much of it as fits. */

import type { DeviceNow } from '../device-books.ts';
import type { RigNow, Summary } from '../tally.ts';
import { formatDuration, formatHashrate, formatPercent } from '../units.ts';
import type { Paint, Style } from './paint.ts';
import { luckOf, type View } from './view.ts';

interface Part {
  /** The longest first. One that can be left out ends with an empty one. */
  readonly forms: readonly string[];
  /** Where room is short, the part of the highest rank is shortened first. */
  readonly rank: number;
  readonly style?: Style | undefined;
}

const GAP = '  ';

/** @param columns of the terminal. The last stays empty: some break the line as soon as that is written. */
export function statusLine({ now, summary }: View, columns: number, paint: Paint): string {
  const parts: Part[] = [
    { forms: [formatHashrate(now.windows['10s'] ?? now.hashrate)], rank: 0, style: 'bold' },
    { forms: [troubleOf(now), ''], rank: 1, style: 'yellow' },
    { forms: [each(now.devices), ''], rank: 6 },
    { forms: verdicts(summary), rank: 2, style: summary.rejected > 0 ? 'red' : undefined },
    { forms: [`effort ${formatPercent(now.effort)}`, ''], rank: 4 },
    { forms: [luck(summary), ''], rank: 7 },
    { forms: [timeToBlock(now), ''], rank: 3 },
    { forms: [temperature(now.devices), ''], rank: 5 },
    { forms: [power(now.devices), ''], rank: 5 },
    { forms: [`up ${formatDuration(summary.seconds)}`, ''], rank: 8 },
    { forms: ['? for keys', ''], rank: 9, style: 'dim' },
  ];
  return fit(parts, columns - 1, paint);
}

/** What keeps the rig from mining, where anything does. */
function troubleOf({ devices, sources, work }: RigNow): string {
  const states = [...devices.values()].map(({ state }) => state);
  if (states.length === 0) return 'starting';
  if (states.every((state) => state === 'parked')) return 'no device works';
  if (states.every((state) => state === 'paused')) return 'paused';
  if (states.length === 1 && states[0] !== 'ready') return states[0];
  if (sources.size > 0 && [...sources.values()].every(({ state }) => state === 'lost')) return 'no node in reach';
  return work ? '' : 'no work yet';
}

function each(devices: ReadonlyMap<string, DeviceNow>): string {
  if (devices.size < 2) return '';
  return [...devices]
    .map(([name, { state, windows, hashrate }]) =>
      state === 'ready' ? `${name} ${formatHashrate(windows['10s'] ?? hashrate)}` : `${name} ${state}`,
    )
    .join(' ');
}

function verdicts({ accepted, rejected, stale, unknown }: Summary): string[] {
  const lost = unknown > 0 ? ` unknown ${unknown}` : '';
  return [`accepted ${accepted} rejected ${rejected} stale ${stale}${lost}`, `${accepted}/${rejected}/${stale}`, ''];
}

function luck(summary: Summary): string {
  const part = luckOf(summary);
  return part === undefined ? '' : `luck ${formatPercent(part)}`;
}

/** Chance has no memory: however long it has been, the next block is this far away on average. */
function timeToBlock({ secondsToBlock }: RigNow): string {
  return secondsToBlock === undefined ? '' : `block in ~${formatDuration(secondsToBlock)}`;
}

function temperature(devices: ReadonlyMap<string, DeviceNow>): string {
  const known = [...devices.values()].flatMap(({ telemetry }) => telemetry.temperatureC ?? []);
  return known.length === 0 ? '' : `${Math.max(...known).toFixed(0)} °C`;
}

function power(devices: ReadonlyMap<string, DeviceNow>): string {
  const known = [...devices.values()].flatMap(({ telemetry }) => telemetry.powerW ?? []);
  return known.length === 0 ? '' : `${known.reduce((sum, watts) => sum + watts, 0).toFixed(0)} W`;
}

function fit(parts: readonly Part[], room: number, paint: Paint): string {
  const shown = parts.map((part) => ({ ...part, forms: [...part.forms] }));
  const length = () => ` ${textsOf(shown).join(GAP)}`.length;
  const shrinkable = shown.filter(({ forms }) => forms.length > 1).sort((a, b) => b.rank - a.rank);
  while (length() > room && shrinkable.length > 0) {
    shrinkable[0].forms.shift();
    if (shrinkable[0].forms.length === 1) shrinkable.shift();
  }
  if (length() > room) return ` ${textsOf(shown).join(GAP)}`.slice(0, Math.max(0, room));
  const painted = shown.map(({ forms: [text], style }) => (text && style ? paint(style, text) : text));
  return ` ${painted.filter(Boolean).join(GAP)}`;
}

function textsOf(parts: readonly Part[]): string[] {
  return parts.map(({ forms }) => forms[0]).filter(Boolean);
}
