/**
 * `/metrics` for Prometheus. All figures about mining, except for the histogram, are computed from the status at the
 * time of the request. So they agree with `/api/v1/status`. Names, units and kinds follow the conventions of
 * Prometheus.
 */

import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Events } from '../../miner/events/events.ts';
import { DEVICE_STATES, OUTCOMES, SHARE_OUTCOMES } from '../../miner/events/vocabulary.ts';
import type { OutcomeCounts, Status } from '../status/status.ts';
import type { RefusalCounts } from './http-access.ts';
import { fillers, type Labels, METRIC_PREFIX, type MetricRow, refusedRow, type Sample } from './metric-rows.ts';
import type { Route } from './route.ts';

/**
 * Upper limits of the histogram's buckets. A device has switched when it searches the new work. CPU kernels, which stop
 * at once, switch fastest. A GPU in a long dispatch switches slowest.
 */
const JOB_SWITCH_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
/** Resolution with which the event loop's delay is measured. A finer one would wake the process more often. */
const EVENT_LOOP_PRECISION_MS = 100;

export class Metrics {
  readonly #registry = new Registry();
  readonly #status: () => Status;
  readonly #fill: (status: Status) => void;
  readonly #leave: () => void;

  /** @param refused the counts of the server's refusals, which the server keeps up to date */
  constructor(status: () => Status, events: Events, refused: RefusalCounts) {
    this.#status = status;
    const registers = [this.#registry];
    this.#fill = fillers([...METRICS, refusedRow(refused)], this.#registry);
    const jobSwitches = new Histogram({
      name: `${METRIC_PREFIX}job_switch_seconds`,
      help: 'From the arrival of a New Cut to searching the new work',
      labelNames: ['device'],
      buckets: JOB_SWITCH_BUCKETS_SECONDS,
      registers,
    });
    const known = new Set<string>();
    this.#leave = events.on((event) => {
      if (event.type !== 'job-switch' && event.type !== 'device') return;
      const { device } = event;
      // A series begins at 0, so that its first increase is visible. Setting it to 0 again would discard its counts.
      if (!known.has(device)) jobSwitches.zero({ device });
      known.add(device);
      if (event.type === 'job-switch') jobSwitches.observe({ device }, event.switchSeconds);
    });
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
  }

  get route(): Route {
    const { contentType } = this.#registry;
    return {
      method: 'GET',
      path: '/metrics',
      summary: 'for Prometheus',
      answers: { 200: 'text/plain' },
      answer: (_, reply) => {
        this.#fill(this.#status());
        reply.type(contentType);
        return this.#registry.metrics();
      },
    };
  }

  close(): void {
    this.#leave();
    this.#registry.clear();
  }
}

/* The metrics, one row each */

type Values = number | null | Readonly<Record<string, number | null>>;

function rig(name: string, help: string, value: (status: Status) => number | null): MetricRow<Status> {
  return { name, help, labels: [], samples: (status) => [[{}, value(status)]] };
}

/**
 * @returns a function that makes a row. Without `other`, the row has one sample for each item. With `other`, each item
 *   has several named values, and the row has one sample for each value. `other` is then the name of a further label,
 *   which contains the name of the value
 */
function perItem<Item>(labels: readonly string[], itemsOf: (status: Status) => readonly (readonly [Labels, Item])[]) {
  return (name: string, help: string, values: (item: Item) => Values, other?: string): MetricRow<Status> => ({
    name,
    help,
    labels: other === undefined ? labels : [...labels, other],
    samples: (status) =>
      itemsOf(status).flatMap(([names, item]): Sample[] => {
        const value = values(item);
        if (other === undefined || typeof value !== 'object' || value === null)
          return [[names, value as number | null]];
        return Object.entries(value).map(([key, one]) => [{ ...names, [other]: key }, one]);
      }),
  });
}

function perNamed<Item>(label: string, itemsOf: (status: Status) => Readonly<Record<string, Item>>) {
  return perItem([label], (status) => Object.entries(itemsOf(status)).map(([name, item]) => [{ [label]: name }, item]));
}

const perDevice = perNamed('device', ({ devices }) => devices);
const perSource = perNamed('source', ({ sources }) => sources);
/** Makes rows about nodes only, such as rows about update streams, which other kinds of sources do not have. */
const perNode = perNamed('node', ({ sources }) =>
  Object.fromEntries(Object.entries(sources).filter(([, { kind }]) => kind === 'node')),
);
const perRelay = perNamed('relay', ({ relays }) => relays);
/** A relay reports at most 64 workers by name, and the sum of all others under one more name. */
const perWorker = perItem(['relay', 'worker'], ({ relays }) =>
  Object.entries(relays).flatMap(([relay, { workers }]) =>
    workers.map((worker) => [{ relay, worker: worker.name }, worker] as const),
  ),
);

