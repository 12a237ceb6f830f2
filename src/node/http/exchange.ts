/**
 * HTTP/1.1 requests to one node. They are made with undici's `request`, because `fetch` refuses a GET with a body, and
 * two of the mining endpoints need one.
 */

import { type Dispatcher, Pool } from 'undici';
import { BY_AUTHORITY, type Trust } from '../../base/net/tls-trust.ts';
import { NEVER, onAbort, within } from '../../base/system/abort.ts';
import { type Clock, systemClock } from '../../base/system/clock.ts';
import { NodeClock } from './node-clock.ts';
import { NodeError, networkError, quote } from './node-error.ts';
import { type NodeLimits, nodeLimits } from './request-limits.ts';
import { connectorFor, type ReadingBound } from './tls.ts';
import { HEALTH_PATH, hidePath, type NodeAddress } from './url.ts';

interface NodeHttpOptions {
  readonly address: NodeAddress;
  /** How the certificate of an https node is checked. Default: an authority must have signed it. */
  readonly trust?: Trust;
  readonly userAgent?: string;
  readonly nodeClock?: NodeClock;
  readonly clock?: Clock;
  readonly limits?: NodeLimits;
  /**
   * The largest `mostAnswerBytes` of all requests, in bytes. It determines how many bytes may be read from a connection
   * for each request. Default: 1 MiB.
   */
  readonly mostAnswerBytes?: number;
  /**
   * Whether the node is known only from untrusted peers. If so, its host name must not resolve to an address of this
   * machine, or to a link-local, multicast or reserved address.
   */
  readonly isStranger?: boolean;
  readonly transport?: NodeTransport;
}

/** Carries HTTP requests to an origin. The usual one is undici's pool; a simulation has a network in memory. */
export interface Transport {
  request(request: Dispatcher.RequestOptions): Promise<Response>;
  /** Lets the requests in progress end. */
  close(): Promise<void>;
  /** Ends the requests in progress. */
  destroy(): Promise<void>;
}

/** @param origin scheme, host and port @returns a transport of its own */
export type NodeTransport = (origin: string) => Transport;

export interface NodeRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** The path, from the host root, with the query. */
  readonly path: string;
  /** The shortened URL of the request, for messages. Default: the node's origin. */
  readonly shownUrl?: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
  /** Maximum length of the answer's body, in bytes. Default: 1 MiB. */
  readonly mostAnswerBytes?: number;
}

interface NodeAnswer {
  readonly status: number;
  readonly body: Buffer;
}

export interface AnyAnswer extends NodeAnswer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Whether the answer has a node's timestamp (`x-server-timestamp`). An answer of a proxy, for example, has none. */
  readonly byNode: boolean;
  /** The pause that the header `retry-after` requests; undefined if it has no number of seconds. */
  readonly retryAfterMs: number | undefined;
}

export interface StatusAnswer {
  readonly status: number;
  /**
   * The beginning of the body as one line for people. Empty if the status is 2xx, or if the body is empty, breaks off
   * or does not come in time.
   */
  readonly text: string;
}

/**
 * Time for which an idle connection is kept open for the next request. Real nodes close idle connections after 30 s.
 */
const KEEP_ALIVE_MS = 25_000;
/**
 * Maximum number of connections for requests. One or two are usual. More are open while submissions hang, so that work
 * requests do not wait for the submissions.
 */
const MAX_CONNECTIONS = 64;
/**
 * Default maximum length of an answer's body, in bytes. The longest answer that is read while mining is that of
 * `/config`, with tens of kilobytes.
 */
const MAX_ANSWER_BYTES = 1_048_576;
/** Number of bytes that an answer may have besides its body: interim answers and the head. */
const HTTP_BYTES = 65_536;
/** Number of bytes that may be read for each byte of a body. Above 1, because HTTP sends the sizes of chunks, too. */
const HTTP_SHARE = 1.25;
/**
 * Maximum number of bytes in a burst of an update stream. A New Cut has 15 bytes, and a stream gets one every few
 * seconds.
 */
const STREAM_BYTES = 65_536;
/** Maximum average rate of an update stream after the burst. */
const STREAM_BYTES_PER_SECOND = 4_000;
/**
 * Maximum number of bytes that are read of a body that is ignored or quoted. If the body is longer, its connection is
 * closed.
 */
const MAX_IGNORED_BYTES = 16_384;

type Response = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>;

export class NodeHttp {
  readonly address: NodeAddress;
  readonly limits: NodeLimits;
  readonly nodeClock: NodeClock;
  readonly #options: NodeHttpOptions;
  readonly #clock: Clock;
  #requests: Transport;
  #streams: Transport;
  #lastAnswerMs = Number.NEGATIVE_INFINITY;
  /** Whether an answer has ever come from this address, even if it was not from a node. */
  #everAnswered = false;

  constructor(options: NodeHttpOptions) {
    const { address, clock = systemClock, nodeClock = new NodeClock(clock), limits = nodeLimits } = options;
    this.address = address;
    this.limits = limits;
    this.nodeClock = nodeClock;
    this.#options = options;
    this.#clock = clock;
    this.#requests = this.#requestPool();
    this.#streams = this.#streamPool();
  }

