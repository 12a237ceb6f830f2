/** The HTTP server: it serves routes, checks whether requests are allowed, limits them, and gives errors one shape. */

import { createServer, type Server as HttpListener, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { Refusals } from '../../base/system/bounded.ts';
import { type Clock, systemClock } from '../../base/system/clock.ts';
import { formatHttpAddress } from '../../base/text/addresses.ts';
import { jsonText } from '../../base/text/plain-text.ts';
import { Connections } from './connections.ts';
import {
  admits,
  asHttpError,
  bearerCheck,
  clientErrorAnswer,
  codeOfClientError,
  HEADERS,
  HttpError,
  type HttpLimits,
  type HttpRefusals,
  httpLimits,
  isForeign,
  isReason,
  REASONS,
} from './http-access.ts';
import { EVENT_STREAM, type Route } from './route.ts';

/** Usual maximum length of a body in bytes. The largest valid body of most routes contains one device's name. */
const MOST_BODY_BYTES = 1_024;
/** Maximum length of a request's headers in bytes, enough for a token and the headers of browsers. */
const MOST_HEADER_BYTES = 8_192;

export interface ServerOptions {
  readonly host: string;
  /** Port on which the server listens. 0 means any free port. */
  readonly port: number;
  /** Token that requests must contain, except for routes with `open`. If it is absent, no token is required. */
  readonly token?: string;
  /** Whether routes that control mining are allowed. */
  readonly control: boolean;
  /** Limits that replace those in `httpLimits`. */
  readonly limits?: Partial<HttpLimits>;
}

interface ServerContext {
  readonly log: Logger;
  readonly clock: Clock;
  readonly limits: HttpLimits;
  readonly refusals: HttpRefusals;
}

export interface Http {
  /** URL with the address on which the server listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** URL for other machines, such as `http://192.168.1.5:8080`. Present only if the server listens on all addresses. */
  readonly reachableUrl?: string | undefined;
  /** Closes all connections without waiting for pending answers. Also closes event streams. */
  close(): Promise<void>;
}

/** The routes of a server, and a function that ends what the routes use. */
interface Served {
  readonly routes: readonly Route[];
  /** Called when the server is closed, before its connections are closed. */
  close(): void;
}

/**
 * Starts a server.
 * @param make makes the routes of the server
 * @throws Error with a `code`, such as EADDRINUSE, when the server cannot listen on the host and port
 */
export async function serve(
  options: ServerOptions,
  { log, clock }: Pick<ServerContext, 'log' | 'clock'>,
  make: (parts: Pick<ServerContext, 'limits' | 'refusals'>) => Served,
): Promise<Http> {
  const limits = { ...httpLimits, ...options.limits };
  const refusals = new Refusals(systemClock, REASONS, (line) => log.warn({ tag: 'http' }, line), limits.logMs);
  const served = make({ limits, refusals });
  const server = new HttpServer(options, served.routes, { log, clock, limits, refusals });
  const close = async () => {
    served.close();
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

class HttpServer {
  readonly #app: FastifyInstance;
  readonly #options: ServerOptions;
  readonly #log: Logger;
  readonly #refusals: HttpRefusals;
  readonly #connections: Connections;
  readonly #authorised: (header: string | undefined) => boolean;
  readonly #routes = new Map<string, Route[]>();

  constructor(options: ServerOptions, routes: readonly Route[], { log, clock, limits, refusals }: ServerContext) {
    this.#options = options;
    this.#log = log;
    this.#refusals = refusals;
    this.#connections = new Connections(clock, limits, refusals);
    this.#authorised = options.token === undefined ? () => true : bearerCheck(options.token);
    for (const route of routes) this.#routes.set(route.path, [...(this.#routes.get(route.path) ?? []), route]);
    this.#app = fastify({
      bodyLimit: MOST_BODY_BYTES,
      serverFactory: (answer) => this.#listener(answer, limits),
      forceCloseConnections: true,
      clientErrorHandler: ({ code }, socket) => this.#answerClientError(code, socket),
      // For a malformed path, fastify runs no hooks, and calls this function instead of the error handler.
      frameworkErrors: (fault, request, reply) => {
        this.#answerError(fault, request as FastifyRequest, reply as FastifyReply);
      },
    });
    // Only JSON bodies are accepted, so that forms of other websites are refused.
    this.#app.removeContentTypeParser('text/plain');
    this.#app.setReplySerializer(jsonText);
    this.#app.addHook('onRequest', async (request, reply) => this.#admit(request, reply));
    this.#app.setErrorHandler((fault, request, reply) => this.#answerError(fault, request, reply));
    this.#app.setNotFoundHandler((request, reply) => this.#answerError(this.#notFound(request, reply), request, reply));
    for (const route of routes) this.#serve(route);
  }

  /** @throws Error with a `code`, such as EADDRINUSE, when the server cannot listen on the host and port */
  async listen(): Promise<{ readonly url: string; readonly reachableUrl: string | undefined }> {
    const { host, port: wanted } = this.#options;
    await this.#app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port: wanted });
    const { server } = this.#app;
    // This listener is added only now, because `listen` throws its own faults. They would otherwise be logged, too.
    server.on('error', (fault) => this.#log.warn({ tag: 'http' }, fault.message));
    const { address, port } = server.address() as AddressInfo;
    const reachable = reachableHost(address);
    const urlOf = (host: string) => `http://${formatHttpAddress({ host, port })}`;
    return { url: urlOf(address), reachableUrl: reachable === undefined ? undefined : urlOf(reachable) };
  }

  /** Closes all connections without waiting. Pending answers are cut off. */
  async close(): Promise<void> {
    await this.#app.close();
  }

  /** @returns a server of Node.js. Node.js applies some of the limits to it, and `Connections` applies the others */
  #listener(answer: RequestListener, { requestMs, checkMs, keepAliveMs }: HttpLimits): HttpListener {
    const listener = createServer({
      maxHeaderSize: MOST_HEADER_BYTES,
      headersTimeout: requestMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: keepAliveMs,
    });
    const begin: RequestListener = (request, response) => {
      if (this.#connections.begin(request, response)) answer(request, response);
    };
    // Without the listener `checkExpectation`, Node.js itself would answer some requests with the header Expect, and
    // `Connections` could not limit them.
    listener.on('request', begin).on('checkExpectation', begin);
    this.#connections.watch(listener);
    return listener;
  }

  #serve(route: Route): void {
    const { method, path, query, body, mostBodyBytes = MOST_BODY_BYTES, answers } = route;
    const streams = answers[200] === EVENT_STREAM;
    this.#app.route({
      // GET routes also answer HEAD, which some supervisors send. Event streams do not, because an answer to HEAD must
      // end.
      method,
      url: path,
      bodyLimit: mostBodyBytes,
      exposeHeadRoute: method === 'GET' && !streams,
      handler: async (request, reply) => {
        const ask = {
          query: checked(query, 'query', request.query),
          body: checked(body, 'body', request.body === undefined ? {} : request.body),
          ifNoneMatch: request.headers['if-none-match'],
        };
        const answer = route.answer(ask, reply);
        if (streams) this.#connections.letStream(request.raw.socket);
        return answer;
      },
    });
  }

  #admit(request: FastifyRequest, reply: FastifyReply): void {
    reply.headers(HEADERS);
    const { host, origin, authorization } = request.headers;
    const { 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers as Record<string, string | undefined>;
    // If a request had two host names, a proxy could use the name that is not checked here (RFC 9112 §3.2).
    const { headersDistinct, url = '' } = request.raw;
    if ((headersDistinct.host ?? []).length > 1 || !url.startsWith('/')) {
      throw new HttpError(400, 'bad-request', 'send one Host header, and a path without a host as the target');
    }
    if (!admits({ host: this.#options.host, hostname: hostname() }, host)) {
      throw new HttpError(
        403,
        'forbidden-host',
        `not served under the name ${host}: use the address that pickaxe logs`,
      );
    }
    if (isForeign({ method: request.method, host, origin, site, mode })) {
      throw new HttpError(403, 'forbidden-origin', 'requests from pages of other websites are refused');
    }
    const asked = request.method === 'HEAD' ? 'GET' : request.method;
    // The route is found by its own path, because the path of a request can be written in many ways.
    const route = this.#routes.get(request.routeOptions.url ?? '')?.find(({ method }) => method === asked);
    if (!route?.open && !this.#authorised(authorization)) {
      this.#refusals.note(authorization === undefined ? 'no-token' : 'wrong-token', request.socket.remoteAddress);
      reply.header('www-authenticate', 'Bearer');
      throw new HttpError(401, 'unauthorized', 'send the token: Authorization: Bearer TOKEN');
    }
    if (route?.controls && !this.#options.control) {
      throw new HttpError(403, 'read-only', 'start pickaxe with --http-control to allow this');
    }
  }

  #notFound(request: FastifyRequest, reply: FastifyReply): HttpError {
    const routes = this.#routes.get(pathOf(request));
    if (!routes) return new HttpError(404, 'not-found', 'there is no such path; /api/v1/openapi.json lists the paths');
    const allowed = routes.map(({ method }) => method).join(', ');
    reply.header('allow', allowed);
    return new HttpError(405, 'method-not-allowed', `use ${allowed}`);
  }

  #answerError(fault: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const error = asHttpError(fault);
    if (isReason(error.code)) this.#refusals.note(error.code, request.socket.remoteAddress);
    if (error.code === 'internal') {
      this.#log.error(
        { tag: 'http' },
        `${request.method} ${pathOf(request)} failed: ${(fault as Error)?.stack ?? fault}`,
      );
    }
    reply.headers(HEADERS).code(error.status).send(error.body);
  }

  /** Sends an error for a request that is malformed, too long or too slow, if its socket is still writable. */
  #answerClientError(code: string | undefined, socket: Socket): void {
    if (!socket.writable || code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const reason = codeOfClientError(code);
    // Browsers open spare connections on which they send nothing. Such a connection is not counted as a refusal.
    if (isReason(reason) && socket.bytesRead > 0) this.#refusals.note(reason, socket.remoteAddress);
    socket.end(clientErrorAnswer(code));
  }
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0];
}

/** @throws HttpError 400 when the value does not match the schema */
function checked(schema: Route['query'], what: string, value: unknown): Record<string, unknown> {
  if (!schema) return {};
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new HttpError(400, 'bad-request', `${what}: ${z.prettifyError(error).replaceAll(/\s+/g, ' ')}`);
}

/**
 * @param host the address on which the server listens
 * @returns an address for other machines; undefined if this machine has none, or if `host` is a single address
 */
export function reachableHost(
  host: string,
  interfaces: NodeJS.Dict<Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[]> = networkInterfaces(),
): string | undefined {
  if (host !== '0.0.0.0' && host !== '::') return undefined;
  const outside = Object.values(interfaces).flatMap((each) => each?.filter(({ internal }) => !internal) ?? []);
  const ipv4 = outside.find(({ family }) => family === 'IPv4');
  if (ipv4 || host === '0.0.0.0') return ipv4?.address;
  // Link-local addresses (RFC 4291 §2.5.6) are skipped, because clients must add the name of an interface to them.
  return outside.find(({ address }) => !/^fe[89ab]/i.test(address))?.address;
}
