/** Pure functions that format the status of rigs for people, as `pickaxe stats` prints it. */

import { z } from 'zod';
import { oneLine } from '../../base/text/plain-text.ts';
import type { Outcome } from '../../miner/events/vocabulary.ts';
import {
  aligned,
  countsShares,
  DEVICE_COLUMNS,
  formatVerdicts,
  hottest,
  howKnown,
  livesOnRelays,
  RATE_COLUMNS,
  sumOfRelays,
  textTable,
  UNKNOWN,
  workerTable,
} from '../../rig/status/figures.ts';
import { type OutcomeCounts, type RelayStatus, type SourceStatus, Status } from '../../rig/status/status.ts';
import {
  describeAcceptedBlocks,
  describeChance,
  describeCoins,
  describeOutcomes,
  describePowerCost,
  describeState,
  describeWorkers,
  formatAmount,
  formatCelsius,
  formatDuration,
  formatHashrate,
  formatPercent,
} from '../../rig/status/units.ts';

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
    ...(hasDevices ? ['', ...textTable('device', DEVICES, Object.entries(devices))] : []),
    ...Object.entries(relays).flatMap(([name, relay]) => ['', ...workers(name, relay)]),
  ];
}

function state({ state, sourceKind, stateReason: reason, stateAgeSeconds: age }: Status): string {
  return `${describeState(state, sourceKind)} for ${formatDuration(age)}${reason === null ? '' : ` (${oneLine(reason)})`}`;
}

/** @returns the average hashrates as text, without averages over a time that is longer than the rig's uptime */
function rates(status: Status): string {
  const passed = [last10s, last60s, last15m].flatMap(({ heading, cell }) => {
    const rate = cell(status);
    return rate === null ? [] : [`${rate} over ${heading}`];
  });
  return [...passed, `${formatHashrate(status.averageHashesPerSecond)} since the start`].join(', ');
}

function shares({ shares, provenHashesPerSecond, lastShareSeconds: last }: Status): string {
  const age = last === null ? 'none accepted yet' : `the last one ${formatDuration(last)} ago`;
  return `${describeOutcomes(shares)}; ${age}; proven ${formatHashrate(provenHashesPerSecond)} over 15 min`;
}

function blocks(status: Status): string {
  const { expectedBlocks: expected, effort } = status;
  return `${describeOutcomes(status)}; ${expected.toFixed(1)} expected, effort ${formatPercent(effort)}`;
}

function earnings(status: Status): string {
  const { earnings } = status;
  return [describeCoins(earnings), describeChance(earnings), describePowerCost(earnings, !livesOnRelays(status))]
    .filter((part) => part !== '')
    .join('; ');
}

function work({ work }: Status): string {
  if (!work) return 'none yet';
  const { chain, height, difficulty, shareDifficulty } = work;
  const share = shareDifficulty === null ? '' : `, of a share ${formatAmount(shareDifficulty)}`;
  return `chain ${chain}, height ${height}, difficulty ${formatAmount(difficulty)}${share}`;
}

function connection(name: string, { state, reason, ageSeconds: age }: SourceStatus): string {
  const why = state === 'lost' || state === 'unhealthy' ? ` (${oneLine(reason)})` : '';
  return `${oneLine(name)}: ${state} for ${formatDuration(age)}${why}`;
}

const { last10s, last60s, last15m } = RATE_COLUMNS;
const { state: deviceState, blocks: accepted, hardwareErrors, failures, temperature, power } = DEVICE_COLUMNS;
const DEVICES = [deviceState, last10s, last60s, last15m, accepted, hardwareErrors, failures, temperature, power];

function workers(name: string, relay: RelayStatus): string[] {
  const { sessions, workers } = relay;
  return [
    `${oneLine(name)}: ${describeWorkers(relay)}, ${howKnown([name])}; sessions ${sessions}`,
    ...(workers.length === 0 ? [] : workerTable(workers, oneLine)),
  ];
}

