/** The metrics of relays and their workers, one row per metric. Names of workers are bounded by the relay: 64 and the sum of the others. */

import { SHARE_OUTCOMES } from '../../events/vocabulary.ts';
import { OUTCOMES } from '../../source/vocabulary.ts';
import { type MetricRow, perNamed, type Sample } from './metric-row.ts';
import type { Status } from './schemas.ts';

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

export const RELAY_METRICS: readonly MetricRow[] = [
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
