/**
 * Sends one request of the API to the side of the node that serves it, sends it again when a failure may pass, and checks the
 * answer. A node has two sides with URLs of their own: the service port (blocks, hashes, commands) and the P2P port (peers,
 * configuration, publishing cuts). Documents 1 and 2 know one base URL for everything.
 */

import { type ExactJson, parseExactJsonBytes } from '../../ledger/exact-json.ts';
import type { Dialect } from '../../ledger/header-json.ts';
import { oneLine } from '../../text/one-line.ts';
import { networkError } from '../errors.ts';
import type { AnyAnswer, NodeHttp, NodeRequest } from '../http.ts';
import { HEALTH_PATH, hidePath, shownPath } from '../url.ts';
import { ApiError, notUnderstood, statusError, transportError } from './api-error.ts';
import { basePathOf, type DialectSetting, dialectOfAddress, dialectOfHeaders, nodeVersionIn } from './dialect.ts';
import type { ApiLimits } from './limits.ts';
import { withRetries } from './retry.ts';

/** At least one of the two. */
export interface Sides {
  readonly service?: NodeHttp;
  readonly p2p?: NodeHttp;
}

export interface AskerOptions {
  readonly sides: Sides;
  readonly network: string;
  readonly dialect: DialectSetting;
  readonly limits: ApiLimits;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
}

/** One request of the API. */
export interface Call<T> {
  /** Which side of the node serves it. */
  readonly side: 'service' | 'p2p' | 'both';
  readonly method?: NodeRequest['method'];
  /** With a slash in front it starts at the host root, otherwise at the path of the API. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
  readonly accept?: string;
  readonly timeoutMs?: number;
  /** Whether the answer has blocks, payloads or results, which may be long. */
  readonly isLong?: boolean;
  /** What the answer must be: by default any with 2xx. */
  readonly isAnswer?: (status: number) => boolean;
  /** Whether it is sent again when a failure may pass: not where that could do something twice. */
  readonly isRepeatable?: boolean;
  /** Whether what is asked for may appear a moment later, so that a 404 is no answer yet. */
  readonly mayAppear?: boolean;
  /** @throws LedgerFormatError when the answer is not understood. */
  readonly read: (answer: AnyAnswer) => T;
}

/** The most characters of a header that are kept. */
const MAX_SHOWN = 100;

const isSuccess = (status: number) => status >= 200 && status < 300;

/** Reads an answer in JSON. */
export function json<T>(read: (value: ExactJson) => T): Call<T>['read'] {
  return ({ body }) => read(parseExactJsonBytes(body));
}

/** Reads an answer of which nothing but the status matters. */
export function nothing(): void {}

export class Asker {
  readonly limits: ApiLimits;
  readonly network: string;
  /** The version of the node's software, once it has answered. */
  nodeVersion: string | undefined;
  /** How many answers the node has given so far. */
  answers = 0;
  /** Our own address, as the node's P2P side has seen it. */
  seenAs: string | undefined;
  readonly #sides: Sides;
  readonly #random: () => number;
  #dialect: Dialect | undefined;

  constructor({ sides, network, dialect, limits, random }: AskerOptions) {
    this.limits = limits;
    this.network = network;
    this.#sides = sides;
    this.#random = random;
    const ofUrl = [sides.service, sides.p2p].map((side) => side && dialectOfAddress(side.address));
    this.#dialect = dialect === 'auto' ? (ofUrl[0] ?? ofUrl[1]) : dialect;
  }

  /** What the node is called in messages: its URL, shortened. */
  get name(): string {
    const { service, p2p } = this.#sides;
    return (service ?? p2p)!.address.name;
  }