/* The table of several rigs has a row for each rig, and a row for all of them. */

const RigReport = z.object({
  address: z.string().describe('its URL'),
  status: Status.nullable().describe('its answer'),
  fault: z.string().nullable().describe('why there is no answer'),
});
export type RigReport = z.infer<typeof RigReport>;

export const RigsReport = z
  .object({ rigs: z.array(RigReport).describe('in the order of the addresses') })
  .describe('with several `--http`');
export type RigsReport = z.infer<typeof RigsReport>;

const HEADINGS = ['rig', 'at', 'state', '30 s', 'temperature', 'blocks acc/rej/stale', 'faults', 'version', 'reason'];
/** Heading of the column after the blocks. The column exists only if a rig counts shares. */
const SHARES = 'shares acc/rej/stale';

export function rigsLines({ rigs }: RigsReport): string[] {
  const onPools = rigs.some(({ status }) => status && countsShares(status.work, status.shares));
  const headings = HEADINGS.flatMap((name) => (onPools && name === 'faults' ? [SHARES, name] : [name]));
  return aligned([headings, ...rigs.map((rig) => row(rig, onPools)), all(rigs, onPools)]);
}

function row({ address, status, fault }: RigReport, onPools: boolean): string[] {
  const at = new URL(address).host;
  const shares = (text: string) => (onPools ? [text] : []);
  if (!status) {
    const none = Array.from({ length: onPools ? 6 : 5 }, () => UNKNOWN);
    return [UNKNOWN, at, 'no answer', ...none, oneLine(fault ?? '')];
  }
  const celsius = hottest(status.devices);
  return [
    oneLine(status.rig),
    at,
    describeState(status.state, status.sourceKind),
    rate(status),
    celsius === null ? UNKNOWN : formatCelsius(celsius),
    formatVerdicts(status),
    ...shares(countsShares(status.work, status.shares) ? formatVerdicts(status.shares) : UNKNOWN),
    String(faultsOf(status)),
    oneLine(status.version),
    oneLine(status.stateReason ?? ''),
  ];
}

/**
 * @returns the row for all rigs. Its hashrate is that of devices alone, because the workers of a rig's relays may be
 *   other rigs of the table
 */
function all(rigs: readonly RigReport[], onPools: boolean): string[] {
  const answers = rigs.flatMap(({ status }) => (status ? [status] : []));
  const mining = answers.filter(({ ready }) => ready);
  const verdicts = (counts: (status: Status) => OutcomeCounts) => {
    const sum = (outcome: Outcome) => sumOf(answers, (status) => counts(status)[outcome]);
    return formatVerdicts({ accepted: sum('accepted'), rejected: sum('rejected'), stale: sum('stale') });
  };
  return [
    'all',
    '',
    `${mining.length} of ${rigs.length} mining`,
    formatHashrate(sumOf(mining, ({ hashesPerSecond }) => hashesPerSecond)),
    '',
    verdicts((status) => status),
    ...(onPools ? [verdicts(({ shares }) => shares)] : []),
    String(sumOf(answers, faultsOf)),
    '',
    '',
  ];
}

/** @returns the rig's hashrate; an estimate if the rig only relays work; unknown if the rig is not mining */
function rate(status: Status): string {
  if (!status.ready) return UNKNOWN;
  if (!livesOnRelays(status)) return formatHashrate(status.hashesPerSecond);
  return `~${formatHashrate(sumOfRelays(status.relays).hashesPerSecond)}`;
}

/** @returns the number of wrong hashes, plus the number of failures after which a device was opened again */
function faultsOf({ hardwareErrors, devices }: Status): number {
  return Object.values(devices).reduce((sum, { reopens }) => sum + reopens, hardwareErrors);
}

function sumOf(statuses: readonly Status[], figure: (status: Status) => number): number {
  return statuses.reduce((sum, status) => sum + figure(status), 0);
}
