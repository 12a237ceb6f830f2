/** One side of the mock node, over HTTP or HTTPS: answers requests and sends updates, with the faults of the script. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../base/system/clock.ts';
import type { ServerSettings } from '../options.ts';
import type { Identity } from '../p2p/peers.ts';
import type { Random } from '../random.ts';
import {
  type Endpoint,
  endpoints,
  type Fault,
  type FaultInput,
  FaultScript,
  type Side,
  sendNoiseBelowBody,
} from './faults.ts';
import {
  type Answer,
  type Backend,
  type Message,
  type NodeContent,
  type NodeFacts,
  preflightHeaders,
  readBody,
  replacementOf,
  sendHalf,
  sendMessage,
  sendStreamHead,
} from './route.ts';
import { blockEvent } from './routes/blocks.ts';
import { dialectOf, type Found, refusalOf, routeOf } from './routes.ts';
import { type StreamTopic, UpdateStreams } from './streams.ts';
import { Throttle } from './throttle.ts';

export type ServerEvent =
  | { type: 'stream'; chain: number; open: number }
  | { type: 'fault'; endpoint: Endpoint; kind: Fault['kind'] };

interface ServerContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (event: ServerEvent) => void;
}

interface ServerOptions {
  readonly side: Side;
  readonly port: number;
  readonly identity?: Identity | undefined;
}

/** Base URL for parsing the targets of requests. Only the path and the query of the result are used. */
const BASE = 'http://host';
/** Maximum length of a request's body, as in real nodes. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** Time between the first half of an answer and the end of its connection, with the fault `broken-body`. */
const BREAK_MS = 20;

export class MockServer {
  readonly side: Side;
  readonly settings: ServerSettings;
  readonly stats = new ServerStats();
  readonly streams: UpdateStreams;
  /** Whether there are endpoints for mining. May be changed at any time. */
  miningEnabled: boolean;
  readonly #content: NodeContent;
  readonly #faults: FaultScript;
  readonly #emit: (event: ServerEvent) => void;
  readonly #http: Server;
  readonly #scheme: 'http' | 'https';
  /** Undefined if the number of requests is not limited. */
  readonly #throttle: Throttle | undefined;
  /** The requested port; after the first `listen` the port in use. */
  #port: number;

