/** The line below the log: how the rig is doing, as far as it fits. */

import type { DeviceNow, OutcomeCounts } from '../report/device-stats.ts';
import { countsShares, livesOnRelays, luckOf } from '../report/figures.ts';
import { outageInFull, outageInShort } from '../report/outages.ts';
import type { RigNow, Summary } from '../report/rig.ts';
import { type RigState, rigState } from '../report/rig-state.ts';
import { allRelays } from '../report/source-stats.ts';
import {
  approximately,
  describeState,
  describeWorkers,
  formatDuration,
  formatEstimate,
  formatHashrate,
  formatPercent,
} from '../report/units.ts';
import { oneColumnEach } from '../text/plain-text.ts';
import type { View } from './pages.ts';
import type { Paint, Style } from './screen.ts';

interface Part {
  /** The shortest first: each replaces the one before it where there is room. */
  readonly forms: readonly Form[];
  readonly style?: Style | undefined;
}

/** A text, and how much it matters: the texts of the lowest rank get room first. */
type Form = readonly [text: string, rank: number];

const GAP = '  ';

/** For so long after the start, the key that lists the others is more important than some figures. */
const NEWCOMER_SECONDS = 600;

/**
 * @param columns of the terminal. The last one stays empty: some terminals break the line as soon as it is written.
 * @param hasKeys whether keys are read
 */
export function statusLine(view: View, columns: number, paint: Paint, hasKeys = true): string {
  const { now, summary } = view;
  const state = rigState(now);
  const parts: Part[] = [
    { forms: outage(state, now.nowMs), style: 'yellow' },
    { forms: hashrate(now, state), style: 'bold' },
    { forms: [[each(now.devices), 9]] },
    { forms: workers(now), style: livesOnRelays(now) ? 'bold' : undefined },
    ...(countsShares(now.work, summary.shares) ? onPool(view) : onNode(view)),
    { forms: [[temperature(now.devices), 5]] },
    { forms: [[power(now.devices), 5]] },
    { forms: [[`up ${formatDuration(summary.uptimeSeconds)}`, 7]] },
    { forms: hasKeys ? [['? for keys', summary.uptimeSeconds < NEWCOMER_SECONDS ? 3.5 : 10]] : [], style: 'dim' },
  ];
  return fit(parts, columns - 1, paint);
}

/** What keeps the rig from mining; empty while it mines. */
function outage(state: RigState, nowMs: number): Form[] {
  if (state.name === 'mining') return [];
  return [
    [describeState(state.name, state.sourceKind), 0],
    [outageInShort(state, nowMs) ?? '', 1],
    [oneColumnEach(outageInFull(state, nowMs) ?? ''), 8],
  ];
}

/** The rate of the devices that are in service. While the rig does not mine, a rate of 0 says nothing more. */
function hashrate({ devices, relays }: RigNow, { name }: RigState): Form[] {
  if (livesOnRelays({ devices, relays })) return [];
  const ready = [...devices.values()].filter(({ state }) => state === 'ready');
  const rate = ready.reduce((sum, device) => sum + recentRate(device), 0);
  if (rate === 0 && name !== 'mining') return [];
  return [
    [formatHashrate(rate), 0],
    [`${formatHashrate(rate)} (10 s)`, 6],
  ];
}

/** Over 10 s, or half a minute until so much time has passed. */
function recentRate({ hashesPerSecondByWindow, hashesPerSecond }: DeviceNow): number {
  return hashesPerSecondByWindow.last10s ?? hashesPerSecond;
}

function each(devices: ReadonlyMap<string, DeviceNow>): string {
  if (devices.size < 2) return '';
  return [...devices]
    .map(([name, device]) => `${name} ${device.state === 'ready' ? formatHashrate(recentRate(device)) : device.state}`)
    .join(' ');
}

/** Their hashrate is estimated, and no part of the rig's own. */
function workers({ relays }: RigNow): Form[] {
  return relays.size === 0 ? [] : [[describeWorkers(allRelays(relays.values())), 1]];
}

