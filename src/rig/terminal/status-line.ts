/** The status line below the log. It contains as many figures as fit into the terminal's width. */

import { oneColumnEach } from '../../base/text/plain-text.ts';
import { outageInFull, outageInShort } from '../log/outages.ts';
import { countsShares, formatVerdicts, hottest, livesOnRelays, luckOf, sumOfRelays } from '../status/figures.ts';
import type { DeviceStatus, OutcomeCounts, RigStatus } from '../status/status.ts';
import {
  approximately,
  describeState,
  describeWorkers,
  formatCelsius,
  formatDuration,
  formatEstimate,
  formatHashrate,
  formatPercent,
  formatWatts,
} from '../status/units.ts';
import type { Paint, Style } from './screen.ts';

interface Part {
  /** Alternative texts of the part, the shortest first. A longer text replaces a shorter one if there is room. */
  readonly forms: readonly Form[];
  readonly style?: Style | undefined;
}

/** A text and its rank. Texts get room in the order of their ranks, the lowest rank first. */
type Form = readonly [text: string, rank: number];

const GAP = '  ';

/** Time after the start, in seconds, for which the hint about the keys is more important than some figures. */
const NEWCOMER_SECONDS = 600;

/**
 * @param columns width of the terminal. The last column stays empty, because some terminals wrap a row when its last
 *   column is written
 * @param hasKeys whether keys are read, so that the line may mention them
 */
export function statusLine(status: RigStatus, columns: number, paint: Paint, hasKeys = true): string {
  const { devices, uptimeSeconds } = status;
  const isOnRelays = livesOnRelays(status);
  const parts: Part[] = [
    { forms: outage(status), style: 'yellow' },
    { forms: isOnRelays ? [] : hashrate(status), style: 'bold' },
    { forms: [[each(devices), 9]] },
    { forms: workers(status), style: isOnRelays ? 'bold' : undefined },
    ...(countsShares(status.work, status.shares) ? onPool(status) : onNode(status)),
    figure(hottest(devices), formatCelsius, 5),
    figure(power(devices), formatWatts, 5),
    { forms: [[`up ${formatDuration(uptimeSeconds)}`, 7]] },
    { forms: hasKeys ? [['? for keys', uptimeSeconds < NEWCOMER_SECONDS ? 3.5 : 10]] : [], style: 'dim' },
  ];
  return fit(parts, columns - 1, paint);
}

function outage(status: RigStatus): Form[] {
  if (status.ready) return [];
  return [
    [describeState(status.state, status.sourceKind), 0],
    [outageInShort(status) ?? '', 1],
    [oneColumnEach(outageInFull(status) ?? ''), 8],
  ];
}

/** @returns the hashrate of the ready devices; nothing if it is 0 and the rig does not mine */
function hashrate({ devices, ready: isMining }: RigStatus): Form[] {
  const ready = Object.values(devices).filter(({ state }) => state === 'ready');
  const rate = ready.reduce((sum, device) => sum + recentRate(device), 0);
  if (rate === 0 && !isMining) return [];
  return [
    [formatHashrate(rate), 0],
    [`${formatHashrate(rate)} (10 s)`, 6],
  ];
}

/** @returns the hashrate over 10 s; until the device has run for 10 s, the average since its start */
function recentRate({ hashesPerSecondByWindow, hashesPerSecond }: DeviceStatus): number {
  return hashesPerSecondByWindow.last10s ?? hashesPerSecond;
}

function each(devices: RigStatus['devices']): string {
  const all = Object.entries(devices);
  if (all.length < 2) return '';
  return all
    .map(([name, device]) => `${name} ${device.state === 'ready' ? formatHashrate(recentRate(device)) : device.state}`)
    .join(' ');
}

/** The number and the hashrate of the relays' workers. Their hashrate is not part of the devices' hashrate. */
function workers({ relays }: RigStatus): Form[] {
  return Object.keys(relays).length === 0 ? [] : [[describeWorkers(sumOfRelays(relays)), 1]];
}

/** The parts for a rig that shows no shares, such as a rig on a node, where every solution is a block. */
function onNode(status: RigStatus): Part[] {
  const { accepted, rejected, stale } = status;
  return [
    {
      forms: [
        [formatVerdicts(status), 2],
        [`accepted ${accepted} rejected ${rejected} stale ${stale}${rare(status)}`, 6],
      ],
      style: rejected > 0 ? 'red' : undefined,
    },
    { forms: livesOnRelays(status) ? [] : [[`effort ${formatPercent(status.effort)}`, 4]] },
    luck(status),
    timeTo('block', status.timeToBlockSeconds),
    ...earnings(status),
  ];
}

/**
 * The parts for a rig that shows shares, such as a rig on a pool. The effort is left out, because it matters little on
 * a pool. The proven hashrate is included: if shares are hard, there can be no share for hours, and then the proven
 * hashrate is the only evidence that the rig works.
 */
function onPool(status: RigStatus): Part[] {
  const { shares, accepted } = status;
  const counts = formatVerdicts(shares);
  return [
    {
      forms: [
        [counts, 2],
        [`shares ${counts}${rare(shares)}`, 4],
      ],
      style: shares.rejected > 0 ? 'red' : undefined,
    },
    { forms: [[accepted > 0 ? `blocks ${accepted}` : '', 3]], style: 'bold' },
    { forms: livesOnRelays(status) ? [] : [[`proven ${formatHashrate(status.provenHashesPerSecond)}`, 3]] },
    timeTo('share', status.timeToShareSeconds),
    ...earnings(status),
    luck(status),
  ];
}

/** The outcomes that are shown only if they have occurred. */
function rare({ unknown, delivered }: OutcomeCounts): string {
  return `${unknown > 0 ? ` unknown ${unknown}` : ''}${delivered > 0 ? ` delivered ${delivered}` : ''}`;
}

function luck(status: RigStatus): Part {
  return figure(luckOf(status), (ratio) => `luck ${formatPercent(ratio)}`, 8);
}

/** The average time to the next block or share, which does not depend on when the last one was found. */
function timeTo(what: string, seconds: number | null): Part {
  return figure(seconds, (one) => `${what} in ${approximately(formatDuration(one))}`, 3);
}

/**
 * Earnings and the cost of power are two figures. Their difference cannot be computed, because the price of a coin is
 * not known.
 */
function earnings({ earnings: { coinsPerDay, powerCostPerDay } }: RigStatus): Part[] {
  return [
    figure(coinsPerDay, (coins) => `${approximately(formatEstimate(coins))} coins/day`, 5),
    figure(powerCostPerDay, (cost) => `power ${formatEstimate(cost)}/day`, 8),
  ];
}

function power(devices: RigStatus['devices']): number | null {
  const known = Object.values(devices).flatMap(({ sensors }) => sensors.powerWatts ?? []);
  return known.length === 0 ? null : known.reduce((sum, watts) => sum + watts, 0);
}

function figure(value: number | null, text: (value: number) => string, rank: number): Part {
  return { forms: value === null ? [] : [[text(value), rank]] };
}

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
