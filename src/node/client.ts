/**
 * The mining endpoints of one node over HTTP/1.1 (document 1, "Mining"). On undici's own request function, since fetch
 * refuses a GET with a body and two of the three endpoints want one.
 */

import { type Dispatcher, Pool } from 'undici';
import { CHAIN_BYTES, WORK_BYTES } from '../chain/layout.ts';
import type { Clock } from '../system/clock.ts';
import type { NodeClock } from './clock.ts';
import { within } from './deadline.ts';
import { NodeError, networkError, quote } from './errors.ts';
import type { NodeLimits } from './limits.ts';
import { refusal } from './refusal.ts';
import { connectorFor, type Trust } from './tls.ts';
import { CONFIG_PATH, HEALTH_PATH, hidePath, type NodeAddress } from './url.ts';

/** Document 1, "Miner information". */
export interface MinerIdentity {
  readonly account: string;
  readonly predicate: 'keys-all' | 'keys-any' | 'keys-2';
  readonly publicKeys: readonly string[];
}

export interface ClientOptions {
  readonly address: NodeAddress;
  readonly miner: MinerIdentity;
  readonly nodeClock: NodeClock;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly trust: Trust;
  readonly limits: NodeLimits;
}

/** An answer that came from the node itself. */
export interface NodeAnswer {
  readonly status: number;
  readonly text: string;
}

/** Idle connections stay warm for the next New Cut; real nodes close them after 30 s. */
const KEEP_ALIVE_MS = 25_000;
/**
 * One or two are in use. The rest is for submissions that hang, each for as long as its budget: a work request must not
 * queue behind them. Streams have connections of their own.
 */
const MAX_CONNECTIONS = 64;
/** The largest proper answer is `/config`: tens of kilobytes. */
const MAX_ANSWER_BYTES = 1_048_576;

/** The most that is read of a body that does not matter. */
const MAX_IGNORED_BYTES = 16_384;

const OCTETS = 'application/octet-stream';

interface Question {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
}

