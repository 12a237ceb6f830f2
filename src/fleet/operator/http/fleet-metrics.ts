/**
 * `/metrics` of a fleet. By default, it has only sums, so that thousands of rigs have no more series than ten rigs.
 * Only a limited number of groups and coordinators have series of their own, because members choose these names freely.
 */

import { collectDefaultMetrics, Registry } from 'prom-client';
import { version } from '../../../base/system/version.ts';
import type { RefusalCounts } from '../../../rig/http/http-access.ts';
import { fillers, type MetricRow, refusedRow, type Sample } from '../../../rig/http/metric-rows.ts';
import type { Route } from '../../../rig/http/route.ts';
import { RIG_STATES } from '../../../rig/status/status.ts';
import { FleetMetricsQuery } from '../fleet-answers.ts';
import { faultsOf, hottestCelsius, isFaulty, shownState, totalWatts } from '../fleet-figures.ts';
import type { FleetRig, FleetStatus } from '../fleet-status.ts';

/**
 * Maximum number of groups with series of their own, and maximum number of coordinators with series. Further groups are
 * summed up, and further coordinators are left out.
 */
const MOST_NAMED = 64;
/** Label of the sum of all further groups. */
const OTHERS = '(others)';
/** Label of the rigs without a group. */
const NO_GROUP = '(none)';
/** Resolution, in ms, of the measured delay of the event loop. A finer resolution would wake the process more often. */
const EVENT_LOOP_PRECISION_MS = 100;

export class FleetMetrics {
  readonly #status: () => FleetStatus;
  readonly #sums = new Registry();
  readonly #each = new Registry();
  readonly #fillSums: (status: FleetStatus) => void;
  readonly #fillEach: (status: FleetStatus) => void;

