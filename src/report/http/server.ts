/** The HTTP server: serves a list of `Route`s, checks who may ask, limits requests, and gives errors one shape. */

import {
  createServer,
  type Server as HttpListener,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Clock } from '../../system/clock.ts';
import { formatHttpAddress } from '../../text/addresses.ts';
import { jsonText } from '../../text/plain-text.ts';
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
  isForeign,
  isReason,
  type Reason,
} from './access.ts';
import { EVENT_STREAM, type Route } from './route.ts';

/** The largest valid body of most routes contains one device's name. */
const MOST_BODY_BYTES = 1_024;
/** Enough for a token and what browsers send. */
const MOST_HEADER_BYTES = 8_192;

export interface ServerOptions {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** If absent, no token is required. */
  readonly token?: string;
  /** Whether routes that change something are allowed. */
  readonly control: boolean;
  /** Overrides of `httpLimits`. */
  readonly limits?: Partial<HttpLimits>;
}

interface ServerContext {
  readonly log: Logger;
  readonly clock: Clock;
  readonly limits: HttpLimits;
  readonly refusals: HttpRefusals;
}

export class HttpServer {
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
      // Hooks do not run for a malformed path.
      frameworkErrors: (fault, request, reply) => {
        this.#answerError(fault, request as FastifyRequest, reply as FastifyReply);
      },
    });
    // Only JSON is accepted, so that forms of other websites are refused.
    this.#app.removeContentTypeParser('text/plain');
    this.#app.setReplySerializer(jsonText);
    this.#app.addHook('onRequest', async (request, reply) => this.#admit(request, reply));
    this.#app.setErrorHandler((fault, request, reply) => this.#answerError(fault, request, reply));
    this.#app.setNotFoundHandler((request, reply) => this.#answerError(this.#notFound(request, reply), request, reply));
    for (const route of routes) this.#serve(route);
  }

  /** @throws Error with a `code` when it cannot listen there */
  async listen(): Promise<{ readonly url: string; readonly reachableUrl: string | undefined }> {
    const { host, port: wanted } = this.#options;
    await this.#app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port: wanted });
    const { server } = this.#app;
    // Registered only now: earlier faults are thrown by `listen`, and would be logged as well.
    server.on('error', (fault) => this.#log.warn({ tag: 'http' }, fault.message));
    const { address, port } = server.address() as AddressInfo;
    const reachable = reachableHost(address);
    const urlOf = (host: string) => `http://${formatHttpAddress({ host, port })}`;
    return { url: urlOf(address), reachableUrl: reachable === undefined ? undefined : urlOf(reachable) };
  }

  /** Closes at once: pending answers are cut off. */
  async close(): Promise<void> {
    await this.#app.close();
  }

  /** Applies the limits of Node.js and those of `Connections`. */
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
    // Requests with `Expect` are answered like others. Node.js would answer them itself, without limits.
    listener.on('request', begin).on('checkExpectation', begin);
    this.#connections.watch(listener);
    return listener;
  }

  #serve(route: Route): void {
    const { method, path, query, body, mostBodyBytes = MOST_BODY_BYTES, answers } = route;
    const streams = answers[200] === EVENT_STREAM;
    this.#app.route({
      // Some supervisors send HEAD. Not for event streams, which would have to end for it.
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
    // The path that matched, because a path can be written in many ways.
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

  /** Answers a malformed request, if its socket is still writable. */
  #answerClientError(code: string | undefined, socket: Socket): void {
    if (!socket.writable || code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const reason = codeOfClientError(code);
    // Browsers open spare connections and send nothing on them.
    if (isReason(reason) && socket.bytesRead > 0) this.#refusals.note(reason, socket.remoteAddress);
    socket.end(clientErrorAnswer(code));
  }
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0];
}

/** @throws HttpError that says what is wrong with the value */
function checked(schema: Route['query'], what: string, value: unknown): Record<string, unknown> {
  if (!schema) return {};
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new HttpError(400, 'bad-request', `${what}: ${z.prettifyError(error).replaceAll(/\s+/g, ' ')}`);
}

