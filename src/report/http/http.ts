/** The HTTP side of a mining rig: its books, what is served of them, and the server. */

import type { Logger } from 'pino';
import { apiRoutes } from './api.ts';
import { Books, type Miner } from './books.ts';
import { EventStream } from './event-stream.ts';
import { healthRoutes } from './health.ts';
import { httpLimits } from './limits.ts';
import { Metrics } from './metrics.ts';
import { openApiRoute } from './openapi.ts';
import { Refusals } from './refusals.ts';
import type { Route } from './route.ts';
import { Server, type ServerOptions } from './server.ts';
import { statusOf } from './status.ts';
import { xmrigRoutes } from './xmrig.ts';

export interface Http {
  /** Where it listens: `http://127.0.0.1:8080` */
  readonly url: string;
  /** Ends it at once, event streams included. */
  close(): Promise<void>;
}

/**
 * @param more what else is served: the files of a web page, `open` so that a browser can load what asks for the token
 * @throws Error with a `code` when it cannot listen there
 */
export async function serveHttp(
  miner: Miner,
  options: ServerOptions,
  log: Logger,
  more: readonly Route[] = [],
): Promise<Http> {
  const { control } = options;
  const limits = { ...httpLimits, ...options.limits };
  const { controls, events, clock } = miner;
  const books = new Books(miner);
  const status = () => statusOf(books, control);
  const refusals = new Refusals(log, limits.logMs);
  const metrics = new Metrics(status, events, refusals.counts);
  const stream = new EventStream(events, clock, status, { limits, refusals });
  const own = [...apiRoutes(books, controls, stream, control), ...healthRoutes(books), metrics.route];
  const routes = [...own, openApiRoute(own), ...xmrigRoutes(books, control), ...more];
  const server = new Server(options, routes, { log, clock, limits, refusals });
  const close = async () => {
    stream.close();
    metrics.close();
    books.close();
    await server.close();
    refusals.close();
  };
  try {
    return { url: await server.listen(), close };
  } catch (fault) {
    await close();
    throw fault;
  }
}
