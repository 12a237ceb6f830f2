/** What `/metrics` tells, one row per metric. Names, units and kinds follow Prometheus' conventions. */

import { DEVICE_STATES } from '../../events/device-states.ts';
import { OUTCOMES } from '../../source/vocabulary.ts';
import type { RefusalCounts } from './refusals.ts';
import type { Status } from './schemas.ts';

type Labels = Record<string, string | number>;
/** There is no sample for a value that is not known now: null. */
type Sample = readonly [labels: Labels, value: number | null];

interface MetricRow {
  readonly kind: 'counter' | 'gauge';
  /** Without `pickaxe_`. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  samples(status: Status, refused: RefusalCounts): Sample[];
}

type Device = Status['devices'][string];

const rig = (
  kind: MetricRow['kind'],
  name: string,
  help: string,
  value: (status: Status) => number | null,
): MetricRow => ({
  kind,
  name,
  help,
  labels: [],
  samples: (status) => [[{}, value(status)]],
});

/** One value per device; with another label, one for each value of that label. */
function perDevice(
  kind: MetricRow['kind'],
  name: string,
  help: string,
  values: (device: Device) => number | null | Record<string, number | null>,
  label?: string,
): MetricRow {
  return {
    kind,
    name,
    help,
    labels: label === undefined ? ['device'] : ['device', label],
    samples: ({ devices }) =>
      Object.entries(devices).flatMap(([device, status]): Sample[] => {
        const value = values(status);
        if (label === undefined || typeof value !== 'object' || value === null)
          return [[{ device }, value as number | null]];
        return Object.entries(value).map(([key, each]) => [{ device, [label]: key }, each]);
      }),
  };
}

export const METRICS: readonly MetricRow[] = [
  {
    kind: 'gauge',
    name: 'build_info',
    help: 'Versions, as labels',
    labels: ['version', 'node_version'],
    samples: ({ version }) => [[{ version, node_version: process.version }, 1]],
  },
  {
    kind: 'gauge',
    name: 'rig_info',
    help: 'The name of the rig, as a label',
    labels: ['rig'],
    samples: ({ rig }) => [[{ rig }, 1]],
  },
  perDevice('counter', 'hashes_total', 'Nonces searched', ({ hashes }) => hashes),
  perDevice('gauge', 'hashrate_hashes_per_second', 'Hashrate over half a minute', ({ hashrate }) => hashrate),
  perDevice(
    'counter',
    'proven_hashes_total',
    'Hashes that verified candidates prove',
    ({ proven }) => proven?.hashes ?? 0,
  ),
  perDevice('counter', 'proofs_total', 'Verified candidates', ({ proven }) => proven?.proofs ?? 0),
  perDevice(
    'counter',
    'verdicts_total',
    'What became of solutions',
    (device) => Object.fromEntries(OUTCOMES.map((verdict) => [verdict, device[verdict]])),
    'verdict',
  ),
  perDevice('counter', 'hardware_errors_total', 'Claims that proved wrong', ({ hardware_errors }) => hardware_errors),
  perDevice('counter', 'device_restarts_total', 'Device failures', ({ restarts }) => restarts),
  perDevice('gauge', 'device_up', 'Whether the device mines', ({ state }) => Number(state === 'ready')),
  perDevice(
    'gauge',
    'device_state',
    '1 for the state that the device is in',
    ({ state }) => Object.fromEntries(DEVICE_STATES.map((each) => [each, Number(each === state)])),
    'state',
  ),
  perDevice(
    'gauge',
    'temperature_celsius',
    'Temperature',
    ({ sensors: { temperature_celsius: core, hotspot_celsius: hotspot, memory_celsius: memory } }) => ({
      core,
      hotspot,
      memory,
    }),
    'sensor',
  ),
  perDevice('gauge', 'power_watts', 'Electric power', ({ sensors }) => sensors.power_watts),
  perDevice('gauge', 'fan_ratio', 'Fan speed ÷ full speed', ({ sensors }) => sensors.fan_ratio),
  perDevice('gauge', 'fan_rpm', 'Fan revolutions per minute', ({ sensors }) => sensors.fan_rpm),
  perDevice(
    'gauge',
    'clock_hertz',
    'Clock rate',
    ({ sensors: { core_hertz: core, memory_hertz: memory } }) => ({ core, memory }),
    'clock',
  ),
  rig('counter', 'new_cuts_total', 'New Cuts on the chain that was mined', ({ new_cuts }) => new_cuts),
  rig(
    'gauge',
    'work_difficulty_hashes',
    'Hashes that a block takes on average',
    ({ work }) => work?.difficulty ?? null,
  ),
  {
    kind: 'gauge',
    name: 'work_height',
    help: 'Height of the last work of a chain',
    labels: ['chain'],
    samples: ({ chains }) => chains.map(({ chain, height }) => [{ chain }, height]),
  },
  rig(
    'counter',
    'expected_blocks_total',
    'Blocks that the hashes give on average',
    ({ expected_blocks }) => expected_blocks,
  ),
  rig(
    'gauge',
    'effort_ratio',
    'Work since the last accepted block ÷ what a block takes on average',
    ({ effort }) => effort,
  ),
  rig('gauge', 'best_difficulty_hashes', 'Difficulty of the best hash', ({ best_difficulty }) => best_difficulty),
  {
    kind: 'gauge',
    name: 'node_up',
    help: 'Whether the node is connected',
    labels: ['node'],
    samples: ({ sources }) =>
      Object.entries(sources).map(([node, { state }]) => [{ node }, Number(state === 'connected')]),
  },
  {
    kind: 'counter',
    name: 'node_losses_total',
    help: 'Times that the node went out of reach',
    labels: ['node'],
    samples: ({ sources }) => Object.entries(sources).map(([node, { losses }]) => [{ node }, losses]),
  },
  {
    kind: 'counter',
    name: 'node_missed_cuts_total',
    help: 'Blocks that open update streams of the node did not tell',
    labels: ['node'],
    samples: ({ sources }) => Object.entries(sources).map(([node, { missed_cuts }]) => [{ node }, missed_cuts]),
  },
  {
    kind: 'gauge',
    name: 'node_polled_chain',
    help: '1 for a chain that is polled every few seconds because its update stream cannot be relied on',
    labels: ['node', 'chain', 'reason'],
    samples: ({ sources }) =>
      Object.entries(sources).flatMap(([node, { polled_chains }]) =>
        polled_chains.map(({ chain, reason }) => [{ node, chain, reason }, 1] as const),
      ),
  },
  {
    kind: 'counter',
    name: 'http_refused_total',
    help: 'Requests and connections that were refused',
    labels: ['reason'],
    samples: (_, refused) => Object.entries(refused).map(([reason, count]) => [{ reason }, count]),
  },
];
