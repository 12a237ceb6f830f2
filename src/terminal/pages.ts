/** The state of the rig at one moment, which the terminal's texts are made from. */

import type { RelayWorker } from '../events/events.ts';
import type { DeviceNow, DeviceSummary } from '../report/device-stats.ts';
import { countsShares, livesOnRelays, luckOf, shortName } from '../report/figures.ts';
import { isDoubtful } from '../report/rates.ts';
import type { RigNow, Summary } from '../report/rig.ts';
import type { RelayNow, RelaySummary, SourceNow } from '../report/source-stats.ts';
import type { Tally } from '../report/tally.ts';
import {
  approximately,
  describeAcceptedBlocks,
  describeChance,
  describeCoins,
  describeOutcomes,
  describePolled,
  describePowerCost,
  describeWorkers,
  formatDuration,
  formatHashrate,
  formatInterval,
  formatPercent,
  formatTelemetry,
  noneYet,
  withPrefix,
} from '../report/units.ts';
import type { Clock } from '../system/clock.ts';
import { oneColumnEach, oneLine } from '../text/plain-text.ts';
import { plural } from '../text/quantities.ts';

export interface View {
  readonly now: RigNow;
  readonly summary: Summary;
  /** The clock's `monotonicMs`. */
  readonly nowMs: number;
}

export function viewOf(tally: Tally, clock: Clock): View {
  return { now: tally.now(), summary: tally.summary(), nowMs: clock.monotonicMs() };
}

/* Key `?`: the keys. */

export const KEYS = {
  h: 'hashrate of each device: 10 s, 60 s, 15 min, highest, and how much of it is proven',
  p: 'pause all devices',
  r: 'resume',
  s: 'results: shares, blocks, luck, effort, best difficulty',
  c: 'connection: nodes or pools, current work, New Cuts',
  w: 'workers that hash for this rig: sessions, estimated hashrates, shares',
  e: 'health of each device: failures, hardware errors, temperature, power',
  l: 'link to the web page with its token, and a QR code of it',
  '?': 'these keys',
  q: 'quit, after pending submissions',
} as const;

export type KeyName = keyof typeof KEYS;

export function help(): string[] {
  return Object.entries(KEYS).map(([key, what]) => `${key}  ${what}`);
}

/* Key `h`: the hashrate of each device, counted and proven. */

/** A device that works finds hundreds of verified candidates in this time. */
const SILENT_SECONDS = 120;

export function hashrates({ now, summary }: View): string[] {
  const { devices } = now;
  const width = Math.max(3, ...[...devices.keys()].map((name) => name.length));
  const row = (name: string, cells: readonly string[]) =>
    `${name.padEnd(width)}${cells.map((cell) => cell.padStart(13)).join('')}`;
  return [
    row('', ['10 s', '60 s', '15 min', 'highest']),
    ...[...devices].map(([name, device]) => row(name, cells(device))),
    ...(devices.size > 1 ? [row('all', cells(now))] : []),
    `over the whole run, ${formatDuration(summary.uptimeSeconds)}; verified candidates prove it:`,
    ...Object.keys(summary.devices).map((name) => {
      const hashingSeconds = devices.get(name)?.hashingSeconds ?? 0;
      return `${name.padEnd(width)} ${proven(summary.devices[name], summary.uptimeSeconds, hashingSeconds)}`;
    }),
  ];
}

type Rates = Pick<RigNow, 'hashesPerSecondByWindow' | 'highestHashesPerSecond'>;

function cells({ hashesPerSecondByWindow: windows, highestHashesPerSecond: highest }: Rates): string[] {
  return [windows.last10s, windows.last60s, windows.last15m, highest].map((rate) =>
    rate === null ? '-' : formatHashrate(rate),
  );
}

function proven({ hashes, proven }: DeviceSummary, seconds: number, hashingSeconds: number): string {
  const counted = `counted ${formatHashrate(hashes / seconds)}`;
  if (!proven) {
    const warning = hashingSeconds > SILENT_SECONDS ? ': IT PROVES NOTHING of what it counts' : '';
    return `nothing yet; ${counted}${warning}`;
  }
  const rate = formatInterval(proven.hashes / seconds, proven.low / seconds, proven.high / seconds);
  const more = hashes > proven.hashes ? 'MORE' : 'LESS';
  return `proven ${rate}; ${counted}${isDoubtful(hashes, proven) ? `: ${more} THAN IT PROVES` : ''}`;
}