/*
 * The server's connections. Node.js limits how long a request takes to arrive. `Connections` disconnects clients that
 * ask again before they have their answer (pipelining, RFC 9112 §9.3.2, which no browser and no scraper uses), do not
 * read their answer, or leave a connection unused. They get no answer, because that would have to wait, too.
 */

/** Length of the pieces that the parser gets. A client that is cut off costs no more than the requests in one piece. */
const PIECE_BYTES = 512;

interface Connection {
  /** Deadline for reading the next answer, on the clock's `monotonicMs`. */
  deadlineMs: number;
  answering: boolean;
}

export class Connections {
  readonly #clock: Clock;
  readonly #limits: HttpLimits;
  readonly #refusals: HttpRefusals;
  readonly #all = new Map<Socket, Connection>();

  constructor(clock: Clock, limits: HttpLimits, refusals: HttpRefusals) {
    this.#clock = clock;
    this.#limits = limits;
    this.#refusals = refusals;
  }

  /** Call this before the server listens. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.#add(socket));
    server.once('listening', () => {
      const timer = setInterval(() => this.#check(), this.#limits.checkMs).unref();
      server.once('close', () => clearInterval(timer));
    });
  }

  /** @returns false if the connection was cut off instead */
  begin({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#all.get(socket);
    if (!connection) return false;
    if (connection.answering) {
      this.#cutOff(socket, 'pipelined');
      return false;
    }
    connection.answering = true;
    connection.deadlineMs = this.#deadlineMs();
    response.once('close', () => {
      connection.answering = false;
      connection.deadlineMs = this.#deadlineMs();
    });
    return true;
  }

  /** Exempts an event stream from the deadline: event-stream.ts limits it. */
  letStream(socket: Socket): void {
    const connection = this.#all.get(socket);
    if (connection) connection.deadlineMs = Number.POSITIVE_INFINITY;
  }

  #add(socket: Socket): void {
    if (this.#all.size >= this.#limits.connections) this.#makeRoom();
    this.#all.set(socket, { deadlineMs: this.#deadlineMs(), answering: false });
    socket.once('close', () => this.#all.delete(socket));
    feedInPieces(socket);
  }

  #deadlineMs(): number {
    return this.#clock.monotonicMs() + this.#limits.answerMs;
  }

  /** Cuts off the connection with the earliest deadline, in favour of a new client. */
  #makeRoom(): void {
    const [socket] = [...this.#all].reduce((first, each) => (each[1].deadlineMs < first[1].deadlineMs ? each : first));
    this.#cutOff(socket, 'crowded');
  }

  #check(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [socket, { deadlineMs }] of this.#all) if (deadlineMs <= nowMs) this.#cutOff(socket, 'timeout');
  }

  #cutOff(socket: Socket, reason: Reason): void {
    this.#refusals.note(reason, socket.remoteAddress);
    this.#all.delete(socket);
    socket.destroy();
  }
}

function feedInPieces(socket: Socket): void {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
  socket.off('data', parse);
  socket.on('data', (bytes: Buffer) => {
    // A socket stops being writable when it is cut off or has its last answer.
    for (let at = 0; at < bytes.length && socket.writable; at += PIECE_BYTES) {
      parse.call(socket, bytes.subarray(at, at + PIECE_BYTES));
    }
  });
}

/** @returns an address for other machines; undefined if there is none, or if `host` is a single address */
export function reachableHost(
  host: string,
  interfaces: NodeJS.Dict<Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[]> = networkInterfaces(),
): string | undefined {
  if (host !== '0.0.0.0' && host !== '::') return undefined;
  const outside = Object.values(interfaces).flatMap((each) => each?.filter(({ internal }) => !internal) ?? []);
  const ipv4 = outside.find(({ family }) => family === 'IPv4');
  if (ipv4 || host === '0.0.0.0') return ipv4?.address;
  // Link-local addresses (RFC 4291 §2.5.6) need the name of an interface.
  return outside.find(({ address }) => !/^fe[89ab]/i.test(address))?.address;
}