  /** @throws ApiError, or the reason of `stop` */
  async ask<T>(call: Call<T>, stop: AbortSignal): Promise<T> {
    const http = await this.#sideFor(call, stop);
    const base = call.path.startsWith('/') ? '' : `${await this.#basePath(http, stop)}/`;
    const request: NodeRequest = {
      method: call.method ?? 'GET',
      path: base + call.path,
      headers: {
        accept: call.accept ?? 'application/json',
        ...(call.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(call.body !== undefined && { body: call.body }),
    };
    const once = () => this.#answerOf(http, request, call, stop);
    const patient = () => this.#untilThere(once, stop);
    return await this.#whileItMayPass(call.mayAppear ? patient : once, call.isRepeatable ?? true, stop);
  }

  /**
   * The node's dialect. Unless it is set or in the URL, the node is asked for anything, to see its headers.
   * @throws ApiError
   */
  async dialect(stop: AbortSignal): Promise<Dialect> {
    if (this.#dialect) return this.#dialect;
    const http = this.#sides.service ?? this.#sides.p2p!;
    const request: NodeRequest = { method: 'GET', path: HEALTH_PATH, headers: { accept: 'text/plain, */*' } };
    const ask = async () => {
      const answer = await this.#exchange(http, request, this.limits.answerTimeoutMs, stop);
      const error = statusError(answer, this.#shown(http, request), (text) => hidePath(text, http.address));
      if (dialectOfHeaders(answer.headers) === undefined && error.retryable) throw error;
      return dialectOfHeaders(answer.headers) ?? 'document';
    };
    this.#dialect = await this.#whileItMayPass(ask, true, stop);
    return this.#dialect;
  }

  /** Closes all connections, even those with a request under way. */
  async close(): Promise<void> {
    await Promise.all([this.#sides.service?.close(), this.#sides.p2p?.close()]);
  }

  /** Where documents 1 and 2 know one base URL, either side has to do for both. */
  async #sideFor({ side, path }: Call<unknown>, stop: AbortSignal): Promise<NodeHttp> {
    const { service, p2p } = this.#sides;
    const proper = { service, p2p, both: service ?? p2p }[side];
    if (proper) return proper;
    const other = (service ?? p2p)!;
    if ((await this.dialect(stop)) === 'document') return other;
    const [what, needed] = side === 'p2p' ? ['P2P', 'P2P URL'] : ['service', 'service URL'];
    throw new ApiError(
      'no such side',
      `${path} is served by the ${what} port of a node, but for ${other.address.name} only the other port is known: ` +
        `give the node’s ${needed}, too.`,
    );
  }

  async #basePath({ address }: NodeHttp, stop: AbortSignal): Promise<string> {
    return address.isPathGiven ? address.basePath : basePathOf(await this.dialect(stop), address.network);
  }

  async #answerOf<T>(http: NodeHttp, request: NodeRequest, call: Call<T>, stop: AbortSignal): Promise<T> {
    const { answerTimeoutMs, mostAnswerBytes, mostShortAnswerBytes } = this.limits;
    const most = call.isLong ? mostAnswerBytes : Math.min(mostAnswerBytes, mostShortAnswerBytes);
    const answer = await this.#exchange(
      http,
      { ...request, mostAnswerBytes: most },
      call.timeoutMs ?? answerTimeoutMs,
      stop,
    );
    const { isAnswer = isSuccess, read } = call;
    const where = this.#shown(http, request);
    if (!isAnswer(answer.status)) throw statusError(answer, where, (text) => hidePath(text, http.address));
    try {
      return read(answer);
    } catch (error) {
      throw notUnderstood(error, answer, where);
    }
  }

  async #exchange(http: NodeHttp, request: NodeRequest, timeoutMs: number, stop: AbortSignal): Promise<AnyAnswer> {
    try {
      const answer = await http.askAny(request, timeoutMs, stop);
      this.#notice(answer);
      return answer;
    } catch (error) {
      stop.throwIfAborted();
      const { origin } = http.address;
      throw transportError(networkError(error, origin), this.#shown(http, request));
    }
  }

  #notice({ headers }: AnyAnswer): void {
    this.answers += 1;
    const version = nodeVersionIn(headers);
    if (version !== undefined) this.nodeVersion = oneLine(version, MAX_SHOWN);
    const seenAs = headers['x-peer-addr'];
    if (typeof seenAs === 'string') this.seenAs = oneLine(seenAs, MAX_SHOWN);
  }

  #whileItMayPass<T>(attempt: () => Promise<T>, isRepeatable: boolean, stop: AbortSignal): Promise<T> {
    const { attempts, pauses } = this.limits;
    const mayPass = ({ retryable }: ApiError) => retryable && isRepeatable;
    return withRetries(attempt, { attempts, pauses, random: this.#random, mayPass }, stop);
  }

  #untilThere<T>(attempt: () => Promise<T>, stop: AbortSignal): Promise<T> {
    const { freshPayloadAttempts: attempts, freshPayloadPauseMs: pauseMs } = this.limits;
    const pauses = { firstMs: pauseMs, mostMs: pauseMs };
    const mayPass = ({ kind }: ApiError) => kind === 'not found';
    return withRetries(attempt, { attempts, pauses, random: this.#random, mayPass }, stop);
  }

  /** @returns the URL of a request for people, without its query */
  #shown({ address }: NodeHttp, { path }: NodeRequest): string {
    const [bare] = path.split('?');
    const isBelow = address.isPathGiven && bare.startsWith(`${address.basePath}/`);
    const shown = isBelow ? shownPath(address.basePath) + bare.slice(address.basePath.length) : bare;
    return `${address.origin}${shown}`;
  }
}
