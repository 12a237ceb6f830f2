/** Access to the HTTP server: limits, reasons for refusals, tokens, hosts, headers and errors. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyError } from 'fastify';
import type { Refusals } from '../../base/system/bounded.ts';
import { hostOf, isLoopback } from '../../base/text/addresses.ts';
import type { ErrorAnswer, ErrorCode } from './api-answers.ts';

export interface HttpLimits {
  /** Maximum number of connections at a time. An event stream uses one, a scraper or a page uses a few. */
  readonly connections: number;
  /** Maximum number of event streams at a time: enough for some pages and for streams that a proxy has left open. */
  readonly streams: number;
  /** Time between two checks of connections. A connection can exceed `requestMs` and `answerMs` by this time. */
  readonly checkMs: number;
  /** Maximum time for a request to arrive. It is short, because clients are usually in the same network. */
  readonly requestMs: number;
  /** Time for which an idle connection is kept open (Keep-Alive). */
  readonly keepAliveMs: number;
  /**
   * Maximum time from connecting to the first request, from a request to the end of its answer, and from an answer to
   * the next request. Event streams are exempt.
   */
  readonly answerMs: number;
  /**
   * Time after which an event stream is closed if its client does not read. Also the age from which the oldest stream
   * is closed for a new client while all streams are in use.
   */
  readonly streamMs: number;
  /** Time limit for nodes to answer with a balance. It is less than `answerMs`, so that the client gets an answer. */
  readonly balanceMs: number;
  /** Time for which a balance is cached. */
  readonly balanceKeptMs: number;
  /** Time for which a failure to get a balance is cached. */
  readonly noBalanceKeptMs: number;
  /** Minimum time between log lines about refusals. */
  readonly logMs: number;
}

/** With `checkMs` added, a request must arrive within 5 s, and a client must read an answer within 15 s. */
export const httpLimits: HttpLimits = {
  connections: 64,
  streams: 16,
  checkMs: 1_000,
  requestMs: 4_000,
  keepAliveMs: 10_000,
  answerMs: 14_000,
  streamMs: 14_000,
  balanceMs: 10_000,
  balanceKeptMs: 30_000,
  noBalanceKeptMs: 5_000,
  logMs: 60_000,
};

/* Reasons for which the HTTP server refuses requests and connections */

/**
 * Most of these reasons are also codes of error answers. A request without the right token (`no-token`, `wrong-token`)
 * has the error code `unauthorized`. For `crowded`, `pipelined`, `unread` and some cases of `timeout`, the connection
 * is closed without an answer.
 */
export const REASONS = [
  'bad-request',
  'body-too-large',
  'crowded',
  'forbidden-host',
  'forbidden-origin',
  'headers-too-large',
  'no-token',
  'pipelined',
  'read-only',
  'timeout',
  'too-many-clients',
  'unread',
  'wrong-token',
] as const;
export type Reason = (typeof REASONS)[number];
export type HttpRefusals = Refusals<Reason>;
export type RefusalCounts = HttpRefusals['counts'];

export function isReason(code: string): code is Reason {
  return (REASONS as readonly string[]).includes(code);
}

/* Bearer tokens (RFC 6750 §2.1). */

/**
 * Tokens are compared by their digests. These have equal lengths, so a comparison takes the same time for each token.
 */
const digest = (text: string) => createHash('sha256').update(text).digest();

/** @returns a function that checks whether an Authorization header contains the token */
export function bearerCheck(token: string): (header: string | undefined) => boolean {
  const expected = digest(token);
  return (header) => {
    const [, given] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

/*
 * Accepted Host headers. Any website can make its name resolve to 127.0.0.1 (DNS rebinding), so that browsers let the
 * website's pages read what is served there. The Host header of such a request contains the website's name, so the
 * request can be refused.
 */

interface HostRule {
  /** The configured host on which the server listens. */
  readonly host: string;
  /** The name of this machine. */
  readonly hostname: string;
}

/**
 * @returns whether the Host header is accepted. Loopback hosts and the configured host are always accepted. A server
 *   for other machines also accepts this machine's name, and any IP address, because IP addresses cannot be rebound.
 *   Ports are ignored, because tunnels change them
 */
export function admits({ host, hostname }: HostRule, header: string | undefined): boolean {
  const asked = hostOf(header);
  if (asked === undefined) return false;
  if (isLoopback(asked) || asked === host.toLowerCase()) return true;
  if (isLoopback(host)) return false;
  const own = hostname.toLowerCase();
  return isIP(asked) > 0 || asked === own || asked === `${own}.local`;
}

interface AskedBy {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** The header Sec-Fetch-Site (W3C Fetch Metadata). */
  readonly site: string | undefined;
  /** The header Sec-Fetch-Mode (W3C Fetch Metadata). */
  readonly mode: string | undefined;
}

/**
 * Whether a page of another website has made the browser send the request. Without this check, such a page could pause
 * the miner, although it could not read the answer. Following a link from another website to the miner's page is
 * allowed.
 */
export function isForeign({ method, host, origin, site, mode }: AskedBy): boolean {
  if (origin !== undefined) return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
  if (method === 'GET' && mode === 'navigate') return false;
  return site === 'cross-site' || site === 'same-site';
}

/*
 * Headers of all answers. They forbid browsers to load anything from other sites for the page, and to show answers in
 * frames. They also forbid caching, but a route can allow it.
 */

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  // Figures change all the time. Routes whose answers may be cached override this header.
  'cache-control': 'no-store',
};

/* All errors have one shape: `{"error": {"code", "message"}}` */

export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly code: ErrorCode;

  /** @param message what is wrong and what the client can do, for people */
  constructor(status: number, code: ErrorCode, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  get body(): ErrorAnswer {
    return errorBody(this.code, this.message);
  }
}

function errorBody(code: ErrorCode, message: string): ErrorAnswer {
  return { error: { code, message } };
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'bad-request',
  404: 'not-found',
  405: 'method-not-allowed',
  408: 'timeout',
  413: 'body-too-large',
  414: 'path-too-long',
  415: 'not-json',
  431: 'headers-too-large',
  503: 'unavailable',
};

/**
 * @returns the error to send to the client. An HttpError is returned unchanged. For a fault of the request (4xx), the
 *   error has the message of fastify. An internal fault is not described to the client, because its message is for the
 *   log only
 */
export function asHttpError(fault: unknown): HttpError {
  if (fault instanceof HttpError) return fault;
  const { statusCode = 500, message } = fault as Partial<FastifyError>;
  if (statusCode < 400 || statusCode >= 500)
    return new HttpError(500, 'internal', 'something went wrong; the log says what');
  return new HttpError(statusCode, CODES[statusCode] ?? 'bad-request', message ?? 'bad request');
}

/**
 * @param code the error code of Node.js
 * @returns the HTTP status for a request that is malformed, too long or too slow
 */
function statusOfClientError(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

export function codeOfClientError(code: string | undefined): ErrorCode {
  return CODES[statusOfClientError(code)];
}

export function clientErrorAnswer(code: string | undefined): string {
  const status = statusOfClientError(code);
  const reason = { 400: 'Bad Request', 408: 'Request Timeout', 431: 'Request Header Fields Too Large' }[status];
  const body = JSON.stringify(errorBody(CODES[status], 'this is not an HTTP request that can be served'));
  return [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
