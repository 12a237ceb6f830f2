/**
 * Sends each request to the right port of a node, repeats it after failures that may pass, and checks the answer. A
 * node has two ports, called sides, each with its own URL: the service port (blocks, hashes, commands) and the P2P port
 * (peers, configuration, publishing cuts). In documents 1 and 2, a node has one base URL for everything.
 */

import { Backoff, type BackoffLimits } from '../../base/net/backoff.ts';
import { pause } from '../../base/system/abort.ts';
import type { Clock } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { Dialect } from '../../protocol/ledger/header.ts';
import { type ExactJson, HASH_TEXT, parseExactJsonBytes } from '../../protocol/ledger/json.ts';
import type { AnyAnswer, NodeHttp, NodeRequest } from './exchange.ts';
import { NodeError, notUnderstood, statusError } from './node-error.ts';
import type { ApiLimits } from './request-limits.ts';
import { basePathOf, dialectOfPath, HEALTH_PATH, hidePath, shownPath } from './url.ts';

/** The clients of a node's two ports. At least one of them is present. */
interface Sides {
  readonly service?: NodeHttp;
  readonly p2p?: NodeHttp;
}

interface AskerOptions {
  readonly sides: Sides;
  readonly network: string;
  readonly dialect: DialectSetting;
  readonly limits: ApiLimits;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface Call<T> {
  readonly side: 'service' | 'p2p' | 'both';
  readonly method?: NodeRequest['method'];
  /** A path with a leading slash starts at the host root. Any other path is below the path of the API. */
  readonly path: string;
  /** The body, as JSON text. */
  readonly body?: string;
  readonly accept?: string;
  readonly timeoutMs?: number;
  /** Whether the answer contains blocks, payloads or results, which may be long. */
  readonly isLong?: boolean;
  /**
   * Whether `read` is called for an answer with this status. For any other status, a NodeError is thrown. Default: 2xx.
   */
  readonly isAnswer?: (status: number) => boolean;
  /** Whether the request may be sent again after a failure that may pass. Default: true. */
  readonly isRepeatable?: boolean;
  /** Whether a missing item may appear a moment later. If so, the request is repeated after a 404. */
  readonly mayAppear?: boolean;
  /** @throws LedgerFormatError if the answer cannot be understood */
  readonly read: (answer: AnyAnswer) => T;
}

/** Maximum number of characters that are kept of a header's value. */
const MAX_SHOWN = 100;

const isSuccess = (status: number) => status >= 200 && status < 300;

export function json<T>(read: (value: ExactJson) => T): Call<T>['read'] {
  return ({ body }) => read(parseExactJsonBytes(body));
}

/** A `read` for calls that need no more of the answer than its status. */
export function nothing(): void {}

export class Asker {
  readonly limits: ApiLimits;
  readonly network: string;
  nodeVersion: string | undefined;
  answers = 0;
  seenAs: string | undefined;
  readonly #sides: Sides;
  readonly #clock: Clock;
  readonly #random: () => number;
  #dialect: Dialect | undefined;

  constructor({ sides, network, dialect, limits, clock, random }: AskerOptions) {
    this.limits = limits;
    this.network = network;
    this.#sides = sides;
    this.#clock = clock;
    this.#random = random;
    const ofUrl = [sides.service, sides.p2p].map((side) => side && dialectOfPath(side.address));
    this.#dialect = dialect === 'auto' ? (ofUrl[0] ?? ofUrl[1]) : dialect;
  }

  /** The node's name in messages: the shortened URL of its service port, or of its P2P port if that is the only one. */
  get name(): string {
    const { service, p2p } = this.#sides;
    return (service ?? p2p)!.address.name;
  }

  /** @throws NodeError, or the reason of `stop` */
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
   * @returns the dialect that the options or a URL give. If they give none, a request is sent, and the headers of the
   *   answer show the dialect. If they do not show it: `document`
   * @throws NodeError
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

