/**
 * HTTP/1.1 to one node. Undici's request function replaces fetch, which refuses a GET with a body, as two of the mining
 * endpoints need.
 */

import { type Dispatcher, Pool } from 'undici';
import { BY_AUTHORITY, type Trust } from '../../base/net/tls-trust.ts';
import { onAbort, within } from '../../base/system/abort.ts';
import { type Clock, systemClock } from '../../base/system/clock.ts';
import { NodeClock } from './node-clock.ts';
import { NodeError, networkError, quote } from './node-error.ts';
import { type NodeLimits, nodeLimits } from './request-limits.ts';
import { connectorFor, type ReadingBound } from './tls.ts';
import { HEALTH_PATH, hidePath, type NodeAddress } from './url.ts';

interface NodeHttpOptions {
  readonly address: NodeAddress;
  /** How to trust an https node's certificate. Default: signed by an authority. */
  readonly trust?: Trust;
  readonly userAgent?: string;
  readonly nodeClock?: NodeClock;
  readonly clock?: Clock;
  readonly limits?: NodeLimits;
  /** Maximum length of any answer's body, in bytes. Default: 1 MiB. */
  readonly mostAnswerBytes?: number;
  /** Whether only untrusted peers have named the node. */
  readonly isStranger?: boolean;
}

export interface NodeRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** The path, from the host root. */
  readonly path: string;
  /** The URL in messages. Default: the node's origin. */
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
  /** Whether the answer has the headers of a node. */
  readonly byNode: boolean;
  /** The pause in `retry-after`. */
  readonly retryAfterMs: number | undefined;
}

export interface StatusAnswer {
  readonly status: number;
  /** The beginning of the body, for people. Empty if the status is 2xx or no body came. */
  readonly text: string;
}

/** Time for which idle connections are kept for the next New Cut. Real nodes close them after 30 s. */
const KEEP_ALIVE_MS = 25_000;
/** One or two connections are usual. More are needed when submissions hang, so that no work request waits for them. */
const MAX_CONNECTIONS = 64;
/** While mining, the longest valid answer is that of `/config`, with tens of kilobytes. */
const MAX_ANSWER_BYTES = 1_048_576;
/** Overhead of HTTP on the longest answer: interim answers, the head, and a fourth for the sizes of small chunks. */
const HTTP_BYTES = 65_536;
const HTTP_SHARE = 1.25;
/** A New Cut has 15 bytes, and a chain has one every few seconds. A stream that sends more than this is a flood. */
const STREAM_BYTES = 65_536;
const STREAM_BYTES_PER_SECOND = 4_000;
/** Maximum number of bytes of an ignored body that are read before its connection is closed. */
const MAX_IGNORED_BYTES = 16_384;

type Response = Dispatcher.ResponseData;

export class NodeHttp {
  readonly address: NodeAddress;
  readonly limits: NodeLimits;
  readonly nodeClock: NodeClock;
  readonly #options: NodeHttpOptions;
  readonly #clock: Clock;
  #requests: Pool;
  #streams: Pool;
  #lastAnswerMs = Number.NEGATIVE_INFINITY;
  /** Whether anything has answered, even if that was no node. */
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