/** Key `e`: how each device is doing. */
export function health({ now, summary }: View): string[] {
  if (now.devices.size === 0) return ['no device has been opened yet'];
  return [...now.devices].flatMap(([name, device]) => lines(name, device, summary.devices[name]));
}

function lines(name: string, device: DeviceNow, summary: DeviceSummary | undefined): string[] {
  const { state, reason, description, telemetry, hashesPerJoule: efficiency } = device;
  const faults =
    summary && `${plural(summary.reopens, 'failure')}, ${plural(summary.hardwareErrors, 'hardware error')}`;
  const sensors = formatTelemetry(telemetry, efficiency);
  const facts = [state, faults, sensors].filter(Boolean).join(', ');
  return [
    `${name.padEnd(6)} ${facts}`,
    ...(reason === undefined ? [] : [`       ${oneLine(reason)}`]),
    ...(description === '' ? [] : [`       ${oneLine(description)}`]),
  ];
}

/** Key `s`: verdicts, luck and effort. */
export function results(view: View): string[] {
  const { now, summary } = view;
  const { accepted, rejected, stale, unknown, delivered, acceptedBlocks: became } = summary;
  const rare = delivered > 0 ? `, delivered ${delivered}` : '';
  const verdicts = countsShares(now.work, summary.shares)
    ? [...shares(view), `blocks   ${describeOutcomes(summary)}`]
    : [`accepted ${accepted}, rejected ${rejected}, stale ${stale}, unknown ${unknown}${rare}`];
  const fates = became ? [`became   ${describeAcceptedBlocks(became)}`] : [];
  return [...verdicts, ...fates, ...(livesOnRelays(now) ? [] : effort(view)), ...blocks(view), ...earnings(view)];
}

/** What shows that a rig on a pool works. */
function shares({ now, summary, nowMs }: View): string[] {
  const { work, lastShareMs, provenHashesPerSecond, timeToShareSeconds } = now;
  const takes = work?.shareDifficulty === undefined ? '' : `takes ${plain(work.shareDifficulty)} hashes, `;
  const last =
    lastShareMs === undefined ? 'none yet' : `the last one ${formatDuration((nowMs - lastShareMs) / 1000)} ago`;
  return [
    `shares   ${describeOutcomes(summary.shares)}; the accepted ones stand for ${plain(summary.shares.acceptedHashes)} hashes`,
    `share    ${takes}${inTime(timeToShareSeconds)}; ${last}`,
    ...(livesOnRelays(now)
      ? []
      : [`proven   ${formatHashrate(provenHashesPerSecond)} over 15 min, by verified candidates`]),
  ];
}

/** They are the devices' own. */
function effort({ now, summary }: View): string[] {
  const { expectedBlocks, bestDifficulty } = summary;
  const luck = luckOf(summary);
  return [
    `luck     ${luck === undefined ? 'not known yet' : formatPercent(luck)}: ${expectedBlocks.toFixed(1)} blocks expected`,
    `effort   ${formatPercent(now.effort)} of what a block takes on average, since the last block`,
    `best     difficulty ${plain(bestDifficulty)}${now.work ? `; a block takes ${plain(now.work.difficulty)}` : ''}`,
  ];
}

function blocks({ now, summary, nowMs }: View): string[] {
  const { lastBlockMs, timeToBlockSeconds } = now;
  const what = countsShares(now.work, summary.shares) ? 'a block ' : '';
  return [
    `last     ${lastBlockMs === undefined ? 'no block yet' : `${what}${formatDuration((nowMs - lastBlockMs) / 1000)} ago`}`,
    `next     ${what}${inTime(timeToBlockSeconds)}`,
  ];
}

/** On average, if nothing changes. A rig that mines for another process earns nothing by itself. */
function earnings({ now }: View): string[] {
  const { earnings, sourceKind } = now;
  if (sourceKind === 'parent') return [];
  const power = describePowerCost(earnings, !livesOnRelays(now));
  return [
    `earns    ${describeCoins(earnings)}`,
    ...(earnings.blocksPerDay === undefined ? [] : [`chance   ${describeChance(earnings)}`]),
    ...(power === '' ? [] : [`power    ${power}`]),
  ];
}

