/** How several rigs are doing: what `pickaxe stats` prints when it is given the addresses of more than one. Pure. */

import { z } from 'zod';
import { countsShares, livesOnRelays } from '../report/figures.ts';
import { Status } from '../report/http/schemas.ts';
import { describeState, formatHashrate } from '../report/units.ts';
import { oneLine } from '../text/one-line.ts';
import { aligned, measured } from './stats-table.ts';

const RigReport = z.object({
  address: z.string().meta({ description: 'where the rig was asked, as a URL' }),
  status: Status.nullable().meta({ description: 'what it answered; null when there is a fault' }),
  fault: z.string().nullable().meta({ description: 'why there is no answer of it' }),
});
export type RigReport = z.infer<typeof RigReport>;

export const RigsReport = z.object({ rigs: z.array(RigReport).meta({ description: 'in the order of the addresses' }) });
export type RigsReport = z.infer<typeof RigsReport>;

const HEADINGS = ['rig', 'at', 'state', '30 s', 'temperature', 'blocks acc/rej/stale', 'faults', 'version', 'reason'];
/** After the blocks, where any rig is on a pool. */
const SHARES = 'shares acc/rej/stale';

/** A row for each rig, and one for all of them. */
export function rigsLines({ rigs }: RigsReport): string[] {
  const onPools = rigs.some(({ status }) => status && countsShares(status.work, status.shares));
  const headings = HEADINGS.flatMap((name) => (onPools && name === 'faults' ? [SHARES, name] : [name]));
  return aligned([headings, ...rigs.map((rig) => row(rig, onPools)), all(rigs, onPools)]);
}

function row({ address, status, fault }: RigReport, onPools: boolean): string[] {
  const at = new URL(address).host;
  const shares = (text: string) => (onPools ? [text] : []);
  if (!status) return ['-', at, 'no answer', '-', '-', '-', ...shares('-'), '-', '-', oneLine(fault ?? '')];
  return [
    oneLine(status.rig),
    at,
    describeState(status.state, status.sourceKind),
    rate(status),
    measured(hottest(status), (celsius) => `${celsius.toFixed(0)} °C`),
    counted(status),
    ...shares(countsShares(status.work, status.shares) ? counted(status.shares) : '-'),
    String(faultsOf(status)),
    oneLine(status.version),
    oneLine(status.stateReason ?? ''),
  ];
}

/** The workers of a rig's relays may be other rigs of the table, so the sum is of what devices hash. */
function all(rigs: readonly RigReport[], onPools: boolean): string[] {
  const answers = rigs.flatMap(({ status }) => (status ? [status] : []));
  const mining = answers.filter(({ state }) => state === 'mining');
  const sum = (of: readonly Status[], figure: (status: Status) => number) =>
    of.reduce((total, status) => total + figure(status), 0);
  const countedOf = (counts: (status: Status) => Counts) =>
    counted({
      accepted: sum(answers, (status) => counts(status).accepted),
      rejected: sum(answers, (status) => counts(status).rejected),
      stale: sum(answers, (status) => counts(status).stale),
    });
  return [
    'all',
    '',
    `${mining.length} of ${rigs.length} mining`,
    formatHashrate(sum(mining, ({ hashesPerSecond }) => hashesPerSecond)),
    '',
    countedOf((status) => status),
    ...(onPools ? [countedOf(({ shares }) => shares)] : []),
    String(sum(answers, faultsOf)),
    '',
    '',
  ];
}

/** Of a rig that only hands work on, the estimate of its workers. The average of one that does not mine is still of when it did. */
function rate(status: Status): string {
  if (status.state !== 'mining') return '-';
  if (!livesOnRelays(status)) return formatHashrate(status.hashesPerSecond);
  return `~${formatHashrate(Object.values(status.relays).reduce((sum, { hashesPerSecond }) => sum + hashesPerSecond, 0))}`;
}

function hottest({ devices }: Status): number | null {
  const known = Object.values(devices).flatMap(({ sensors: { temperatureCelsius: t } }) => (t === null ? [] : [t]));
  return known.length === 0 ? null : Math.max(...known);
}

/** Wrong hashes, and failures after which a device was opened again. */
function faultsOf({ hardwareErrors, devices }: Status): number {
  return Object.values(devices).reduce((sum, { reopens }) => sum + reopens, hardwareErrors);
}

type Counts = Readonly<Record<'accepted' | 'rejected' | 'stale', number>>;

function counted({ accepted, rejected, stale }: Counts): string {
  return `${accepted}/${rejected}/${stale}`;
}