  /** @param refused the HTTP server's counts of refusals, by reason. They change while the server runs */
  constructor(status: () => FleetStatus, refused: RefusalCounts) {
    this.#status = status;
    this.#fillSums = fillers([...SUMS, refusedRow(refused)], this.#sums);
    this.#fillEach = fillers(EACH, this.#each);
    collectDefaultMetrics({ register: this.#sums, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
  }

  get route(): Route {
    return {
      method: 'GET',
      path: '/metrics',
      summary: 'for Prometheus: sums of the fleet, and on request the figures of each rig',
      query: FleetMetricsQuery,
      answers: { 200: 'text/plain' },
      answer: async ({ query }, reply) => {
        const status = this.#status();
        this.#fillSums(status);
        reply.type(this.#sums.contentType);
        const sums = await this.#sums.metrics();
        if (query.rigs !== 'each') return sums;
        this.#fillEach(status);
        const each = await this.#each.metrics();
        // Tens of thousands of samples must not stay in memory until the next request.
        this.#each.resetMetrics();
        return `${sums}${each}`;
      },
    };
  }

  close(): void {
    this.#sums.clear();
    this.#each.clear();
  }
}

type Row = MetricRow<FleetStatus>;

function sum(name: string, help: string, value: (status: FleetStatus) => number | null): Row {
  return { name, help, labels: [], samples: (status) => [[{}, value(status)]] };
}

function perCoordinator(
  name: string,
  help: string,
  value: (coordinator: FleetStatus['coordinators'][number]) => number | null,
): Row {
  return {
    name,
    help,
    labels: ['coordinator'],
    samples: ({ coordinators }) =>
      coordinators.slice(0, MOST_NAMED).map((each) => [{ coordinator: each.name }, value(each)]),
  };
}

function perGroup(name: string, help: string, measure: (rigs: readonly FleetRig[]) => number): Row {
  return {
    name,
    help,
    labels: ['group'],
    samples: ({ rigs }) => Array.from(groupsOf(rigs), ([group, members]) => [{ group }, measure(members)]),
  };
}

function perRig(name: string, help: string, measure: (rig: FleetRig) => number | null): Row {
  return {
    name,
    help,
    labels: ['rig'],
    samples: ({ rigs }) => rigs.map((rig): Sample => [{ rig: rig.name }, measure(rig)]),
  };
}

/**
 * @returns the rigs by the labels of their groups. If there are too many groups, the smallest groups are summed up, so
 *   that many small groups of an attacker cannot displace large groups
 */
function groupsOf(rigs: readonly FleetRig[]): Map<string, FleetRig[]> {
  const all = new Map<string, FleetRig[]>();
  for (const rig of rigs) {
    const group = rig.group ?? NO_GROUP;
    const members = all.get(group);
    if (members) members.push(rig);
    else all.set(group, [rig]);
  }
  if (all.size <= MOST_NAMED) return all;
  const largest = [...all].sort(([a, first], [b, second]) => second.length - first.length || (a < b ? -1 : 1));
  const others = largest.slice(MOST_NAMED).flatMap(([, members]) => members);
  return new Map([...largest.slice(0, MOST_NAMED), [OTHERS, others]]);
}

const total = (rigs: readonly FleetRig[], value: (rig: FleetRig) => number | null): number =>
  rigs.reduce((all, rig) => all + (rig.silent ? 0 : (value(rig) ?? 0)), 0);

const SUMS: readonly Row[] = [
  {
    name: 'build_info',
    help: 'Versions, as labels',
    labels: ['version', 'node_version'],
    samples: () => [[{ version, node_version: process.version }, 1]],
  },
  sum('fleet_connected', 'Whether the NATS server is in reach', ({ disconnected }) => Number(disconnected === null)),
  {
    name: 'fleet_rigs',
    help: 'Rigs by what they do; silent ones have ceased to report',
    labels: ['state'],
    samples: ({ rigs }) =>
      [...RIG_STATES, 'silent'].map((state) => [{ state }, rigs.filter((rig) => shownState(rig) === state).length]),
  },
  sum(
    'fleet_rigs_faulty',
    'Rigs with a device that is not in order, or without work, coordinator or devices',
    ({ rigsFaulty }) => rigsFaulty,
  ),
  sum(
    'fleet_rigs_duplicate',
    'Names under which two rigs report',
    ({ rigs }) => rigs.filter(({ duplicate }) => duplicate).length,
  ),
  sum('fleet_hashrate_hashes_per_second', 'Hashrate of the rigs that report', (status) => status.hashesPerSecond),
  sum(
    'fleet_proven_hashrate_hashes_per_second',
    'Hashes per second that verified candidates prove',
    (status) => status.provenHashesPerSecond,
  ),
  {
    name: 'fleet_solutions',
    help: 'What became of solutions: sums of the rigs’ counts since their starts, which fall when a rig restarts',
    labels: ['verdict'],
    samples: ({ accepted, rejected, stale, unknown, pending }) =>
      Object.entries({ accepted, rejected, stale, unknown, pending }).map(([verdict, value]) => [{ verdict }, value]),
  },
  sum('fleet_repeated_ratio', 'Expected share of repeated work, at most', ({ repeats }) => repeats?.ratio ?? null),
  sum('fleet_faults', 'Wrong hashes and reopened devices: sum of the rigs’ counts since their starts', ({ rigs }) =>
    total(rigs, faultsOf),
  ),
  sum('fleet_power_watts', 'Electric power of the devices with a sensor', ({ rigs }) => total(rigs, totalWatts)),
  sum('fleet_highest_temperature_celsius', 'Temperature of the hottest device', ({ rigs }) => {
    const all = rigs.flatMap((rig) => (rig.silent ? [] : (hottestCelsius(rig) ?? [])));
    return all.length === 0 ? null : all.reduce((highest, each) => Math.max(highest, each));
  }),
  {
    name: 'fleet_ignored_messages_total',
    help: 'Messages of members that were ignored',
    labels: ['reason'],
    samples: ({ ignored }) =>
      Object.entries({
        malformed: ignored.malformed,
        'too-fast': ignored.tooFast,
        'too-many-members': ignored.tooManyMembers,
      }).map(([reason, value]) => [{ reason }, value]),
  },
  perCoordinator('coordinator_up', 'Whether the coordinator and its own source are in reach', ({ silent, lost }) =>
    Number(!silent && lost === null),
  ),
  perCoordinator('coordinator_rigs', 'Rigs that mine the work of the coordinator', ({ rigs }) => rigs),
  perCoordinator('coordinator_work_height', 'Height of the work of the coordinator', ({ height }) => height),
  perCoordinator('coordinator_work_age_seconds', 'Age of its work', ({ workAgeSeconds }) => workAgeSeconds),
  perGroup('fleet_group_rigs', 'Rigs of the group', ({ length }) => length),
  perGroup('fleet_group_rigs_mining', 'Rigs of the group that mine', (rigs) =>
    total(rigs, ({ state }) => Number(state === 'mining')),
  ),
  perGroup('fleet_group_hashrate_hashes_per_second', 'Hashrate of the group', (rigs) =>
    total(rigs, ({ hashesPerSecond }) => hashesPerSecond),
  ),
];

/** Four series for each rig. */
const EACH: readonly Row[] = [
  perRig('fleet_rig_up', 'Whether the rig reports and mines', ({ silent, state }) =>
    Number(!silent && state === 'mining'),
  ),
  perRig('fleet_rig_faulty', 'Whether the rig is one of the faulty ones', (rig) => Number(isFaulty(rig))),
  perRig('fleet_rig_hashrate_hashes_per_second', 'Hashrate of the rig', ({ silent, hashesPerSecond }) =>
    silent ? null : hashesPerSecond,
  ),
  perRig('fleet_rig_report_age_seconds', 'Age of the last report of the rig', ({ ageSeconds }) => ageSeconds),
];
