/** Metrics as rows of a table. At each request, every row computes its samples from the present status. */

import { Counter, Gauge, type Registry } from 'prom-client';
import type { RefusalCounts } from './http-access.ts';

export const METRIC_PREFIX = 'pickaxe_';

export type Labels = Record<string, string | number>;
/** A value with its labels. If the value is null, it is not known, and the metric has no such sample. */
export type Sample = readonly [labels: Labels, value: number | null];

export interface MetricRow<Now> {
  /** Name without the prefix `pickaxe_`. A metric whose name ends with `_total` is a counter, any other is a gauge. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  samples(now: Now): readonly Sample[];
}

/**
 * Registers a metric for each row.
 * @returns a function that sets all values; call it before each use of the registry
 */
export function fillers<Now>(rows: readonly MetricRow<Now>[], registry: Registry): (now: Now) => void {
  const all = rows.map(({ name, help, labels, samples }) => {
    const settings = { name: METRIC_PREFIX + name, help, labelNames: labels, registers: [registry] };
    const metric = name.endsWith('_total') ? new Counter(settings) : new Gauge(settings);
    return (now: Now) => {
      metric.reset();
      // A reset sets a metric without labels to 0, but a value that is not known must have no sample.
      if (labels.length === 0) metric.remove();
      for (const [labelled, value] of samples(now)) if (value !== null) metric.inc(labelled, value);
    };
  });
  return (now) => {
    for (const fill of all) fill(now);
  };
}

/** @param refused the counts of the server's refusals, which the server keeps up to date */
export function refusedRow(refused: RefusalCounts): MetricRow<unknown> {
  return {
    name: 'http_refused_total',
    help: 'Requests and connections that were refused',
    labels: ['reason'],
    samples: () => Object.entries(refused).map(([reason, count]) => [{ reason }, count]),
  };
}
