/** The texts that the terminal shows for its keys. Computing them has no side effects. */

import { encode } from 'uqr';
import { isLoopback } from '../../base/text/addresses.ts';
import { oneColumnEach, oneLine } from '../../base/text/plain-text.ts';
import { plural } from '../../base/text/quantities.ts';
import { isDoubtful } from '../status/counters.ts';
import {
  countsShares,
  describeVerdicts,
  howKnown,
  inService,
  livesOnRelays,
  luckOf,
  RATE_COLUMNS,
  shortName,
  textTable,
  workerTable,
} from '../status/figures.ts';
import type { DeviceStatus, RelayStatus, RigStatus, SourceStatus } from '../status/status.ts';
import {
  approximately,
  describeAcceptedBlocks,
  describeChance,
  describeCoins,
  describeOutcomes,
  describePolled,
  describePowerCost,
  describeWorkers,
  formatAmount,
  formatDuration,
  formatHashrate,
  formatInterval,
  formatPercent,
  formatSensors,
  noneYet,
} from '../status/units.ts';

/* Key `?`: the list of keys */

export const KEYS = {
  h: 'hashrate of each device: 10 s, 60 s, 15 min, highest, and how much of it is proven',
  p: 'pause all devices',
  r: 'resume',
  s: 'results: shares, blocks, luck, effort, best difficulty',
  c: 'connection: nodes, pools or coordinators, current work, New Cuts',
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

/* Key `h`: the hashrate of each device, counted and proven */

/**
 * Time since a device's first hashes, in seconds, after which a warning is shown if no candidate has been found. A
 * working device finds hundreds of candidates in this time.
 */
const SILENT_SECONDS = 120;

export function hashrates(status: RigStatus): string[] {
  const { devices, uptimeSeconds } = status;
  const all = Object.entries(devices);
  const width = Math.max(3, ...all.map(([name]) => name.length));
  const rows = [...all, ...(all.length > 1 ? [['all', status] as const] : [])];
  return [
    ...textTable('', Object.values(RATE_COLUMNS), rows),
    `over the whole run, ${formatDuration(uptimeSeconds)}; verified candidates prove it:`,
    ...inService(devices).map(([name, device]) => `${name.padEnd(width)} ${proven(device, uptimeSeconds)}`),
  ];
}

function proven({ hashes, proven, hashingSeconds }: DeviceStatus, seconds: number): string {
  const counted = `counted ${formatHashrate(hashes / seconds)}`;
  if (!proven) {
    const warning = (hashingSeconds ?? 0) > SILENT_SECONDS ? ': IT PROVES NOTHING of what it counts' : '';
    return `nothing yet; ${counted}${warning}`;
  }
  const rate = formatInterval(proven.hashes / seconds, proven.low / seconds, proven.high / seconds);
  const more = hashes > proven.hashes ? 'MORE' : 'LESS';
  return `proven ${rate}; ${counted}${isDoubtful(hashes, proven) ? `: ${more} THAN IT PROVES` : ''}`;
}

/** Key `e`: the health of each device. */
export function health({ devices }: RigStatus): string[] {
  const all = Object.entries(devices);
  return all.length === 0 ? ['no device has been opened yet'] : all.flatMap(([name, device]) => healthOf(name, device));
}

function healthOf(name: string, device: DeviceStatus): string[] {
  const { state, reason, description, reopens, hardwareErrors, sensors, hashesPerJoule, hasWorked } = device;
  const faults = hasWorked && `${plural(reopens, 'failure')}, ${plural(hardwareErrors, 'hardware error')}`;
  const facts = [state, faults, formatSensors(sensors, hashesPerJoule)].filter(Boolean).join(', ');
  return [
    `${name.padEnd(6)} ${facts}`,
    ...(reason === null ? [] : [`       ${oneLine(reason)}`]),
    ...(description === '' ? [] : [`       ${oneLine(description)}`]),
  ];
}

/** Key `s`: verdicts, fates of blocks, luck, effort and earnings. */
export function results(status: RigStatus): string[] {
  const { accepted, rejected, stale, unknown, delivered, acceptedBlocks: became } = status;
  const rare = delivered > 0 ? `, delivered ${delivered}` : '';
  const verdicts = countsShares(status.work, status.shares)
    ? [...shares(status), `blocks   ${describeOutcomes(status)}`]
    : [`accepted ${accepted}, rejected ${rejected}, stale ${stale}, unknown ${unknown}${rare}`];
  const fates = became ? [`became   ${describeAcceptedBlocks(became)}`] : [];
  const ofDevices = livesOnRelays(status) ? [] : effort(status);
  return [...verdicts, ...fates, ...ofDevices, ...blocks(status), ...earnings(status)];
}

/** @returns lines about shares, and about the proven hashrate of the devices */
function shares(status: RigStatus): string[] {
  const { work, shares, lastShareSeconds, provenHashesPerSecond, timeToShareSeconds } = status;
  const { acceptedHashes } = shares;
  const takes = work && work.shareDifficulty !== null ? `takes ${formatAmount(work.shareDifficulty)} hashes, ` : '';
  const last = lastShareSeconds === null ? 'none yet' : `the last one ${formatDuration(lastShareSeconds)} ago`;
  return [
    `shares   ${describeOutcomes(shares)}; the accepted ones stand for ${formatAmount(acceptedHashes)} hashes`,
    `share    ${takes}${inTime(timeToShareSeconds)}; ${last}`,
    ...(livesOnRelays(status)
      ? []
      : [`proven   ${formatHashrate(provenHashesPerSecond)} over 15 min, by verified candidates`]),
  ];
}

/** @returns the luck, the effort and the best difficulty of the devices. Relays are not included */
function effort(status: RigStatus): string[] {
  const { expectedBlocks, bestDifficulty, effort, work } = status;
  const luck = luckOf(status);
  return [
    `luck     ${luck === null ? 'not known yet' : formatPercent(luck)}: ${expectedBlocks.toFixed(1)} blocks expected`,
    `effort   ${formatPercent(effort)} of what a block takes on average, since the last block`,
    `best     difficulty ${formatAmount(bestDifficulty)}${work ? `; a block takes ${formatAmount(work.difficulty)}` : ''}`,
  ];
}

function blocks({ work, shares, lastBlockSeconds, timeToBlockSeconds }: RigStatus): string[] {
  const what = countsShares(work, shares) ? 'a block ' : '';
  return [
    `last     ${lastBlockSeconds === null ? 'no block yet' : `${what}${formatDuration(lastBlockSeconds)} ago`}`,
    `next     ${what}${inTime(timeToBlockSeconds)}`,
  ];
}

/** @returns lines about average earnings; none on a rig that mines for a parent, because its parent earns them */
function earnings(status: RigStatus): string[] {
  const { earnings, sourceKind } = status;
  if (sourceKind === 'parent') return [];
  const power = describePowerCost(earnings, !livesOnRelays(status));
  return [
    `earns    ${describeCoins(earnings)}`,
    ...(earnings.blocksPerDay === null ? [] : [`chance   ${describeChance(earnings)}`]),
    ...(power === '' ? [] : [`power    ${power}`]),
  ];
}

function inTime(seconds: number | null): string {
  return seconds === null ? 'not known yet' : `in ${approximately(formatDuration(seconds))}, on average`;
}

/** Key `c`: the sources, the current work, and the time from a New Cut to a new job. */
export function connection({ sources, sourceKind, work, newCuts, switchSeconds: switches }: RigStatus): string[] {
  const all = Object.entries(sources);
  const share = work && work.shareDifficulty !== null ? `, of a share ${formatAmount(work.shareDifficulty)}` : '';
  return [
    ...(all.length === 0 ? [`${sourceKind.padEnd(8)} ${noneYet(sourceKind)}`] : []),
    ...all.flatMap(([name, source]) => sourceLines(name, source)),
    work
      ? `work     chain ${work.chain} height ${work.height} difficulty ${formatAmount(work.difficulty)}${share}, ${formatDuration(work.ageSeconds)} old`
      : 'work     none yet',
    `New Cuts ${newCuts}${switches ? `; New Cut → new job: median ${inMs(switches.p50)}, 99th percentile ${inMs(switches.p99)}, last ${inMs(switches.last)}` : ''}`,
  ];
}

function sourceLines(name: string, source: SourceStatus): string[] {
  const { kind, state, reason, ageSeconds, losses, warning, polledChains } = source;
  const lost = losses === 0 ? 'never lost' : `lost ${plural(losses, 'time')}`;
  return [
    `${kind.padEnd(8)} ${name}`,
    `         ${state} for ${formatDuration(ageSeconds)}, ${lost}`,
    ...(state === 'lost' || state === 'unhealthy' ? [`         ${oneLine(reason)}`] : []),
    ...(polledChains.length === 0 ? [] : [`         ${describePolled(polledChains)}`]),
    ...(warning === null ? [] : [`         warning: ${oneLine(warning)}`]),
  ];
}

function inMs(seconds: number): string {
  return `${(1000 * seconds).toFixed(1)} ms`;
}

/* Key `w`: the workers of relays. Their hashrates are estimated from shares or reported by the workers. */

/** Maximum width of a worker's name in columns, so that a row fits into the usual 80 to 120 columns. */
const MOST_NAME = 24;

export function workers({ relays }: RigStatus): string[] {
  const all = Object.entries(relays);
  if (all.length === 0) return ['there are no workers: this rig hands its work on to nobody'];
  return all.flatMap(([name, relay]) => relayLines(name, relay));
}

function relayLines(name: string, relay: RelayStatus): string[] {
  const nameOf = (name: string) => oneColumnEach(shortName(name), MOST_NAME);
  return [
    `${oneColumnEach(name)}: ${describeWorkers(relay)}, ${howKnown([name])}; sessions ${relay.sessions}`,
    `brought ${describeVerdicts(relay)}`,
    ...(relay.workers.length === 0 ? ['no worker has connected yet'] : workerTable(relay.workers, nameOf)),
  ];
}

/* Key `l`: a link to the web page with its token, also as a QR code */

/** The address of the web page. The token may be shown on the terminal only, never in a log, a file or an API. */
export interface ServedPage {
  /**
   * URL of the page, such as `http://192.168.1.5:8080`. If other machines can reach the page, they can use this URL.
   */
  readonly url: string;
  readonly token?: string | undefined;
}

interface PageLink {
  readonly lines: readonly string[];
  /** Whether the lines contain the token. */
  readonly isSecret: boolean;
}

interface Window {
  readonly columns: number;
  readonly rows: number;
  readonly colours: boolean;
}

/**
 * Width of the light border around the QR code, in modules. The standard requires four (ISO/IEC 18004 §6.3.8), but
 * cameras need only two, and a window of 24 rows has no space for more.
 */
const BORDER = 2;
/** Escape codes before and after each line of a QR code. They make the code black on white in all colour schemes. */
const INK = ['\x1b[30;107m', '\x1b[m'] as const;

export function pageLink(page: ServedPage | undefined, window: Window): PageLink {
  if (!page) return { lines: ['there is no web page: start pickaxe with --http 8080'], isSecret: false };
  const { url, token } = page;
  const link = token === undefined ? url : `${url}/#token=${encodeURIComponent(token)}`;
  const isSecret = token !== undefined;
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const code = isLoopback(host)
    ? ['Only this machine reaches it. For others, start with --http 0.0.0.0:8080 and --http-token-file.']
    : codeThatFits(link, window);
  return { lines: [link, ...code], isSecret };
}

/** @returns the lines of the QR code; or, if the window is too small, one line that names the necessary size */
function codeThatFits(link: string, { columns, rows, colours }: Window): readonly string[] {
  const code = qrCode(link, colours);
  const width = 2 * code.length;
  // One more row is necessary, because the row below the code shows how to go back.
  const height = Math.ceil(link.length / columns) + code.length + 1;
  if (columns >= width && rows >= height) return code;
  return [`The QR code needs a window of ${width} columns and ${height} rows.`];
}

/** @returns lines of text, each of which shows two rows of modules */
export function qrCode(text: string, colours: boolean): string[] {
  const { data } = encode(text, { ecc: 'L', border: BORDER });
  // Without colours, the light modules are drawn instead of the dark ones, because most terminals have a dark
  // background.
  const isDrawn = (row: number, column: number) => (data[row]?.[column] ?? false) === colours;
  const [start, end] = colours ? INK : ['', ''];
  return Array.from({ length: Math.ceil(data.length / 2) }, (_, line) => {
    const blocks = data[0].map((_, column) => {
      const [upper, lower] = [isDrawn(2 * line, column), isDrawn(2 * line + 1, column)];
      return upper ? (lower ? '█' : '▀') : lower ? '▄' : ' ';
    });
    return `${start}${blocks.join('')}${end}`;
  });
}