function inTime(seconds: number | undefined): string {
  return seconds === undefined ? 'not known yet' : `in ${approximately(formatDuration(seconds))}, on average`;
}

function plain(difficulty: number): string {
  return withPrefix(difficulty).trimEnd();
}

/** Key `c`: the sources, the current work, and how fast a new job follows a New Cut. */
export function connection({ now, summary, nowMs }: View): string[] {
  const { sources, sourceKind, work } = now;
  const age = (sinceMs: number) => formatDuration((nowMs - sinceMs) / 1000);
  const { newCuts: cuts, switchSeconds: switches } = summary;
  const share = work?.shareDifficulty === undefined ? '' : `, of a share ${plain(work.shareDifficulty)}`;
  return [
    ...(sources.size === 0 ? [`${sourceKind.padEnd(8)} ${noneYet(sourceKind)}`] : []),
    ...[...sources].flatMap(([name, source]) => sourceLines(name, source, age(source.sinceMs))),
    work
      ? `work     chain ${work.chain} height ${work.height} difficulty ${plain(work.difficulty)}${share}, ${age(work.sinceMs)} old`
      : 'work     none yet',
    `New Cuts ${cuts}${switches ? `; New Cut → new job: median ${inMs(switches.p50)}, 99th percentile ${inMs(switches.p99)}, last ${inMs(switches.last)}` : ''}`,
  ];
}

function sourceLines(name: string, source: SourceNow, age: string): string[] {
  const { kind, state, reason, losses, warning, polledChains } = source;
  const lost = losses === 0 ? 'never lost' : `lost ${plural(losses, 'time')}`;
  return [
    `${kind.padEnd(8)} ${name}`,
    `         ${state} for ${age}, ${lost}`,
    ...(state === 'lost' || state === 'unhealthy' ? [`         ${oneLine(reason)}`] : []),
    ...(polledChains.length === 0 ? [] : [`         ${describePolled(polledChains)}`]),
    ...(warning === undefined ? [] : [`         warning: ${oneLine(warning)}`]),
  ];
}

function inMs(seconds: number): string {
  return `${(1000 * seconds).toFixed(1)} ms`;
}

/* Key `w`: the workers of relays. Their hashrates are estimated from their shares. */

/** Longer names are cut, so that a row fits into the usual 80 to 120 columns. */
const MOST_NAME = 24;

const HEADINGS = ['worker', 'sessions', 'estimated', 'difficulty', 'acc/rej/stale/dup', 'blocks', 'last share'];

export function workers({ now, summary }: View): string[] {
  if (now.relays.size === 0) return ['there are no workers: this rig hands its work on to nobody'];
  return [...now.relays].flatMap(([name, relay]) => relayLines(name, relay, summary.relays[name]));
}

function relayLines(name: string, relay: RelayNow, brought: RelaySummary): string[] {
  const shares = countsShares(undefined, brought.shares) ? `shares: ${describeOutcomes(brought.shares)}; blocks: ` : '';
  return [
    `${oneColumnEach(name)}: ${describeWorkers(relay)}, estimated from shares; sessions ${relay.sessions}`,
    `brought ${shares}${describeOutcomes(brought)}`,
    ...(relay.workers.length === 0 ? ['no worker has connected yet'] : table([HEADINGS, ...relay.workers.map(row)])),
  ];
}

function row(worker: RelayWorker): string[] {
  const { name, sessions, hashesPerSecond, difficulty, lastShareSeconds: last } = worker;
  return [
    oneColumnEach(shortName(name), MOST_NAME),
    String(sessions),
    formatHashrate(hashesPerSecond),
    difficulty === undefined ? '-' : withPrefix(difficulty).trimEnd(),
    `${worker.accepted}/${worker.rejected}/${worker.stale}/${worker.duplicate}`,
    String(worker.blocks),
    last === undefined ? '-' : `${formatDuration(last)} ago`,
  ];
}

/** @param rows of the same length each: names to the left, figures to the right */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  return rows.map((cells) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
  );
}
