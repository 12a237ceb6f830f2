/** The HTTP side of a mining rig: what is known about the rig, what is served of that, and the server. */

import { Refusals } from '../../system/buckets.ts';
import type { RunningMiner } from '../running-miner.ts';
import { httpLimits, REASONS } from './access.ts';
import { apiRoutes, healthRoutes, KeptBalance } from './api.ts';
import { EventStream } from './event-stream.ts';
import { Metrics } from './metrics.ts';
import { openApiRoute, type Route } from './route.ts';
import { HttpServer, type ServerOptions } from './server.ts';
import { RigStats, statusOf } from './status.ts';
import { xmrigRoutes } from './xmrig.ts';

export interface Http {
  /** Where it listens: `http://127.0.0.1:8080` */
  readonly url: string;
  /** Where other machines reach it, when it listens on all addresses: `http://192.168.1.5:8080` */
  readonly reachableUrl?: string | undefined;
  /** Ends it at once, event streams included. */
  close(): Promise<void>;
}

/**
 * @param more further routes: the files of a web page, `open` so that a browser can load what asks for the token
 * @throws Error with a `code` when it cannot listen there
 */
export async function serveHttp(
  miner: RunningMiner,
  options: ServerOptions,
  more: readonly Route[] = [],
): Promise<Http> {
  const { control } = options;
  const limits = { ...httpLimits, ...options.limits };
  const { controls, events, clock, log, askBalance } = miner;
  const stats = new RigStats(miner);
  const status = () => statusOf(stats, control);
  const refusals = new Refusals(REASONS, (line) => log.warn({ tag: 'http' }, line), limits.logMs);
  const metrics = new Metrics(status, events, refusals.counts);
  const stream = new EventStream(events, clock, status, { limits, refusals });
  const balance = new KeptBalance(askBalance, clock, limits);
  const own = [...apiRoutes(stats, controls, stream, control), balance.route, ...healthRoutes(stats), metrics.route];
  const routes = [...own, openApiRoute(own), ...xmrigRoutes(stats, control), ...more];
  const server = new HttpServer(options, routes, { log, clock, limits, refusals });
  const close = async () => {
    stream.close();
    balance.close();
    metrics.close();
    stats.close();
    await server.close();
    refusals.close();
  };
  try {
    return { ...(await server.listen()), close };
  } catch (fault) {
    await close();
    throw fault;
  }
}