  async close(): Promise<void> {
    await Promise.all([this.#sides.service?.close(), this.#sides.p2p?.close()]);
  }

  /**
   * Chooses the port for a call. If the URL of the proper port is not known, the other port is used in the dialect of
   * documents 1 and 2, because there a node has only one port.
   * @throws NodeError: `no such side` if the other port cannot be used
   */
  async #sideFor({ side, path }: Call<unknown>, stop: AbortSignal): Promise<NodeHttp> {
    const { service, p2p } = this.#sides;
    const proper = { service, p2p, both: service ?? p2p }[side];
    if (proper) return proper;
    const other = (service ?? p2p)!;
    if ((await this.dialect(stop)) === 'document') return other;
    const [what, needed] = side === 'p2p' ? ['P2P', 'P2P URL'] : ['service', 'service URL'];
    throw new NodeError(
      'no such side',
      `${path} is served by the ${what} port of a node, but for ${other.address.name} only the other port is known: ` +
        `give the node’s ${needed}, too.`,
    );
  }

  async #basePath({ address }: NodeHttp, stop: AbortSignal): Promise<string> {
    return address.givenPath ?? basePathOf(await this.dialect(stop), address.network);
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
      const answer = await http.askAny({ ...request, shownUrl: this.#shown(http, request) }, timeoutMs, stop);
      this.#notice(answer);
      return answer;
    } catch (error) {
      stop.throwIfAborted();
      throw error;
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
    const mayPass = ({ retryable }: NodeError) => retryable && isRepeatable;
    return withRetries(attempt, { attempts, pauses, clock: this.#clock, random: this.#random, mayPass }, stop);
  }

  #untilThere<T>(attempt: () => Promise<T>, stop: AbortSignal): Promise<T> {
    const { freshPayloadAttempts: attempts, freshPayloadPauseMs: pauseMs } = this.limits;
    const pauses = { firstMs: pauseMs, mostMs: pauseMs };
    const mayPass = ({ kind }: NodeError) => kind === 'not found';
    return withRetries(attempt, { attempts, pauses, clock: this.#clock, random: this.#random, mayPass }, stop);
  }

  /** @returns the URL of a request as people may see it: shortened, and without the query */
  #shown({ address }: NodeHttp, { path }: NodeRequest): string {
    const [bare] = path.split('?');
    const { origin, givenPath } = address;
    if (givenPath === undefined || !bare.startsWith(`${givenPath}/`)) return origin + bare;
    return origin + shownPath(givenPath) + bare.slice(givenPath.length);
  }
}

/* Retries. */

interface RetryPolicy {
  readonly attempts: number;
  readonly pauses: BackoffLimits;
  readonly clock: Clock;
  readonly random: () => number;
  readonly mayPass: (error: NodeError) => boolean;
}

/**
 * @throws the error of the last attempt. In a NodeError, `mayHaveBeenTaken` is true if it was true in the error of any
 *   attempt. If `stop` fires before an attempt, the reason of `stop` is thrown
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { attempts, pauses, clock, random, mayPass }: RetryPolicy,
  stop: AbortSignal,
): Promise<T> {
  const backoff = new Backoff(pauses, random);
  let mayHaveBeenTaken = false;
  for (let left = attempts - 1; ; left--) {
    stop.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      mayHaveBeenTaken ||= error.mayHaveBeenTaken;
      if (left <= 0 || !mayPass(error)) {
        if (mayHaveBeenTaken === error.mayHaveBeenTaken) throw error;
        throw new NodeError(error.kind, error.message, { ...error, cause: error.cause, mayHaveBeenTaken });
      }
      await pause(clock, backoff.nextMs(error.retryAfterMs), stop);
    }
  }
}

/* Paths and queries. */

/** The highest chain number that fits into a header. */
const MAX_CHAIN = 2 ** 32 - 1;

/** A range of heights. Both bounds are included. Without a bound, the range is not limited on that side. */
export interface HeightRange {
  readonly minHeight?: number | bigint;
  readonly maxHeight?: number | bigint;
}

/** @throws RangeError unless the chain is a whole number from 0 to `MAX_CHAIN` */
export function chainPath(chain: number, rest: string): string {
  if (!Number.isInteger(chain) || chain < 0 || chain > MAX_CHAIN) throw new RangeError(`${chain} is not a chain`);
  return `chain/${chain}/${rest}`;
}

/**
 * @param values numbers must be whole and not negative; undefined values are left out
 * @returns the query with its question mark; empty if no value is left
 * @throws RangeError for other numbers
 */
export function query(values: Readonly<Record<string, string | number | bigint | boolean | undefined>>): string {
  const pairs = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const isWrong = typeof value === 'bigint' ? value < 0n : typeof value === 'number' && !isNatural(value);
      if (isWrong) throw new RangeError(`${name} must be a whole number from 0 on, not ${value}`);
      return `${name}=${value}`;
    });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** A number of blocks at one height that no chain reaches. */
const MOST_AT_A_HEIGHT = 1000n;

/**
 * @returns the range as parameters of a query, and the maximum number of blocks in it (undefined for a range without an
 *   upper bound)
 */
export function heights({ minHeight, maxHeight }: HeightRange) {
  const query = { minheight: minHeight, maxheight: maxHeight };
  if (maxHeight === undefined) return { query, most: undefined };
  const count = BigInt(maxHeight) - BigInt(minHeight ?? 0) + 1n;
  return { query, most: count > 0n ? count * MOST_AT_A_HEIGHT : 0n };
}

export function isInRange(height: bigint, { minHeight = 0, maxHeight = height }: HeightRange): boolean {
  return height >= minHeight && height <= maxHeight;
}

/** @throws RangeError unless the text is 43 characters of base64url */
export function requestKey(text: string): string {
  if (!HASH_TEXT.test(text)) throw new RangeError(`${JSON.stringify(text)} is not a request key`);
  return text;
}

function isNatural(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/*
 * The two dialects of the API: that of documents 1 and 2 (`document`), and that of real nodes (`chainweb`). Answers in
 * either dialect are read; requests depend on the dialect.
 */

/** `auto` takes the dialect from the node's URL, or if the URL does not show it, from the headers of an answer. */
export type DialectSetting = 'auto' | Dialect;

/** Headers by their names in lower case. */
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The path of the endpoints for commands, relative to the path of the whole API (`basePathOf`). Document 2 does not
 * define this path. So for `document`, it is derived from the path at real nodes.
 */
const COMMAND_PATH = {
  document: 'chain/<chain>/flow/api/v1',
  chainweb: 'chain/<chain>/pact/api/v1',
} as const;

/** The headers with the version of a node's software (document 1, "Conventions", 4). */
const VERSION_HEADER = { document: 'x-ledger-node-version', chainweb: 'x-chainweb-node-version' } as const;

function dialectOfHeaders(headers: Headers): Dialect | undefined {
  if (headers[VERSION_HEADER.chainweb] !== undefined) return 'chainweb';
  return headers[VERSION_HEADER.document] !== undefined ? 'document' : undefined;
}

/** @returns the version of the node's software, which is foreign text; undefined if no header has it */
function nodeVersionIn(headers: Headers): string | undefined {
  const value = headers[VERSION_HEADER.chainweb] ?? headers[VERSION_HEADER.document];
  return typeof value === 'string' ? value : undefined;
}

export interface CommandPaths {
  /** The path before `/local`, `/send`, `/poll`, `/listen` and `/private`. */
  readonly commands: string;
  /** The path of `/spv`, which real nodes serve without `api/v1`. */
  readonly proofs: string;
}

/**
 * @param commandPath a path with a leading slash starts at the host root, such as `/api/v1`. Any other path is below
 *   the path of the API, such as `chain/<chain>/pact/api/v1`. Default: the path of the dialect
 */
export function commandPathsOf(dialect: Dialect, chain: number, commandPath?: string): CommandPaths {
  const commands = (commandPath ?? COMMAND_PATH[dialect]).replaceAll('<chain>', `${chain}`).replace(/\/+$/, '');
  return { commands, proofs: `${commands.replace(/(.)\/api\/v1$/, '$1')}/spv` };
}
