/** What a row of the table of metrics is, and how rows are made that have a value for each device or relay. */

import { DEVICE_STATES, SHARE_OUTCOMES } from '../../events/vocabulary.ts';
import { OUTCOMES } from '../../source/vocabulary.ts';
import type { Status } from '../status.ts';
import type { RefusalCounts } from './access.ts';

type Labels = Record<string, string | number>;
/** There is no sample for a value that is not known now: null. */
export type Sample = readonly [labels: Labels, value: number | null];

interface MetricRow {
  readonly kind: 'counter' | 'gauge';
  /** Without `pickaxe_`. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  samples(status: Status, refused: RefusalCounts): Sample[];
}

export function rig(
  kind: MetricRow['kind'],
  name: string,
  help: string,
  value: (status: Status) => number | null,
): MetricRow {
  return { kind, name, help, labels: [], samples: (status) => [[{}, value(status)]] };
}

/**
 * @param label that carries the name of the item
 * @returns what makes a row with one value per item; with another label, one for each value of that label
 */
function perNamed<Item>(label: string, itemsOf: (status: Status) => Readonly<Record<string, Item>>) {
  return (
    kind: MetricRow['kind'],
    name: string,
    help: string,
    values: (item: Item) => number | null | Record<string, number | null>,
    other?: string,
  ): MetricRow => ({
    kind,
    name,
    help,
    labels: other === undefined ? [label] : [label, other],
    samples: (status) =>
      Object.entries(itemsOf(status)).flatMap(([item, each]): Sample[] => {
        const value = values(each);
        if (other === undefined || typeof value !== 'object' || value === null)
          return [[{ [label]: item }, value as number | null]];
        return Object.entries(value).map(([key, one]) => [{ [label]: item, [other]: key }, one]);
      }),
  });
}

/*
 * The metrics of relays and their workers, one row per metric. Names of workers are bounded by the relay: 64 and the
 * sum of the others.
 */

type Worker = Status['relays'][string]['workers'][number];

const perRelay = perNamed('relay', ({ relays }) => relays);

/** One value per worker of each relay; with `verdict`, one for each of the relay's verdicts. */
function perWorker(
  kind: MetricRow['kind'],
  name: string,
  help: string,
  values: (worker: Worker) => number | null | Record<string, number>,
  other?: 'verdict',
): MetricRow {
  return {
    kind,
    name,
    help,
    labels: ['relay', 'worker', ...(other === undefined ? [] : [other])],
    samples: ({ relays }) =>
      Object.entries(relays).flatMap(([relay, { workers }]) =>
        workers.flatMap((worker): Sample[] => {
          const labels = { relay, worker: worker.name };
          const value = values(worker);
          if (typeof value !== 'object' || value === null) return [[labels, value]];
          return Object.entries(value).map(([verdict, each]) => [{ ...labels, verdict }, each]);
        }),
      ),
  };
}

const RELAY_METRICS: readonly MetricRow[] = [
  perRelay(
    'counter',
    'relay_verdicts_total',
    'What became of blocks that the relay brought',
    (relay) => Object.fromEntries(OUTCOMES.map((outcome) => [outcome, relay[outcome]])),
    'verdict',
  ),
  perRelay(
    'counter',
    'relay_share_verdicts_total',
    'What a pool said to shares that the relay brought',
    ({ shares }) => Object.fromEntries(OUTCOMES.map((outcome) => [outcome, shares[outcome]])),
    'verdict',
  ),
  perRelay(
    'counter',
    'relay_accepted_share_hashes_total',
    'Hashes that accepted shares of the relay stand for',
    ({ shares }) => shares.acceptedHashes,
  ),
  perRelay(
    'counter',
    'relay_refused_total',
    'Connections that the relay refused or ended',
    ({ refused }) => refused,
    'reason',
  ),
  perRelay('gauge', 'relay_sessions', 'Connections of workers', ({ sessions }) => sessions),
  perRelay(
    'gauge',
    'relay_estimated_hashrate_hashes_per_second',
    'Hashrate of all its workers, estimated from shares; no part of the rig’s own hashrate',
    ({ hashesPerSecond }) => hashesPerSecond,
  ),
  perWorker('gauge', 'worker_sessions', 'Connections of the worker', ({ sessions }) => sessions),
  perWorker(
    'gauge',
    'worker_estimated_hashrate_hashes_per_second',
    'Hashrate of the worker, estimated from its shares',
    ({ hashesPerSecond }) => hashesPerSecond,
  ),
  perWorker(
    'gauge',
    'worker_share_difficulty_hashes',
    'Hashes that a share of the worker takes on average now',
    ({ difficulty }) => difficulty,
  ),
  perWorker(
    'counter',
    'worker_shares_total',
    'What the relay said to shares of the worker',
    (worker) => Object.fromEntries(SHARE_OUTCOMES.map((outcome) => [outcome, worker[outcome]])),
    'verdict',
  ),
  perWorker('counter', 'worker_blocks_total', 'Shares of the worker that were blocks', ({ blocks }) => blocks),
  perWorker(
    'gauge',
    'worker_last_share_seconds',
    'Age of the last accepted share of the worker',
    ({ lastShareSeconds }) => lastShareSeconds,
  ),
];

/* What `/metrics` contains, one row per metric. Names, units and kinds follow Prometheus' conventions. */

const perDevice = perNamed('device', ({ devices }) => devices);
const perSource = perNamed('source', ({ sources }) => sources);
/** Pools and parents have no update streams. */
const perNode = perNamed('node', ({ sources }) =>
  Object.fromEntries(Object.entries(sources).filter(([, { kind }]) => kind === 'node')),
);

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
  {
    kind: 'gauge',
    name: 'device_info',
    help: 'Facts about the device, as labels; empty where they are not known',
    labels: ['device', 'kind', 'model', 'kernel', 'bus'],
    samples: ({ devices }) =>
      Object.entries(devices).map(([device, { kind, model, kernel, bus }]) => {
        return [{ device, kind, model: model ?? '', kernel: kernel ?? '', bus: bus ?? '' }, 1];
      }),
  },
  perDevice('counter', 'hashes_total', 'Nonces searched', ({ hashes }) => hashes),
  perDevice(
    'gauge',
    'hashrate_hashes_per_second',
    'Hashrate over half a minute',
    ({ hashesPerSecond }) => hashesPerSecond,
  ),
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
    'What became of blocks that the device found',
    (device) => Object.fromEntries(OUTCOMES.map((outcome) => [outcome, device[outcome]])),
    'verdict',
  ),
  perDevice(
    'counter',
    'share_verdicts_total',
    'What a pool said to shares of the device; a share that is a block counts as a block, too',
    ({ shares }) => Object.fromEntries(OUTCOMES.map((outcome) => [outcome, shares[outcome]])),
    'verdict',
  ),
  perDevice(
    'counter',
    'accepted_share_hashes_total',
    'Hashes that accepted shares of the device stand for',
    ({ shares }) => shares.acceptedHashes,
  ),
  perDevice(
    'gauge',
    'proven_hashrate_hashes_per_second',
    'Hashes per second that verified candidates prove, over a quarter of an hour',
    ({ provenHashesPerSecond }) => provenHashesPerSecond,
  ),
  perDevice(
    'counter',
    'hardware_errors_total',
    'Reported candidates that are wrong',
    ({ hardwareErrors }) => hardwareErrors,
  ),
  perDevice(
    'counter',
    'device_reopens_total',
    'Times that the device failed and had to be opened again',
    ({ reopens }) => reopens,
  ),
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
    ({ sensors: { temperatureCelsius: core, hotspotCelsius: hotspot, memoryCelsius: memory } }) => ({
      core,
      hotspot,
      memory,
    }),
    'sensor',
  ),
  perDevice('gauge', 'power_watts', 'Electric power', ({ sensors }) => sensors.powerWatts),
  perDevice('gauge', 'fan_ratio', 'Fan speed ÷ full speed', ({ sensors }) => sensors.fanRatio),
  perDevice('gauge', 'fan_rpm', 'Fan revolutions per minute', ({ sensors }) => sensors.fanRpm),
  perDevice(
    'gauge',
    'clock_hertz',
    'Clock rate',
    ({ sensors: { coreHertz: core, memoryHertz: memory } }) => ({ core, memory }),
    'clock',
  ),
  {
    kind: 'gauge',
    name: 'accepted_blocks',
    help: 'Accepted blocks of this run by what has become of them',
    labels: ['fate'],
    samples: ({ acceptedBlocks }) =>
      (['won', 'orphaned', 'pending'] as const).map((fate) => [{ fate }, acceptedBlocks?.[fate] ?? null]),
  },
  rig(
    'gauge',
    'settled_blocks',
    'Those of the won blocks that can be relied on',
    ({ acceptedBlocks }) => acceptedBlocks?.settled ?? null,
  ),
  rig(
    'gauge',
    'unanswered_blocks',
    'Blocks of this run whose answer was lost, while no chain has shown what became of them',
    ({ acceptedBlocks }) => acceptedBlocks?.unanswered ?? null,
  ),
  rig(
    'gauge',
    'lost_blocks',
    'Blocks of this run whose answer was lost and that no node has',
    ({ acceptedBlocks }) => acceptedBlocks?.lost ?? null,
  ),
  rig(
    'gauge',
    'paid_elsewhere_blocks',
    'Blocks of this run that pay another account than the miner’s',
    ({ acceptedBlocks }) => acceptedBlocks?.paidElsewhere ?? null,
  ),
  rig('counter', 'new_cuts_total', 'New Cuts on the chain that was mined', ({ newCuts }) => newCuts),
  rig(
    'gauge',
    'work_difficulty_hashes',
    'Hashes that a block takes on average',
    ({ work }) => work?.difficulty ?? null,
  ),
  rig(
    'gauge',
    'share_difficulty_hashes',
    'Hashes that a share of the pool takes on average',
    ({ work }) => work?.shareDifficulty ?? null,
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
    ({ expectedBlocks }) => expectedBlocks,
  ),
  rig(
    'gauge',
    'effort_ratio',
    'Work since the last accepted block ÷ what a block takes on average',
    ({ effort }) => effort,
  ),
  rig('gauge', 'best_difficulty_hashes', 'Difficulty of the best hash', ({ bestDifficulty }) => bestDifficulty),
  ...RELAY_METRICS,
  {
    kind: 'gauge',
    name: 'source_up',
    help: 'Whether the node, pool or parent is connected',
    labels: ['source', 'kind'],
    samples: ({ sources }) =>
      Object.entries(sources).map(([source, { kind, state }]) => {
        return [{ source, kind }, Number(state === 'connected' || state === 'unhealthy')];
      }),
  },
  perNode(
    'gauge',
    'node_unhealthy',
    'Whether the node gives work, and stands still, lags or follows another branch',
    ({ state }) => Number(state === 'unhealthy'),
  ),
  perSource('counter', 'source_losses_total', 'Times that the source went out of reach', ({ losses }) => losses),
  perSource(
    'gauge',
    'source_latency_seconds',
    'From asking the source for work to having it, the last time',
    ({ latencySeconds }) => latencySeconds?.last ?? null,
  ),
  perNode(
    'counter',
    'node_missed_cuts_total',
    'Blocks that open update streams of the node did not announce',
    ({ missedCuts }) => missedCuts,
  ),
  {
    kind: 'gauge',
    name: 'node_polled_chain',
    help: '1 for a chain that is polled every few seconds because its update stream cannot be relied on',
    labels: ['node', 'chain', 'reason'],
    samples: ({ sources }) =>
      Object.entries(sources).flatMap(([node, { polledChains }]) =>
        polledChains.map(({ chain, reason }) => [{ node, chain, reason }, 1] as const),
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