  /**
   * Sends a request and reads the whole answer.
   * @throws NodeError if no node answers in time, if the status is 429 or 5xx, or if the body is too long
   */
  async ask(request: NodeRequest, timeoutMs: number, stop: AbortSignal): Promise<NodeAnswer> {
    return await within(this.#clock, timeoutMs, stop, async (signal) => {
      const { statusCode: status, body } = await this.#send(this.#requests, request, signal);
      return { status, body: await this.#read(body, request) };
    });
  }

  /**
   * Like `ask`, but also returns answers with the status 429 or 5xx, and answers that are not from a node.
   * @throws NodeError if no answer comes in time, or if its body is too long
   */
  async askAny(request: NodeRequest, timeoutMs: number, stop: AbortSignal): Promise<AnyAnswer> {
    return await within(this.#clock, timeoutMs, stop, async (signal) => {
      const { statusCode: status, headers, body } = await this.#request(this.#requests, request, signal);
      return {
        status,
        headers,
        byNode: timestampOf(headers) !== undefined,
        retryAfterMs: retryAfterOf(headers),
        body: await this.#read(body, request),
      };
    });
  }

  /** Like `ask`, but only the status matters: a body that breaks off or never ends is not an error. */
  async askStatus(request: NodeRequest, timeoutMs: number, stop: AbortSignal): Promise<StatusAnswer> {
    return await within(this.#clock, timeoutMs, stop, async (signal) => {
      const { statusCode: status, body } = await this.#send(this.#requests, request, signal);
      if (status >= 200 && status < 300) {
        this.#discard(body);
        return { status, text: '' };
      }
      const text = await within(this.#clock, this.limits.bodyTimeoutMs, signal, (soon) => readText(body, soon)).catch(
        () => '',
      );
      return { status, text: quote(hidePath(text, this.address)) };
    });
  }

  /**
   * Requests an event stream over a separate connection. The stream lasts until the node ends it or `stop` fires.
   * @returns the status. If it is 200, also the body in chunks: iterating over the body can throw any error
   * @throws NodeError if no node answers, or if the status is 429 or 5xx
   */
  async openStream(
    request: NodeRequest,
    stop: AbortSignal,
  ): Promise<{ readonly status: number; readonly body?: AsyncIterable<Uint8Array> }> {
    const { statusCode: status, body } = await this.#send(this.#streams, request, stop);
    if (status === 200) return { status, body };
    this.#discard(body);
    return { status };
  }

  /**
   * Sends a small request to find out whether the node answers.
   * @throws NodeError if no node answers within `probeTimeoutMs`, or if the status is 429 or 5xx
   */
  async ping(stop: AbortSignal): Promise<void> {
    const request: NodeRequest = { method: 'GET', path: HEALTH_PATH, headers: { accept: 'text/plain, */*' } };
    await within(this.#clock, this.limits.probeTimeoutMs, stop, async (signal) => {
      const { body } = await this.#send(this.#requests, request, signal);
      this.#discard(body);
    });
  }

  /** The monotonic time at which the node last answered; -∞ before the first answer. */
  get lastAnswerMs(): number {
    return this.#lastAnswerMs;
  }

  /**
   * Replaces the connections. Called after a suspension of this machine, during which the node may have closed the old
   * connections.
   */
  renewConnections(): void {
    for (const pool of [this.#requests, this.#streams]) pool.close().catch(() => {});
    this.#requests = this.#requestPool();
    this.#streams = this.#streamPool();
  }

  /** Closes all connections, even those with a request in progress. */
  async close(): Promise<void> {
    await Promise.all([this.#requests.destroy(), this.#streams.destroy()]);
  }

  #requestPool(): Transport {
    const { mostAnswerBytes = MAX_ANSWER_BYTES } = this.#options;
    const bound: ReadingBound = {
      bytes: HTTP_SHARE * mostAnswerBytes + HTTP_BYTES,
      bytesPerSecond: 0,
      fault: `${this.address.origin} sent far more than the specification allows.`,
    };
    return this.#pool(bound, { connections: MAX_CONNECTIONS });
  }

  /**
   * Undici's time limits are off, because a stream can be without data for minutes. The caller limits the age of a
   * stream.
   */
  #streamPool(): Transport {
    const bound: ReadingBound = {
      bytes: STREAM_BYTES,
      bytesPerSecond: STREAM_BYTES_PER_SECOND,
      fault: 'the update stream sends far more data than the announcement of blocks needs.',
    };
    return this.#pool(bound, { headersTimeout: 0, bodyTimeout: 0 });
  }

  #pool(bound: ReadingBound, options: Pool.Options): Transport {
    const { origin } = this.address;
    const { trust = BY_AUTHORITY, isStranger, transport } = this.#options;
    if (transport) return transport(origin);
    const { connectTimeoutMs: timeoutMs } = this.limits;
    const nowMs = () => this.#clock.monotonicMs();
    const connect = connectorFor(origin, { trust, timeoutMs, bound, nowMs, isStranger });
    return new Pool(origin, { connect, keepAliveTimeout: KEEP_ALIVE_MS, pipelining: 1, ...options });
  }

  /** @throws NodeError if no node answers, or if the status is 429 or 5xx */
  async #send(pool: Transport, request: NodeRequest, signal: AbortSignal): Promise<Response> {
    const response = await this.#request(pool, request, signal);
    const fault = faultOf(response, request.path, this.address);
    if (!fault) return response;
    this.#discard(response.body);
    throw fault;
  }

  async #request(pool: Transport, request: NodeRequest, signal: AbortSignal): Promise<Response> {
    const { userAgent = 'pickaxe' } = this.#options;
    const askedAtMs = this.#clock.monotonicMs();
    let response: Response;
    try {
      const headers = { 'user-agent': userAgent, ...request.headers };
      // `reset: false` keeps the connection open. By default, undici closes it after a GET with a body, and the next
      // work would have to wait for a new connection.
      const { method, path, body = null } = request;
      response = await pool.request({ method, path, body, headers, signal, reset: false });
    } catch (error) {
      throw networkError(error, this.address.origin, request.shownUrl, this.#everAnswered);
    }
    this.#everAnswered = true;
    const timestamp = timestampOf(response.headers);
    if (timestamp !== undefined) {
      this.nodeClock.observe(timestamp, askedAtMs);
      this.#lastAnswerMs = this.#clock.monotonicMs();
    }
    return response;
  }

  /** @throws NodeError if the connection breaks, the time is over, or the body is too long */
  async #read(body: Response['body'], { mostAnswerBytes = MAX_ANSWER_BYTES, shownUrl }: NodeRequest): Promise<Buffer> {
    const { origin } = this.address;
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > mostAnswerBytes)
          throw new NodeError('not understood', `${origin} sent far more than the specification allows.`);
        chunks.push(chunk);
      }
    } catch (error) {
      throw networkError(error, origin, shownUrl);
    }
    return Buffer.concat(chunks, bytes);
  }

  /**
   * Reads and drops a body in the background. Its connection can be used again, unless the body is too long or takes
   * too long.
   */
  #discard(body: Response['body']): void {
    const drop = (signal: AbortSignal) => body.dump({ limit: MAX_IGNORED_BYTES, signal });
    within(this.#clock, this.limits.bodyTimeoutMs, NEVER, drop).catch(() => {});
  }
}