  /** Reads the whole answer. @throws NodeError if it did not come in time, or the node cannot answer now (429, 5xx) */
  async ask(request: NodeRequest, timeoutMs: number, stop: AbortSignal): Promise<NodeAnswer> {
    return await within(timeoutMs, stop, async (signal) => {
      const { statusCode: status, body } = await this.#send(this.#requests, request, signal);
      return { status, body: await this.#read(body, request) };
    });
  }

  /**
   * Like `ask`, but with any status, and even if the answer is not from a node.
   * @throws NodeError if no answer came in time, or it was too long
   */
  async askAny(request: NodeRequest, timeoutMs: number, stop: AbortSignal): Promise<AnyAnswer> {
    return await within(timeoutMs, stop, async (signal) => {
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

  /** Like `ask`, but only the status matters, so a body that breaks or never ends does no harm. */
  async askStatus(request: NodeRequest, timeoutMs: number, stop: AbortSignal): Promise<StatusAnswer> {
    return await within(timeoutMs, stop, async (signal) => {
      const { statusCode: status, body } = await this.#send(this.#requests, request, signal);
      if (status >= 200 && status < 300) {
        this.#discard(body);
        return { status, text: '' };
      }
      const text = await within(this.limits.bodyTimeoutMs, signal, (soon) => readText(body, soon)).catch(() => '');
      return { status, text: quote(hidePath(text, this.address)) };
    });
  }

  /**
   * Requests an endless body, over a separate connection, until the node ends it or `stop` fires.
   * @returns with status 200, the body in chunks. Reading it can throw any error
   * @throws NodeError if the node did not answer, or cannot answer now (429, 5xx)
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

  /** Sends the smallest possible request. @throws NodeError if no usable node answers */
  async ping(stop: AbortSignal): Promise<void> {
    const request: NodeRequest = { method: 'GET', path: HEALTH_PATH, headers: { accept: 'text/plain, */*' } };
    await within(this.limits.probeTimeoutMs, stop, async (signal) => {
      const { body } = await this.#send(this.#requests, request, signal);
      this.#discard(body);
    });
  }

  /** The monotonic time of the node's last answer; -∞ before the first. */
  get lastAnswerMs(): number {
    return this.#lastAnswerMs;
  }

  /** Replaces the connections after a suspension, during which the node may have closed the old ones. */
  renewConnections(): void {
    for (const pool of [this.#requests, this.#streams]) pool.close().catch(() => {});
    this.#requests = this.#requestPool();
    this.#streams = this.#streamPool();
  }

  /** Closes all connections, even those with a request in progress. */
  async close(): Promise<void> {
    await Promise.all([this.#requests.destroy(), this.#streams.destroy()]);
  }

  #requestPool(): Pool {
    const { mostAnswerBytes = MAX_ANSWER_BYTES } = this.#options;
    const bound: ReadingBound = {
      bytes: HTTP_SHARE * mostAnswerBytes + HTTP_BYTES,
      bytesPerSecond: 0,
      fault: `${this.address.origin} sent far more than the specification allows.`,
    };
    return this.#pool(bound, { connections: MAX_CONNECTIONS });
  }

  /**
   * Streams can be without data for minutes, so undici's time limits are off, and the caller limits a stream's age.
   */
  #streamPool(): Pool {
    const bound: ReadingBound = {
      bytes: STREAM_BYTES,
      bytesPerSecond: STREAM_BYTES_PER_SECOND,
      fault: 'the update stream sends far more data than the announcement of blocks needs.',
    };
    return this.#pool(bound, { headersTimeout: 0, bodyTimeout: 0 });
  }

  #pool(bound: ReadingBound, options: Pool.Options): Pool {
    const { origin } = this.address;
    const { trust = BY_AUTHORITY, isStranger } = this.#options;
    const { connectTimeoutMs: timeoutMs } = this.limits;
    const nowMs = () => this.#clock.monotonicMs();
    const connect = connectorFor(origin, { trust, timeoutMs, bound, nowMs, isStranger });
    return new Pool(origin, { connect, keepAliveTimeout: KEEP_ALIVE_MS, pipelining: 1, ...options });
  }

  /** @throws NodeError unless a node itself has answered, with a status other than 429 and 5xx */
  async #send(pool: Pool, request: NodeRequest, signal: AbortSignal): Promise<Response> {
    const response = await this.#request(pool, request, signal);
    const fault = faultOf(response, request.path, this.address);
    if (!fault) return response;
    this.#discard(response.body);
    throw fault;
  }

  async #request(pool: Pool, request: NodeRequest, signal: AbortSignal): Promise<Response> {
    const { userAgent = 'pickaxe' } = this.#options;
    const askedAtMs = this.#clock.monotonicMs();
    let response: Response;
    try {
      const headers = { 'user-agent': userAgent, ...request.headers };
      // By default, undici closes the connection after a GET with a body. A new one would delay the next work.
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

  /** @throws NodeError if the connection breaks, or the body is too long */
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

  /** Reads an ignored body in the background, so that its connection can be used again unless the body is too long. */
  #discard(body: Response['body']): void {
    const signal = AbortSignal.timeout(this.limits.bodyTimeoutMs);
    body.dump({ limit: MAX_IGNORED_BYTES, signal }).catch(() => {});
  }
}

/** @returns why the answer cannot be used: its status, or not from a node; undefined if it can be used */
function faultOf({ statusCode: status, headers }: Response, path: string, address: NodeAddress): NodeError | undefined {
  const byNode = timestampOf(headers) !== undefined;
  if (status === 429 || status >= 500) {
    const isBusy = status === 429 || status === 503;
    const what = `${isBusy ? 'is busy' : 'failed'} (${status} for ${hidePath(path, address)})`;
    return new NodeError(status === 429 ? 'too many requests' : 'failed', `${address.name} ${what}.`, {
      status,
      retryAfterMs: retryAfterOf(headers),
      retryable: true,
      // A busy gateway may have passed the request on to the node.
      mayHaveBeenTaken: !(isBusy && byNode),
    });
  }
  if (byNode) return undefined;
  // nginx answers 400 to HTTP without TLS on a port for TLS, and Warp 426.
  const mayNeedTls = address.origin.startsWith('http:') && (status === 400 || status === 426);
  const hint = mayNeedTls
    ? 'A port that expects TLS answers like this: should the URL begin with https://?'
    : 'The headers of a node are missing. Is there a login page or a proxy in between, or is the URL wrong?';
  return new NodeError('not a node', `what answers at ${address.origin} (${status}) is not a node. ${hint}`, {
    status,
  });
}

/** Reads the beginning of a body. @throws Error if the connection breaks, or `stop` fires */
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
 * Reads the time that every answer of a node has (document 1, "Conventions", 4). @returns seconds since the UNIX epoch
 */
function timestampOf(headers: Response['headers']): bigint | undefined {
  const value = headers['x-server-timestamp'];
  // 11 digits are enough for three thousand years.
  return typeof value === 'string' && /^\d{1,11}$/.test(value) ? BigInt(value) : undefined;
}

/** Reads `retry-after` in its form with seconds (RFC 9110 §10.2.3). @returns milliseconds */
function retryAfterOf(headers: Response['headers']): number | undefined {
  const value = headers['retry-after'];
  return typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined;
}
