/** Pure functions that format a fleet's status for people: sums, coordinators, and a row for each rig. */

import { plural } from '../../base/text/quantities.ts';
import { faultsOf, hottestCelsius, isFaulty, shownState, totalWatts } from '../../fleet/operator/fleet-figures.ts';
import type { FleetCoordinator, FleetRig, FleetStatus } from '../../fleet/operator/fleet-status.ts';
import { aligned, type Column, formatVerdicts, textTable, UNKNOWN } from '../../rig/status/figures.ts';
import { RIG_STATES } from '../../rig/status/status.ts';
import {
  formatAmount,
  formatCelsius,
  formatDuration,
  formatHashrate,
  formatPercent,
  formatWatts,
  inWords,
} from '../../rig/status/units.ts';

export const RIG_FILTERS = [...RIG_STATES, 'silent', 'faulty', 'duplicate'] as const;
export type RigFilter = (typeof RIG_FILTERS)[number];

/** The keys by which rigs are sorted, always ascending. Figures are negated, so that the largest come first. */
const ORDERS = {
  attention: (rig: FleetRig) => -urgency(rig),
  name: ({ name }: FleetRig) => name,
  group: ({ group }: FleetRig) => group ?? '',
  state: shownState,
  rate: (rig: FleetRig) => -rig.hashesPerSecond,
  proven: (rig: FleetRig) => -(rig.provenHashesPerSecond ?? 0),
  celsius: (rig: FleetRig) => -(hottestCelsius(rig) ?? Number.NEGATIVE_INFINITY),
  watts: (rig: FleetRig) => -(totalWatts(rig) ?? 0),
  faults: (rig: FleetRig) => -faultsOf(rig),
  age: (rig: FleetRig) => -rig.ageSeconds,
  version: ({ version }: FleetRig) => version,
} as const satisfies Record<string, (rig: FleetRig) => string | number>;

export type RigOrder = keyof typeof ORDERS;
export const RIG_ORDERS = Object.keys(ORDERS) as RigOrder[];

/** @returns how urgently a rig needs attention: faulty (4), duplicate (3), silent (2), not mining (1), mining (0) */
function urgency(rig: FleetRig): number {
  if (rig.silent) return 2;
  if (isFaulty(rig)) return 4;
  if (rig.duplicate) return 3;
  return rig.state === 'mining' ? 0 : 1;
}

export function matches(rig: FleetRig, filter: RigFilter): boolean {
  if (filter === 'faulty') return !rig.silent && isFaulty(rig);
  if (filter === 'duplicate') return rig.duplicate;
  return shownState(rig) === filter;
}

export function inOrder(rigs: readonly FleetRig[], order: RigOrder): FleetRig[] {
  const key = ORDERS[order];
  const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
  return [...rigs].sort((a, b) => compare(key(a), key(b)) || compare(a.name, b.name));
}

export interface FleetView {
  /** The rigs to show, in the order of the rows. */
  readonly rigs: readonly FleetRig[];
  /**
   * Maximum number of rows of the whole text; undefined without a limit. The table of rigs gets at least two rows, even
   * beyond this limit.
   */
  readonly rows?: number | undefined;
  /** Makes a member's text safe to print. For a table of fixed width, it also makes each character one column wide. */
  readonly clean: (text: string) => string;
}

export function fleetLines(status: FleetStatus, { rigs, rows, clean }: FleetView): string[] {
  const above = [...sums(status, clean), ...coordinatorTable(status.coordinators, clean), ''];
  const table = textTable(
    'rig',
    columns(clean),
    rigs.map((rig) => [clean(rig.name), rig]),
  );
  const room = rows === undefined ? table.length : Math.max(2, rows - above.length);
  const shown = table.length <= room ? table : table.slice(0, room - 1);
  const more = rigs.length - (shown.length - 1);
  return [...above, ...(rigs.length === 0 ? ['no rig'] : shown), ...(more > 0 ? [`… and ${more} more`] : [])];
}

