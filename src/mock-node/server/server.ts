/** Serves the mock ledger over HTTP: answers requests and sends updates, with the faults of the script. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from '../ledger/ledger.ts';
import type { ServerSettings } from '../options.ts';
import type { Random } from '../random.ts';
import { type Answer, type Message, sendHalf, sendMessage, sendStreamHead } from './answer.ts';
import { type Endpoint, type Fault, type FaultInput, FaultScript } from './faults.ts';
import { replacementOf } from './replacements.ts';
import { type Backend, type Route, refusalOf, routeOf } from './routes.ts';
import { ServerStats } from './stats.ts';
import { UpdateStreams } from './streams.ts';

/** What happens at the server, for a log. */
export type ServerEvent =
  | { type: 'stream'; chain: number; open: number }
  | { type: 'fault'; endpoint: Endpoint; kind: Fault['kind'] };

export interface ServerSurroundings {
  readonly random: Random;
  readonly emit: (event: ServerEvent) => void;
}

/** Larger bodies are refused. The largest valid one is a miner's JSON. */
const MAX_BODY_BYTES = 65_536;
/** The time from an answer's head to the break of the connection, with the fault `broken body`. */
const BREAK_MS = 20;

export class MockServer implements Backend {
  readonly ledger: Ledger;
  readonly settings: ServerSettings;
  readonly stats = new ServerStats();
  readonly streams: UpdateStreams;
  /** This may be changed at any time. */
  miningEnabled: boolean;
  readonly #faults: FaultScript;
  readonly #emit: (event: ServerEvent) => void;
  readonly #http = createServer((request, response) => this.#take(request, response));
  /** The port that was asked for; after the first `listen` the port that is used. */
  #port: number;

  constructor(ledger: Ledger, settings: ServerSettings, { random, emit }: ServerSurroundings) {
    this.ledger = ledger;
    this.settings = settings;
    this.streams = new UpdateStreams(settings, random);
    this.miningEnabled = settings.miningEnabled;
    this.#faults = new FaultScript(random);
    this.#emit = emit;
    this.#port = settings.port;
    ledger.follow((update, chain) => this.streams.tell(update, chain));
    this.#http.on('connection', () => {
      this.stats.connections += 1;
    });
  }

  /** The script of faults. It may be changed at any time. @throws ZodError when it is not valid */
  get faults(): readonly Fault[] {
    return this.#faults.faults;
  }
  set faults(script: readonly FaultInput[]) {
    this.#faults.faults = script;
  }

  /** Listens; after `stopListening`, on the same port. @returns `http://host:port` @throws Error when the port is in use */
  async listen(): Promise<string> {
    const { host } = this.settings;
    this.#http.listen(this.#port, host);
    await once(this.#http, 'listening');
    this.#port = (this.#http.address() as AddressInfo).port;
    return `http://${host}:${this.#port}`;
  }

  /** Closes all connections and refuses new ones. */
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

  #take(request: IncomingMessage, response: ServerResponse): void {
    // A client may close its connection at any time.
    request.on('error', () => {});
    response.on('error', () => {});
    this.#handle(request, response).catch((error) => {
      this.#send(response, { status: 500, text: `the mock node failed: ${error}` });
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://host');
    const route = routeOf(this, url.pathname);
    if (route) await this.#serve(route, url, request, response);
    else this.#send(response, { status: 404, text: `no such path: ${url.pathname}` });
  }

  async #serve(route: Route, url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { endpoint } = route;
    this.stats.requests[endpoint] += 1;
    const fault = this.#nextFault(endpoint);
    if (fault?.kind === 'drop') {
      request.socket.destroy();
      return;
    }
    const body = await readBody(request);
    if (fault && fault.delayMs > 0) await delay(fault.delayMs);
    if (!body) {
      this.#send(response, { status: 413, text: `more than ${MAX_BODY_BYTES} bytes` });
      return;
    }
    if (fault?.kind === 'hang') return;
    const replacement = fault && replacementOf(fault, endpoint);
    if (replacement) this.#send(response, replacement);
    else this.#answer(response, refusalOf(route, request) ?? route.answer(this, body, url), fault);
  }

  #nextFault(endpoint: Endpoint): Fault | undefined {
    const fault = this.#faults.next(endpoint);
    if (fault) {
      this.stats.faults += 1;
      this.#emit({ type: 'fault', endpoint, kind: fault.kind });
    }
    return fault;
  }

  /** @param fault the fault after the request was carried out, if any */
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
    if (canBeSent(response)) send(response, message, this.ledger.nowUs());
  }

  #openStream(response: ServerResponse, chain: number, fault: Fault | undefined): void {
    if (!canBeSent(response)) return;
    sendStreamHead(response, this.ledger.nowUs());
    if (fault?.kind === 'end-stream') {
      response.end();
      return;
    }
    this.streams.add(chain, response, fault);
    const { open } = this.streams;
    this.stats.mostOpenStreams = Math.max(this.stats.mostOpenStreams, open);
    this.#emit({ type: 'stream', chain, open });
  }
}

/** Whether nothing has been sent yet, and the client is still connected. */
function canBeSent(response: ServerResponse): boolean {
  return !response.headersSent && response.socket !== null;
}

/** @returns undefined when the body is too large. Even then it is read to its end, so that the client gets the answer */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}