  constructor(
    content: NodeContent,
    settings: ServerSettings,
    { side, port, identity }: ServerOptions,
    { clock, random, emit }: ServerContext,
  ) {
    this.side = side;
    this.settings = settings;
    this.#content = content;
    this.streams = new UpdateStreams(settings, random);
    this.miningEnabled = settings.miningEnabled;
    this.#faults = new FaultScript(side, random);
    this.#emit = emit;
    this.#port = port;
    const { throttled, throttling: rates, throttleRetryAfter: sendsRetryAfter } = settings;
    this.#throttle =
      throttled === 'all' || throttled === side ? new Throttle({ rates, sendsRetryAfter, clock }) : undefined;
    const take = (request: IncomingMessage, response: ServerResponse) => this.#take(request, response);
    this.#http = identity ? createTlsServer({ key: identity.key, cert: identity.cert }, take) : createServer(take);
    this.#scheme = identity ? 'https' : 'http';
    const { ledger } = content;
    ledger.follow((update, chain) => this.streams.publish(update, chain));
    ledger.followBlocks((block) => {
      this.streams.publishBlock(block, (it, topic) => blockEvent(it, topic, ledger.settings.network));
    });
    this.#http.on('connection', () => {
      this.stats.connections += 1;
    });
  }

  /** The script of faults, which may be changed at any time. @throws ZodError if a new script is not valid */
  get faults(): readonly Fault[] {
    return this.#faults.faults;
  }
  set faults(script: readonly FaultInput[]) {
    this.#faults.faults = script;
  }

  get port(): number {
    return this.#port;
  }

  /**
   * Begins to listen; after `stopListening`, on the same port as before.
   * @returns the URL without a path
   * @throws Error if the port is in use
   */
  async listen(): Promise<string> {
    const { host } = this.settings;
    if (!this.#http.listening) {
      this.#http.listen(this.#port, host);
      await once(this.#http, 'listening');
    }
    this.#port = (this.#http.address() as AddressInfo).port;
    return `${this.#scheme}://${host}:${this.#port}`;
  }

  async stopListening(): Promise<void> {
    if (!this.#http.listening) return;
    const closed = once(this.#http, 'close');
    this.#http.close();
    this.#http.closeAllConnections();
    await closed;
  }

  async close(): Promise<void> {
    this.streams.close();
    await this.stopListening();
  }

  get #backend(): Backend {
    const { side, settings, miningEnabled, streams } = this;
    return { ...this.#content, side, settings, miningEnabled, streams };
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    // A client may close its connection at any time, so these errors are ignored.
    request.on('error', () => {});
    response.on('error', () => {});
    this.#handle(request, response).catch((error) => {
      this.#send(response, { status: 500, text: `the mock node failed: ${error}` });
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const tooSoon = this.#throttle?.refusalOf(request, dialectOf(this.settings, request.url ?? '/'));
    if (tooSoon) {
      this.stats.throttled += 1;
      this.#send(response, tooSoon);
      return;
    }
    const headers = this.side === 'p2p' ? undefined : preflightHeaders(request);
    if (headers) {
      this.#send(response, { status: 200, text: '', headers });
      return;
    }
    const target = request.url ?? '/';
    if (!URL.canParse(target, BASE)) {
      this.#send(response, { status: 400, text: 'the target of the request is no path' });
      return;
    }
    const url = new URL(target, BASE);
    const found = routeOf(this.#backend, request.method, url.pathname);
    if ('status' in found) this.#send(response, found);
    else await this.#serve(found, url, request, response);
  }

  async #serve(found: Found, url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { endpoint } = found.anyRoute;
    this.stats.requests[endpoint] += 1;
    const fault = this.#nextFault(endpoint);
    if (fault?.kind === 'drop') {
      request.socket.destroy();
      return;
    }
    const body = await readBody(request, MAX_BODY_BYTES);
    if (fault && fault.delayMs > 0) await delay(fault.delayMs);
    if (!body) {
      this.#send(response, { status: 413, text: `more than ${MAX_BODY_BYTES} bytes` });
      return;
    }
    if (fault?.kind === 'hang') return;
    const sendHead = () => sendStreamHead(response, this.#factsFor(response));
    if (fault && canBeSent(response) && sendNoiseBelowBody(response, fault, sendHead)) return;
    const replacement = fault && replacementOf(fault, endpoint);
    if (replacement) this.#send(response, replacement);
    else this.#answer(response, await this.#answerTo({ found, url, request, response, body, fault }), fault);
  }

  async #answerTo({ found, url, request, response, body, fault }: Asked): Promise<Answer> {
    const refusal = refusalOf(found, request);
    if (refusal || !found.route) return refusal ?? { status: 405, text: 'Method Not Allowed' };
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    return found.route.answer({
      backend: this.#backend,
      chain: found.chain,
      params: found.params,
      query: url.searchParams,
      body,
      accept: request.headers.accept,
      dialect: dialectOf(this.settings, url.pathname),
      fault,
      signal: gone.signal,
    });
  }

  #nextFault(endpoint: Endpoint): Fault | undefined {
    const fault = this.#faults.next(endpoint);
    if (fault) {
      this.stats.faults += 1;
      this.#emit({ type: 'fault', endpoint, kind: fault.kind });
    }
    return fault;
  }

  /** Sends the answer to a request that has been processed. @param fault the request's fault, if any */
  #answer(response: ServerResponse, answer: Answer, fault: Fault | undefined): void {
    const { socket } = response.req;
    if (fault?.kind === 'lost-answer') {
      socket.destroy();
    } else if ('stream' in answer) {
      this.#openStream(response, answer.stream, fault);
    } else if (fault?.kind === 'broken-body' || fault?.kind === 'endless-body') {
      this.#send(response, answer, sendHalf);
      if (fault.kind === 'broken-body') setTimeout(() => socket.destroy(), BREAK_MS);
    } else {
      this.#send(response, answer);
    }
  }

  #send(response: ServerResponse, message: Message, send = sendMessage): void {
    if (canBeSent(response)) send(response, message, this.#factsFor(response));
  }

  #factsFor({ req }: ServerResponse): NodeFacts {
    const dialect = dialectOf(this.settings, req.url ?? '/');
    return {
      nowUs: this.#content.ledger.nowUs(),
      dialect,
      namesPeer: this.side !== 'service',
      isForPages: this.side !== 'p2p',
    };
  }

  #openStream(response: ServerResponse, topic: StreamTopic, fault: Fault | undefined): void {
    if (!canBeSent(response)) return;
    sendStreamHead(response, this.#factsFor(response));
    if (fault?.kind === 'end-stream' || response.req.method === 'HEAD') {
      response.end();
      return;
    }
    this.streams.add(topic, response, fault);
    const { open } = this.streams;
    this.stats.mostOpenStreams = Math.max(this.stats.mostOpenStreams, open);
    if (typeof topic === 'number') this.#emit({ type: 'stream', chain: topic, open });
  }
}

interface Asked {
  readonly found: Found;
  readonly url: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly fault: Fault | undefined;
}

/** Whether nothing has been sent yet, and the client is still connected. */
function canBeSent(response: ServerResponse): boolean {
  return !response.headersSent && response.socket !== null;
}

class ServerStats {
  /** Number of accepted TCP connections. */
  connections = 0;
  readonly requests: Record<Endpoint, number> = noRequests();
  faults = 0;
  throttled = 0;
  mostOpenStreams = 0;
}

function noRequests(): Record<Endpoint, number> {
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint, 0])) as Record<Endpoint, number>;
}