export class NodeClient {
  readonly #options: ClientOptions;
  #requests: Pool;
  #streams: Pool;
  #lastAnswerMs = Number.NEGATIVE_INFINITY;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#requests = this.#requestPool();
    this.#streams = this.#streamPool();
  }

  /**
   * GET /mining/work.
   * @returns 322 bytes
   * @throws NodeError
   */
  async getWork(stop: AbortSignal): Promise<Uint8Array> {
    const { miner, address } = this.#options;
    const { account, predicate, publicKeys } = miner;
    const question: Question = {
      path: `${address.basePath}/mining/work`,
      method: 'GET',
      headers: { 'content-type': 'application/json', accept: OCTETS },
      body: JSON.stringify({ account, predicate, 'public-keys': publicKeys }),
    };
    const { status, body } = await this.#ask(question, this.#options.limits.workTimeoutMs, stop);
    if (status !== 200) throw refusal('work', status, body.toString(), this.#options);
    if (body.length !== WORK_BYTES) {
      throw new NodeError(
        'garbled',
        `${address.name} sent ${body.length} bytes as work; a work record is ${WORK_BYTES}.`,
      );
    }
    return body;
  }

  /**
   * POST /mining/solved. An answer is returned whether or not the solution was taken; the status alone settles that one
   * was, so a body that breaks or never ends does no harm.
   * @param header 286 bytes
   * @throws NodeError when the node did not answer, or answered that it cannot answer now (429, 5xx)
   */
  async postSolved(header: Uint8Array, stop: AbortSignal): Promise<NodeAnswer> {
    const path = `${this.#options.address.basePath}/mining/solved`;
    const question: Question = { path, method: 'POST', headers: { 'content-type': OCTETS }, body: header };
    const { solvedTimeoutMs, bodyTimeoutMs } = this.#options.limits;
    return await within(solvedTimeoutMs, stop, async (signal) => {
      const { statusCode: status, body } = await this.#send(this.#requests, question, signal);
      if (status >= 200 && status < 300) {
        this.#readOut(body);
        return { status, text: '' };
      }
      const text = await within(bodyTimeoutMs, signal, (soon) => readText(body, soon)).catch(() => '');
      return { status, text: quote(hidePath(text, this.#options.address)) };
    });
  }

  /**
   * Asks for as little as possible.
   * @throws NodeError when nothing answers, or when what answers says that it cannot
   */
  async ping(stop: AbortSignal): Promise<void> {
    const question: Question = { path: HEALTH_PATH, method: 'GET', headers: { accept: 'text/plain, */*' } };
    await within(this.#options.limits.probeTimeoutMs, stop, async (signal) => {
      const { body } = await this.#send(this.#requests, question, signal);
      this.#readOut(body);
    });
  }

  /** Monotonic time of the last answer of the node itself; -∞ before the first. */
  get lastAnswerMs(): number {
    return this.#lastAnswerMs;
  }

  /** From now on there are new connections: after a suspension the other side may have forgotten the old ones. */
  renewConnections(): void {
    for (const pool of [this.#requests, this.#streams]) pool.close().catch(() => {});
    this.#requests = this.#requestPool();
    this.#streams = this.#streamPool();
  }

  /**
   * GET /config at the host root. Its schema is not stable, and not every node serves it.
   * @throws NodeError
   */
  async getConfig(stop: AbortSignal): Promise<unknown> {
    const question: Question = { path: CONFIG_PATH, method: 'GET', headers: { accept: 'application/json' } };
    const { status, body } = await this.#ask(question, this.#options.limits.configTimeoutMs, stop);
    if (status !== 200) throw refusal('config', status, body.toString(), this.#options);
    try {
      return JSON.parse(body.toString());
    } catch (cause) {
      throw new NodeError('garbled', `${this.#options.address.origin}${CONFIG_PATH} is not JSON.`, { cause });
    }
  }

  /**
   * GET /mining/updates with the chain as 4 bytes, little-endian. Lasts until the node ends it or `stop`.
   * @returns the body of an open event stream, bytes as they come; reading it can throw anything
   * @throws NodeError
   */
  async openUpdates(chain: number, stop: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const body = new Uint8Array(CHAIN_BYTES);
    new DataView(body.buffer).setUint32(0, chain, true);
    const question: Question = {
      path: `${this.#options.address.basePath}/mining/updates`,
      method: 'GET',
      headers: { 'content-type': OCTETS, accept: 'text/event-stream' },
      body,
    };
    const response = await this.#send(this.#streams, question, stop);
    if (response.statusCode !== 200) {
      this.#readOut(response.body);
      throw refusal('updates', response.statusCode, '', this.#options);
    }
    return response.body;
  }

  /** Ends its connections, whatever they are at. */
  async close(): Promise<void> {
    await Promise.all([this.#requests.destroy(), this.#streams.destroy()]);
  }

  #requestPool(): Pool {
    const limits = { connections: MAX_CONNECTIONS, maxResponseSize: MAX_ANSWER_BYTES };
    return new Pool(this.#options.address.origin, { ...this.#poolOptions(), ...limits });
  }

  /** Nodes keep a stream silent for minutes and end it themselves: undici's time-outs are off. */
  #streamPool(): Pool {
    return new Pool(this.#options.address.origin, { ...this.#poolOptions(), headersTimeout: 0, bodyTimeout: 0 });
  }

  #poolOptions(): Pool.Options {
    const { address, trust, limits } = this.#options;
    const connect = connectorFor(address.origin, trust, limits.connectTimeoutMs);
    return { connect, keepAliveTimeout: KEEP_ALIVE_MS, pipelining: 1 };
  }

  async #ask(question: Question, timeoutMs: number, stop: AbortSignal): Promise<{ status: number; body: Buffer }> {
    return await within(timeoutMs, stop, async (signal) => {
      const response = await this.#send(this.#requests, question, signal);
      try {
        return { status: response.statusCode, body: Buffer.from(await response.body.arrayBuffer()) };
      } catch (error) {
        throw networkError(error, this.#options.address.origin);
      }
    });
  }

  /** In the background, to its end if that is near: so the connection stays usable, and nobody waits for the rest. */
  #readOut(body: Dispatcher.ResponseData['body']): void {
    const signal = AbortSignal.timeout(this.#options.limits.bodyTimeoutMs);
    body.dump({ limit: MAX_IGNORED_BYTES, signal }).catch(() => {});
  }

  /** @throws NodeError unless the node itself answered, and is in a state to answer */
  async #send(pool: Pool, question: Question, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { clock, nodeClock, userAgent, address } = this.#options;
    const askedAtMs = clock.monotonicMs();
    let response: Dispatcher.ResponseData;
    try {
      const headers = { 'user-agent': userAgent, ...question.headers };
      // undici closes the connection after a GET with a body unless told not to; a new one would delay the next work.
      response = await pool.request({ ...question, headers, signal, reset: false });
    } catch (error) {
      throw networkError(error, address.origin);
    }
    const { statusCode: status, headers } = response;
    const timestamp = timestampOf(headers);
    if (timestamp !== undefined) {
      nodeClock.observe(timestamp, askedAtMs);
      this.#lastAnswerMs = clock.monotonicMs();
    }
    if (status < 500 && status !== 429 && timestamp !== undefined) return response;
    this.#readOut(response.body);
    const about = { retryAfterMs: retryAfterOf(headers), byNode: timestamp !== undefined };
    const path = hidePath(question.path, address);
    if (status === 503 || status === 429) {
      throw new NodeError('busy', `${address.name} is busy (${status} to ${path}).`, about);
    }
    if (status >= 500) {
      throw new NodeError('failed', `${address.name} failed (${status} to ${path}).`, about);
    }
    const hint = 'Its headers are missing: is there a login page or a proxy in between, or is the URL wrong?';
    throw new NodeError('not a node', `what answers at ${address.origin} (${status}) is not a node. ${hint}`);
  }
}

/** @throws Error when the body is longer than a refusal has reason to be, breaks, or takes too long */
async function readText(body: Dispatcher.ResponseData['body'], stop: AbortSignal): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const onStop = () => body.destroy();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_IGNORED_BYTES) break;
    }
  } finally {
    stop.removeEventListener('abort', onStop);
  }
  return Buffer.concat(chunks).toString();
}

/** Document 1, "Conventions", 4: on every answer of a node. */
function timestampOf(headers: Dispatcher.ResponseData['headers']): bigint | undefined {
  const value = headers['x-server-timestamp'];
  // Up to 11 digits: seconds for the next three thousand years.
  return typeof value === 'string' && /^\d{1,11}$/.test(value) ? BigInt(value) : undefined;
}

/** RFC 9110 §10.2.3, the form in seconds. */
function retryAfterOf(headers: Dispatcher.ResponseData['headers']): number | undefined {
  const value = headers['retry-after'];
  return typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined;
}
