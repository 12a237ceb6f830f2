/**
 * `/metrics` for Prometheus. All figures but the histogram are taken from the tally when they are asked for, so that
 * they equal what the summary says.
 */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Events } from '../../events/events.ts';
import type { Status } from '../status.ts';
import type { RefusalCounts } from './access.ts';
import { METRICS } from './metric-table.ts';
import type { Route } from './route.ts';

const PREFIX = 'pickaxe_';
/** The range is from a kernel that sees its stop flag at once to a GPU that must end a long dispatch first. */
const JOB_SWITCH_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
/** A finer precision would wake the process more often. */
const EVENT_LOOP_PRECISION_MS = 100;

export class Metrics {
  readonly #registry = new Registry();
  readonly #status: () => Status;
  readonly #refused: RefusalCounts;
  readonly #fill: ((status: Status) => void)[];
  readonly #leave: () => void;

  /** @param refused what the server has refused so far; the counts go on changing */
  constructor(status: () => Status, events: Events, refused: RefusalCounts) {
    this.#status = status;
    this.#refused = refused;
    const registers = [this.#registry];
    this.#fill = METRICS.map(({ kind, name, help, labels, samples }) => {
      const settings = { name: PREFIX + name, help, labelNames: labels, registers };
      const metric = kind === 'counter' ? new Counter(settings) : new Gauge(settings);
      return (now) => {
        metric.reset();
        // A metric without labels is 0 after a reset, but a value that is not known must have no sample.
        if (labels.length === 0) metric.remove();
        for (const [labelled, value] of samples(now, this.#refused)) if (value !== null) metric.inc(labelled, value);
      };
    });
    const jobSwitches = new Histogram({
      name: `${PREFIX}job_switch_seconds`,
      help: 'From hearing of a New Cut to searching the new work',
      labelNames: ['device'],
      buckets: JOB_SWITCH_BUCKETS_SECONDS,
      registers,
    });
    const known = new Set<string>();
    this.#leave = events.on((event) => {
      if (event.type !== 'job-switch' && event.type !== 'device') return;
      const { device } = event;
      // A series that begins at 0 lets its first increase be seen. Zeroing it later would lose counts.
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
        const now = this.#status();
        for (const fill of this.#fill) fill(now);
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
