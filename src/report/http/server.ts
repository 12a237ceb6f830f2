/** The HTTP server: it decides who may ask, limits requests, and gives errors one shape. It serves a list of `Route`s. */

import { createServer, type Server as HttpListener, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { hostname } from 'node:os';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Clock } from '../../system/clock.ts';
import { jsonText } from '../../text/json-text.ts';
import { bearerCheck } from './auth.ts';
import { Connections } from './connections.ts';
import { asHttpError, clientErrorAnswer, codeOfClientError, HttpError } from './errors.ts';
import { HEADERS } from './headers.ts';
import { admits, isForeign } from './hosts.ts';
import type { HttpLimits } from './limits.ts';
import { reachableHost, urlOf } from './reach.ts';
import { type HttpRefusals, isReason } from './refusals.ts';
import { EVENT_STREAM, type Route } from './route.ts';

/** The largest valid body is one device's name. */
const MOST_BODY_BYTES = 1_024;
/** Enough for a token and what browsers send. */
const MOST_HEADER_BYTES = 8_192;

export interface ServerOptions {
  /** An address, or a name of one. */
  readonly host: string;
  /** 0 stands for any free port. */
  readonly port: number;
  /** Without it, no token is required. */
  readonly token?: string;
  /** Whether what changes something is allowed. */
  readonly control: boolean;
  /** Limits that differ from `httpLimits`. */
  readonly limits?: Partial<HttpLimits>;
}

interface Surroundings {
  readonly log: Logger;
  readonly clock: Clock;
  readonly limits: HttpLimits;
  readonly refusals: HttpRefusals;
}

export class Server {
  readonly #app: FastifyInstance;
  readonly #options: ServerOptions;
  readonly #log: Logger;
  readonly #refusals: HttpRefusals;
  readonly #connections: Connections;
  readonly #authorised: (header: string | undefined) => boolean;
  /** The routes of each path. */
  readonly #routes = new Map<string, Route[]>();

  constructor(options: ServerOptions, routes: readonly Route[], { log, clock, limits, refusals }: Surroundings) {
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
      // For a malformed path no hooks have run.
      frameworkErrors: (fault, request, reply) => {
        this.#answerError(fault, request as FastifyRequest, reply as FastifyReply);
      },
    });
    // Only JSON: what a website's form could send is refused.
    this.#app.removeContentTypeParser('text/plain');
    this.#app.setReplySerializer(jsonText);
    this.#app.addHook('onRequest', async (request, reply) => this.#admit(request, reply));
    this.#app.setErrorHandler((fault, request, reply) => this.#answerError(fault, request, reply));
    this.#app.setNotFoundHandler((request, reply) => this.#answerError(this.#notFound(request, reply), request, reply));
    for (const route of routes) this.#serve(route);
  }

  /**
   * @returns where it listens, and where other machines reach it if it listens on all addresses
   * @throws Error with a `code` when it cannot listen there
   */
  async listen(): Promise<{ readonly url: string; readonly reachableUrl: string | undefined }> {
    const { host, port: wanted } = this.#options;
    await this.#app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port: wanted });
    const { server } = this.#app;
    // Only now: before, a fault is thrown by `listen`, and would be logged as well.
    server.on('error', (fault) => this.#log.warn({ tag: 'http' }, fault.message));
    const { address, port } = server.address() as AddressInfo;
    const reachable = reachableHost(address);
    return { url: urlOf(address, port), reachableUrl: reachable === undefined ? undefined : urlOf(reachable, port) };
  }

  /** Ends at once: clients that are being answered are cut off. */
  async close(): Promise<void> {
    await this.#app.close();
  }

  /** The listener, with the limits that Node.js enforces and those of `Connections`. */
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
    // A request with `Expect` is answered like any other. Node.js would answer it by itself, outside of the bounds.
    listener.on('request', begin).on('checkExpectation', begin);
    this.#connections.watch(listener);
    return listener;
  }

  #serve(route: Route): void {
    const { method, path, query, body, answers } = route;
    const streams = answers[200] === EVENT_STREAM;
    this.#app.route({
      // HEAD is what some supervisors ask with; an event stream would have to end for it.
      method,
      url: path,
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
    // The path that matched, since a path can be written in many ways.
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

  /** Answers what is not a request, where it can be answered at all. */
  #answerClientError(code: string | undefined, socket: Socket): void {
    if (!socket.writable || code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const reason = codeOfClientError(code);
    // Browsers open connections that they may need, and say nothing on them.
    if (isReason(reason) && socket.bytesRead > 0) this.#refusals.note(reason, socket.remoteAddress);
    socket.end(clientErrorAnswer(code));
  }
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0];
}

/** @throws HttpError that says what is wrong with it */
function checked(schema: Route['query'], what: string, value: unknown): Record<string, unknown> {
  if (!schema) return {};
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new HttpError(400, 'bad-request', `${what}: ${z.prettifyError(error).replaceAll(/\s+/g, ' ')}`);
}