function sums(status: FleetStatus, clean: (text: string) => string): string[] {
  const { rigsMining, rigsPaused, rigsSilent, rigsFaulty, disconnected, ignored } = status;
  const { found, accepted, rejected, stale, unknown, pending } = status;
  const duplicates = status.rigs.filter(({ duplicate }) => duplicate).length;
  const messages = Object.values(ignored).reduce((sum, count) => sum + count, 0);
  return aligned([
    ...(disconnected === null ? [] : [['connection', clean(disconnected)]]),
    [
      'rigs',
      `${rigsMining} mining, ${rigsPaused} paused, ${rigsSilent} silent, ${rigsFaulty} faulty` +
        (duplicates > 0 ? `, ${duplicates} with the name of another` : ''),
    ],
    [
      'hashrate',
      `${formatHashrate(status.hashesPerSecond)} counted, ${formatHashrate(status.provenHashesPerSecond)} proven`,
    ],
    [
      'solutions',
      `${found} found = ${accepted} accepted + ${rejected} rejected + ${stale} stale + ${unknown} unknown + ${pending} pending`,
    ],
    ['repeated', repeats(status)],
    ...(messages > 0 ? [['ignored', `${plural(messages, 'message')} that could not be read or came too fast`]] : []),
  ]);
}

function repeats({ repeats }: FleetStatus): string {
  if (!repeats) return 'not known until rigs mine the work of a coordinator';
  const { ratio, rigs, meanHashesPerSecond, jobSeconds, nonces } = repeats;
  const share = ratio < 1e-6 ? 'less than 0.0001 %' : formatPercent(Number(ratio.toPrecision(2)), 4);
  const formula = `${rigs} × ${formatHashrate(meanHashesPerSecond)} × ${formatDuration(jobSeconds)} ÷ ${formatAmount(nonces)}`;
  return `${share} of the work at most = ${formula} nonces`;
}

function coordinatorTable(coordinators: readonly FleetCoordinator[], clean: (text: string) => string): string[] {
  if (coordinators.length === 0) return ['', 'no coordinator has been found'];
  const columns: Column<FleetCoordinator>[] = [
    { heading: 'state', isText: true, cell: coordinatorState },
    { heading: 'chain', cell: ({ chain }) => known(chain, String) },
    { heading: 'height', cell: ({ height }) => known(height, String) },
    { heading: 'work since', cell: ({ workAgeSeconds }) => known(workAgeSeconds, formatDuration) },
    { heading: 'rigs', cell: ({ rigs }) => String(rigs) },
    { heading: 'hashrate', cell: ({ hashesPerSecond }) => formatHashrate(hashesPerSecond) },
    { heading: 'version', isText: true, cell: ({ version }) => clean(version) },
    { heading: 'reason', isText: true, cell: ({ lost }) => (lost === null ? '' : clean(lost)) },
  ];
  const table = textTable(
    'coordinator',
    columns,
    coordinators.map((each) => [clean(each.name), each]),
  );
  return ['', ...table];
}

function coordinatorState({ silent, lost, duplicate }: FleetCoordinator): string {
  if (silent) return 'silent';
  if (lost !== null) return 'no source';
  return duplicate ? 'duplicate' : 'gives work';
}

function columns(clean: (text: string) => string): Column<FleetRig>[] {
  return [
    { heading: 'group', isText: true, cell: ({ group }) => known(group, clean) },
    { heading: 'state', isText: true, cell: (rig) => inWords(shownState(rig)) },
    { heading: 'hashrate', cell: ({ hashesPerSecond }) => formatHashrate(hashesPerSecond) },
    { heading: 'proven', cell: ({ provenHashesPerSecond: proven }) => known(proven, formatHashrate) },
    { heading: 'hottest', cell: (rig) => known(hottestCelsius(rig), formatCelsius) },
    { heading: 'power', cell: (rig) => known(totalWatts(rig), formatWatts) },
    { heading: 'acc/rej/stale', cell: formatVerdicts },
    { heading: 'faults', cell: (rig) => String(faultsOf(rig)) },
    { heading: 'seen', cell: ({ ageSeconds }) => `${formatDuration(ageSeconds)} ago` },
    { heading: 'version', isText: true, cell: ({ version }) => clean(version) },
    { heading: 'reason', isText: true, cell: (rig) => clean(reasonOf(rig)) },
  ];
}

/**
 * @returns the reason of the rig's state or, if there is none, the reasons of its failed devices. If two rigs have this
 *   name, a note about that comes first. The text may be empty
 */
function reasonOf({ duplicate, stateReason, devices }: FleetRig): string {
  const troubled = devices.filter(({ state }) => state === 'parked' || state === 'reopening');
  return [
    ...(duplicate ? ['two rigs have this name'] : []),
    ...(stateReason === null ? [] : [stateReason]),
    ...(stateReason === null ? troubled.map(({ name, state, reason }) => `${name} is ${state}: ${reason ?? ''}`) : []),
  ].join('; ');
}

function known<Value>(value: Value | null, format: (value: Value) => string): string {
  return value === null ? UNKNOWN : format(value);
}