/** Every solution is a block. */
function onNode({ now, summary }: View): Part[] {
  const { accepted, rejected, stale } = summary;
  return [
    {
      forms: [
        [`${accepted}/${rejected}/${stale}`, 2],
        [`accepted ${accepted} rejected ${rejected} stale ${stale}${rare(summary)}`, 6],
      ],
      style: rejected > 0 ? 'red' : undefined,
    },
    { forms: livesOnRelays(now) ? [] : [[`effort ${formatPercent(now.effort)}`, 4]] },
    { forms: [[luck(summary), 8]] },
    { forms: [[timeTo('block', now.timeToBlockSeconds), 3]] },
    ...earnings(now),
  ];
}

/**
 * A block is rare, and effort says little. With hard shares, only the proven rate shows for hours that the rig works.
 */
function onPool({ now, summary }: View): Part[] {
  const { shares, accepted } = summary;
  const counts = `${shares.accepted}/${shares.rejected}/${shares.stale}`;
  return [
    {
      forms: [
        [counts, 2],
        [`shares ${counts}${rare(shares)}`, 4],
      ],
      style: shares.rejected > 0 ? 'red' : undefined,
    },
    { forms: [[accepted > 0 ? `blocks ${accepted}` : '', 3]], style: 'bold' },
    { forms: livesOnRelays(now) ? [] : [[`proven ${formatHashrate(now.provenHashesPerSecond)}`, 3]] },
    { forms: [[timeTo('share', now.timeToShareSeconds), 3]] },
    ...earnings(now),
    { forms: [[luck(summary), 8]] },
  ];
}

/** What is rarely other than 0 is named only then. */
function rare({ unknown, delivered }: OutcomeCounts): string {
  return `${unknown > 0 ? ` unknown ${unknown}` : ''}${delivered > 0 ? ` delivered ${delivered}` : ''}`;
}

function luck(summary: Summary): string {
  const part = luckOf(summary);
  return part === undefined ? '' : `luck ${formatPercent(part)}`;
}

/** Chance has no memory: however long the last one was ago, the next one is this far away on average. */
function timeTo(what: string, seconds: number | undefined): string {
  return seconds === undefined ? '' : `${what} in ${approximately(formatDuration(seconds))}`;
}

/** Coins and the cost of power cannot be compared: what a coin is worth is not known here. */
function earnings({ earnings: { coinsPerDay, powerCostPerDay } }: RigNow): Part[] {
  const part = (figure: number | undefined, text: (figure: string) => string, rank: number): Part => {
    return { forms: figure === undefined ? [] : [[text(formatEstimate(figure)), rank]] };
  };
  return [
    part(coinsPerDay, (coins) => `${approximately(coins)} coins/day`, 5),
    part(powerCostPerDay, (cost) => `power ${cost}/day`, 8),
  ];
}

function temperature(devices: ReadonlyMap<string, DeviceNow>): string {
  const known = [...devices.values()].flatMap(({ telemetry }) => telemetry.temperatureCelsius ?? []);
  return known.length === 0 ? '' : `${Math.max(...known).toFixed(0)} °C`;
}

function power(devices: ReadonlyMap<string, DeviceNow>): string {
  const known = [...devices.values()].flatMap(({ telemetry }) => telemetry.powerWatts ?? []);
  return known.length === 0 ? '' : `${known.reduce((sum, watts) => sum + watts, 0).toFixed(0)} W`;
}

/** @returns as many of the parts as fit */
function fit(parts: readonly Part[], room: number, paint: Paint): string {
  const shown = parts.map(({ style }) => ({ style, text: '' }));
  const steps = parts.flatMap(({ forms }, i) => forms.map(([text, rank]) => ({ part: shown[i], text, rank })));
  for (const { part, text } of steps.sort((a, b) => a.rank - b.rank)) {
    const before = part.text;
    part.text = text;
    if (lengthOf(shown) > room) part.text = before;
  }
  return shown
    .filter(({ text }) => text !== '')
    .map(({ style, text }, i) => `${i === 0 ? ' ' : GAP}${style ? paint(style, text) : text}`)
    .join('');
}

function lengthOf(parts: readonly { readonly text: string }[]): number {
  const texts = parts.filter(({ text }) => text !== '');
  return texts.reduce((sum, { text }) => sum + text.length + GAP.length, 1 - GAP.length);
}
