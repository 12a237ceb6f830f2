/** The HTTP server of a fleet: its API, metrics and page. */

import type { Logger } from 'pino';
import { type Clock, wallMs } from '../../../base/system/clock.ts';
import { version } from '../../../base/system/version.ts';
import { jsonText } from '../../../base/text/plain-text.ts';
import { plural } from '../../../base/text/quantities.ts';
import { HttpError } from '../../../rig/http/http-access.ts';
import { type Http, type ServerOptions, serve } from '../../../rig/http/http-server.ts';
import { json, openApiRoute, pageRoutes, type Route } from '../../../rig/http/route.ts';
import { type AskRig, askRigs, selectRigs } from '../ask-rigs.ts';
import {
  FleetChanges,
  FleetChangesQuery,
  FleetControlBody,
  FleetHealth,
  FleetReadiness,
  FleetRigQuery,
  TimedControlAnswer,
} from '../fleet-answers.ts';
import { FleetRig, FleetStatus } from '../fleet-status.ts';
import { ChangeLog } from './changes.ts';
import { FleetMetrics } from './fleet-metrics.ts';

/** Maximum length of a control request, in bytes: enough for 20,000 names of 64 ASCII characters. */
const MOST_CONTROL_BYTES = 2_097_152;
const JSON_TYPE = 'application/json; charset=utf-8';

export interface ServedFleet {
  /** Called at most once a second. */
  status(): FleetStatus;
  readonly ask: AskRig;
}

interface FleetHttpContext {
  readonly log: Logger;
  readonly clock: Clock;
  /** 16 hex digits, chosen at random for this run. */
  readonly instance: string;
}

interface Rigs {
  readonly rigs: readonly { readonly ageSeconds: number }[];
}

/**
 * Keeps answers as bytes, so that all clients that get the same status share them. The status of 10,000 rigs has 14 MB.
 * Without sharing, each slow client would need a copy of the status in memory.
 */
class SharedAnswers {
  #status: FleetStatus | undefined;
  readonly #bodies = new Map<string, Buffer>();

  get(status: FleetStatus, name: string, make: () => Rigs): Buffer {
    if (status !== this.#status) this.#bodies.clear();
    this.#status = status;
    let body = this.#bodies.get(name);
    if (!body) {
      body = Buffer.from(textOf(make()));
      this.#bodies.set(name, body);
    }
    return body;
  }
}

/**
 * @returns the JSON of an answer. Of the rigs' figures, only the ages of reports are rounded. The other figures were
 *   rounded by the rigs, and rounding them again would take longer than everything else
 */
function textOf({ rigs, ...others }: Rigs): string {
  const rounded = rigs.map((rig) => ({ ...rig, ageSeconds: Math.round(rig.ageSeconds * 1000) / 1000 }));
  return `${jsonText(others).slice(0, -1)},"rigs":${JSON.stringify(rounded)}}`;
}

/** @param context its `stop` ends pending requests to rigs */
function fleetRoutes(
  changes: ChangeLog,
  ask: AskRig,
  context: Pick<FleetHttpContext, 'log' | 'clock'> & { readonly control: boolean; readonly stop: AbortSignal },
): Route[] {
  const { control } = context;
  const answers = new SharedAnswers();
  return [
    {
      ...json('/api/v1/fleet', 'how the fleet is doing, and each of its rigs', FleetStatus, () => changes.status),
      answer: (_, reply) => {
        const { status } = changes;
        return reply.type(JSON_TYPE).send(answers.get(status, 'status', () => status));
      },
    },
    {
      method: 'GET',
      path: '/api/v1/fleet/changes',
      summary:
        'the same, with the devices of each rig in sums, and only those rigs that have changed since an earlier answer',
      query: FleetChangesQuery,
      answers: { 200: FleetChanges },
      answer: ({ query }, reply) => {
        const { since } = query as FleetChangesQuery;
        const { status } = changes;
        const mark = changes.knows(since) ? since : undefined;
        const make = () => ({ version, control, ...changes.since(mark) }) satisfies FleetChanges;
        return reply.type(JSON_TYPE).send(answers.get(status, `since ${mark}`, make));
      },
    },
    {
      method: 'GET',
      path: '/api/v1/fleet/rig',
      summary: 'one rig, with its devices',
      query: FleetRigQuery,
      answers: { 200: FleetRig },
      answer: ({ query }) => {
        const { name } = query as FleetRigQuery;
        const rig = changes.status.rigs.find((each) => each.name === name);
        if (!rig) throw new HttpError(404, 'no-such-rig', 'there is no such rig');
        return rig;
      },
    },
    controlRoute(changes, ask, context),
    {
      method: 'GET',
      path: '/healthz',
      summary: 'whether the process lives',
      open: true,
      answers: { 200: FleetHealth },
      answer: () => ({ status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      summary: 'whether the NATS server is in reach',
      open: true,
      answers: { 200: FleetReadiness, 503: FleetReadiness },
      answer: (_, reply) => {
        const ready = changes.status.disconnected === null;
        return reply.code(ready ? 200 : 503).send({ ready, reasons: ready ? [] : ['disconnected'] });
      },
    },
  ];
}

/** The route runs only one control request at a time, so that HTTP clients cannot make this process flood the fleet. */
function controlRoute(
  changes: ChangeLog,
  ask: AskRig,
  { log, clock, stop }: Pick<FleetHttpContext, 'log' | 'clock'> & { readonly stop: AbortSignal },
): Route {
  let busy = false;
  return {
    method: 'POST',
    path: '/api/v1/fleet/control',
    summary: 'pause, resume or restart rigs, or lower their temperature limits; within 10 s each rig’s answer',
    controls: true,
    body: FleetControlBody,
    mostBodyBytes: MOST_CONTROL_BYTES,
    answers: { 200: TimedControlAnswer },
    answer: async ({ body }) => {
      const { request, rigs } = body as FleetControlBody;
      const targets = selectRigs(changes.status.rigs, rigs);
      if (targets.length === 0) throw new HttpError(404, 'no-such-rig', 'there is no such rig');
      if (busy) throw new HttpError(503, 'unavailable', 'another request to rigs is running: try again in 10 s');
      busy = true;
      const askedMillis = wallMs(clock);
      try {
        const answer = await askRigs(targets, request, ask, stop);
        const { done, failed } = answer;
        const line = `${request.command}: asked of ${plural(targets.length, 'rig')} by an HTTP request`;
        log.info({ tag: 'fleet' }, `${line}; ${done} did it, ${failed} did not`);
        return { askedMillis, ...answer };
      } finally {
        busy = false;
      }
    },
  };
}

/** @throws Error with a `code` if the server cannot listen at the address in the options */
export function serveFleet(
  { status, ask }: ServedFleet,
  options: ServerOptions,
  { log, clock, instance }: FleetHttpContext,
): Promise<Http> {
  return serve(options, { log, clock }, ({ refusals }) => {
    const changes = new ChangeLog(status, clock, instance);
    const metrics = new FleetMetrics(() => changes.status, refusals.counts);
    const closing = new AbortController();
    const context = { control: options.control, log, clock, stop: closing.signal };
    const own = [...fleetRoutes(changes, ask, context), metrics.route];
    const close = () => {
      closing.abort();
      metrics.close();
    };
    return {
      routes: [...own, openApiRoute(own), ...pageRoutes('fleet/page', ['fleet/operator/fleet-figures.js'])],
      close,
    };
  });
}