function verdicts(counts: OutcomeCounts): Values {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, counts[outcome]]));
}

const METRICS: readonly MetricRow<Status>[] = [
  {
    name: 'build_info',
    help: 'Versions, as labels',
    labels: ['version', 'node_version'],
    samples: ({ version }) => [[{ version, node_version: process.version }, 1]],
  },
  {
    name: 'rig_info',
    help: 'The name of the rig, as a label',
    labels: ['rig'],
    samples: ({ rig }) => [[{ rig }, 1]],
  },
  {
    name: 'device_info',
    help: 'Facts about the device, as labels; empty where they are not known',
    labels: ['device', 'kind', 'model', 'kernel', 'bus'],
    samples: ({ devices }) =>
      Object.entries(devices).map(([device, { kind, model, kernel, bus }]) => {
        return [{ device, kind, model: model ?? '', kernel: kernel ?? '', bus: bus ?? '' }, 1];
      }),
  },
  perDevice('hashes_total', 'Nonces searched', ({ hashes }) => hashes),
  perDevice('hashrate_hashes_per_second', 'Hashrate over half a minute', ({ hashesPerSecond }) => hashesPerSecond),
  perDevice('proven_hashes_total', 'Hashes that verified candidates prove', ({ proven }) => proven?.hashes ?? 0),
  perDevice('proofs_total', 'Verified candidates', ({ proven }) => proven?.proofs ?? 0),
  perDevice('verdicts_total', 'What became of blocks that the device found', verdicts, 'verdict'),
  perDevice(
    'share_verdicts_total',
    'What a pool said to shares of the device; a share that is a block counts as a block, too',
    ({ shares }) => verdicts(shares),
    'verdict',
  ),
  perDevice(
    'accepted_share_hashes_total',
    'Hashes that accepted shares of the device stand for',
    ({ shares }) => shares.acceptedHashes,
  ),
  perDevice(
    'proven_hashrate_hashes_per_second',
    'Hashes per second that verified candidates prove, over a quarter of an hour',
    ({ provenHashesPerSecond }) => provenHashesPerSecond,
  ),
  perDevice('hardware_errors_total', 'Reported candidates that are wrong', ({ hardwareErrors }) => hardwareErrors),
  perDevice(
    'device_reopens_total',
    'Times that the device failed and had to be opened again',
    ({ reopens }) => reopens,
  ),
  perDevice('device_up', 'Whether the device mines', ({ state }) => Number(state === 'ready')),
  perDevice(
    'device_state',
    '1 for the state that the device is in',
    ({ state }) => Object.fromEntries(DEVICE_STATES.map((each) => [each, Number(each === state)])),
    'state',
  ),
  perDevice(
    'temperature_celsius',
    'Temperature',
    ({ sensors: { temperatureCelsius: core, hotspotCelsius: hotspot, memoryCelsius: memory } }) => ({
      core,
      hotspot,
      memory,
    }),
    'sensor',
  ),
  perDevice('power_watts', 'Electric power', ({ sensors }) => sensors.powerWatts),
  perDevice('fan_ratio', 'Fan speed ÷ full speed', ({ sensors }) => sensors.fanRatio),
  perDevice('fan_rpm', 'Fan revolutions per minute', ({ sensors }) => sensors.fanRpm),
  perDevice(
    'clock_hertz',
    'Clock rate',
    ({ sensors: { coreHertz: core, memoryHertz: memory } }) => ({ core, memory }),
    'clock',
  ),
  {
    name: 'accepted_blocks',
    help: 'Accepted blocks of this run by what has become of them',
    labels: ['fate'],
    samples: ({ acceptedBlocks }) =>
      (['won', 'orphaned', 'pending'] as const).map((fate) => [{ fate }, acceptedBlocks?.[fate] ?? null]),
  },
  rig(
    'settled_blocks',
    'Those of the won blocks that can be relied on',
    ({ acceptedBlocks }) => acceptedBlocks?.settled ?? null,
  ),
  rig(
    'unanswered_blocks',
    'Blocks of this run whose answer was lost, while no chain has shown what became of them',
    ({ acceptedBlocks }) => acceptedBlocks?.unanswered ?? null,
  ),
  rig(
    'lost_blocks',
    'Blocks of this run whose answer was lost and that no node has',
    ({ acceptedBlocks }) => acceptedBlocks?.lost ?? null,
  ),
  rig(
    'paid_elsewhere_blocks',
    'Blocks of this run that pay another account than the miner’s',
    ({ acceptedBlocks }) => acceptedBlocks?.paidElsewhere ?? null,
  ),
  rig('new_cuts_total', 'New Cuts on the chain that was mined', ({ newCuts }) => newCuts),
  rig('work_difficulty_hashes', 'Hashes that a block takes on average', ({ work }) => work?.difficulty ?? null),
  rig(
    'share_difficulty_hashes',
    'Hashes that a share of the pool takes on average',
    ({ work }) => work?.shareDifficulty ?? null,
  ),
  {
    name: 'work_height',
    help: 'Height of the last work of a chain',
    labels: ['chain'],
    samples: ({ chains }) => chains.map(({ chain, height }) => [{ chain }, height]),
  },
  rig('expected_blocks_total', 'Blocks that the hashes give on average', ({ expectedBlocks }) => expectedBlocks),
  rig('effort_ratio', 'Work since the last accepted block ÷ what a block takes on average', ({ effort }) => effort),
  rig('best_difficulty_hashes', 'Difficulty of the best hash', ({ bestDifficulty }) => bestDifficulty),
  perRelay('relay_verdicts_total', 'What became of blocks that the relay brought', verdicts, 'verdict'),
  perRelay(
    'relay_share_verdicts_total',
    'What a pool said to shares that the relay brought',
    ({ shares }) => verdicts(shares),
    'verdict',
  ),
  perRelay(
    'relay_accepted_share_hashes_total',
    'Hashes that accepted shares of the relay stand for',
    ({ shares }) => shares.acceptedHashes,
  ),
  perRelay(
    'relay_refused_total',
    'Connections or messages that the relay refused, or connections that it ended',
    ({ refused }) => refused,
    'reason',
  ),
  perRelay('relay_sessions', 'Connections of workers, or rigs of a fleet', ({ sessions }) => sessions),
  perRelay(
    'relay_estimated_hashrate_hashes_per_second',
    'Hashrate of all its workers, estimated from shares or claimed by the rigs of a fleet; no part of the rig’s own',
    ({ hashesPerSecond }) => hashesPerSecond,
  ),
  perWorker('worker_sessions', 'Connections of the worker', ({ sessions }) => sessions),
  perWorker(
    'worker_estimated_hashrate_hashes_per_second',
    'Hashrate of the worker, estimated from its shares or claimed by a rig of a fleet',
    ({ hashesPerSecond }) => hashesPerSecond,
  ),
  perWorker(
    'worker_share_difficulty_hashes',
    'Hashes that a share of the worker takes on average now',
    ({ difficulty }) => difficulty,
  ),
  perWorker(
    'worker_shares_total',
    'What the relay said to shares of the worker',
    (worker) => Object.fromEntries(SHARE_OUTCOMES.map((outcome) => [outcome, worker[outcome]])),
    'verdict',
  ),
  perWorker('worker_blocks_total', 'Shares of the worker that were blocks', ({ blocks }) => blocks),
  perWorker(
    'worker_last_share_seconds',
    'Age of the last accepted share of the worker',
    ({ lastShareSeconds }) => lastShareSeconds,
  ),
  {
    name: 'source_up',
    help: 'Whether the node, pool or parent is connected',
    labels: ['source', 'kind'],
    samples: ({ sources }) =>
      Object.entries(sources).map(([source, { kind, state }]) => {
        return [{ source, kind }, Number(state === 'connected' || state === 'unhealthy')];
      }),
  },
  perNode(
    'node_unhealthy',
    'Whether the node gives work, and stands still, lags or follows another branch',
    ({ state }) => Number(state === 'unhealthy'),
  ),
  perSource('source_losses_total', 'Times that the source went out of reach', ({ losses }) => losses),
  perSource(
    'source_latency_seconds',
    'From asking the source for work to having it, the last time',
    ({ latencySeconds }) => latencySeconds?.last ?? null,
  ),
  perNode(
    'node_missed_cuts_total',
    'Blocks that open update streams of the node did not announce',
    ({ missedCuts }) => missedCuts,
  ),
  {
    name: 'node_polled_chain',
    help: '1 for a chain that is polled every few seconds because its update stream cannot be relied on',
    labels: ['node', 'chain', 'reason'],
    samples: ({ sources }) =>
      Object.entries(sources).flatMap(([node, { polledChains }]) =>
        polledChains.map(({ chain, reason }) => [{ node, chain, reason }, 1] as const),
      ),
  },
];