/**
 * @returns why the answer cannot be used: because its status is 429 or 5xx, or because it is not from a node. Undefined
 *   if it can be used
 */
function faultOf({ statusCode: status, headers }: Response, path: string, address: NodeAddress): NodeError | undefined {
  const byNode = timestampOf(headers) !== undefined;
  if (status === 429 || status >= 500) {
    const isBusy = status === 429 || status === 503;
    const what = `${isBusy ? 'is busy' : 'failed'} (${status} for ${hidePath(path, address)})`;
    return new NodeError(status === 429 ? 'too many requests' : 'failed', `${address.name} ${what}.`, {
      status,
      retryAfterMs: retryAfterOf(headers),
      retryable: true,
      // A node that is busy has not carried out the request. A busy gateway may have passed the request on to its node.
      mayHaveBeenTaken: !(isBusy && byNode),
    });
  }
  if (byNode) return undefined;
  // On a port for TLS, nginx answers a request without TLS with 400, and Warp, the web server in real nodes, with 426.
  const mayNeedTls = address.origin.startsWith('http:') && (status === 400 || status === 426);
  const hint = mayNeedTls
    ? 'A port that expects TLS answers like this: should the URL begin with https://?'
    : 'The headers of a node are missing. Is there a login page or a proxy in between, or is the URL wrong?';
  return new NodeError('not a node', `what answers at ${address.origin} (${status}) is not a node. ${hint}`, {
    status,
  });
}

/**
 * Reads the beginning of a body, slightly more than `MAX_IGNORED_BYTES` at most.
 * @throws Error if the connection breaks or `stop` fires
 */
async function readText(body: Response['body'], stop: AbortSignal): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const release = onAbort(stop, () => body.destroy());
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_IGNORED_BYTES) break;
    }
  } finally {
    release();
  }
  return Buffer.concat(chunks).toString();
}

/**
 * @returns the time in the header `x-server-timestamp`, in seconds since the UNIX epoch. Every answer of a node has
 *   this header (document 1, "Conventions", 4). Undefined if the header is missing or malformed
 */
function timestampOf(headers: Response['headers']): bigint | undefined {
  const value = headers['x-server-timestamp'];
  // 11 digits of seconds cover three thousand years.
  return typeof value === 'string' && /^\d{1,11}$/.test(value) ? BigInt(value) : undefined;
}

/**
 * @returns the pause in the header `retry-after`, in milliseconds. Undefined if the header is missing, or is not a
 *   number of seconds with at most 6 digits: it can also be a date (RFC 9110 §10.2.3)
 */
function retryAfterOf(headers: Response['headers']): number | undefined {
  const value = headers['retry-after'];
  return typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined;
}
