/** Access to the HTTP server: limits, reasons for refusals, tokens, hosts, headers and errors. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyError } from 'fastify';
import type { Refusals } from '../../base/system/bounded.ts';
import { hostOf, isLoopback } from '../../base/text/addresses.ts';
import type { ErrorAnswer, ErrorCode } from './api-answers.ts';

export interface HttpLimits {
  /** Maximum number of connections at a time. An event stream has one, a scraper or page a few. */
  readonly connections: number;
  /** Maximum number of event streams at a time: enough for some pages and for streams that a proxy has left open. */
  readonly streams: number;
  /** Time between checks of connections. The following times can be exceeded by this time. */
  readonly checkMs: number;
  /** Maximum time for a request to arrive. It is short, because clients are usually in the same network. */
  readonly requestMs: number;
  /** Time for which an idle connection is kept open (Keep-Alive). */
  readonly keepAliveMs: number;
  /** Maximum time between two complete answers, also from connecting to the first one. */
  readonly answerMs: number;
  /** Time without reading, or age of the oldest stream if all are in use, after which a stream is closed. */
  readonly streamMs: number;
  /** Maximum time for nodes to answer with a balance: less than `answerMs`. */
  readonly balanceMs: number;
  /** Time for which a balance, or the failure to get one, is cached. */
  readonly balanceKeptMs: number;
  readonly noBalanceKeptMs: number;
  /** Minimum time between log lines about refusals. */
  readonly logMs: number;
}

/** Together with `checkMs`, a request has 5 s to arrive, and a client has 15 s to read an answer or a stream. */
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

/** Most are codes of error answers. After `crowded`, `pipelined`, `unread` and some `timeout`, no answer is sent. */
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

/** Digests have equal lengths, so that comparing them takes the same time for every token. */
const digest = (text: string) => createHash('sha256').update(text).digest();

/** @returns a check whether an Authorization header has the token */
export function bearerCheck(token: string): (header: string | undefined) => boolean {
  const expected = digest(token);
  return (header) => {
    const [, given] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

/*
 * Accepted Host headers. Any website can have its name resolved to 127.0.0.1 (DNS rebinding), so that its pages may
 * read what is served there. The Host header reveals this, because it has the website's name.
 */

interface HostRule {
  readonly host: string;
  readonly hostname: string;
}

/**
 * A server for other machines requires a token and may be addressed by any IP address, because these cannot be rebound.
 * Ports are ignored, since tunnels change them.
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
  /** Sec-Fetch-Site and Sec-Fetch-Mode (W3C Fetch Metadata). */
  readonly site: string | undefined;
  readonly mode: string | undefined;
}

/**
 * Whether a browser sends the request for a page of another website. Without this check, such a page could pause the
 * miner, though it could not read the answer. Links to the miner are fine.
 */
export function isForeign({ method, host, origin, site, mode }: AskedBy): boolean {
  if (origin !== undefined) return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
  if (method === 'GET' && mode === 'navigate') return false;
  return site === 'cross-site' || site === 'same-site';
}

/* Headers of all answers: nothing may be loaded from another site, cached, or framed */

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
  // Figures change all the time. Answers that may be cached override this.
  'cache-control': 'no-store',
};

/* All errors have one shape: `{"error": {"code", "message"}}` */

export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly code: ErrorCode;

  /** @param message what is wrong and what to do */
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

/** Messages of fastify about a request are sent to the client. Internal faults are not: they belong in the log. */
export function asHttpError(fault: unknown): HttpError {
  if (fault instanceof HttpError) return fault;
  const { statusCode = 500, message } = fault as Partial<FastifyError>;
  if (statusCode < 400 || statusCode >= 500)
    return new HttpError(500, 'internal', 'something went wrong; the log says what');
  return new HttpError(statusCode, CODES[statusCode] ?? 'bad-request', message ?? 'bad request');
}

/** The status for a malformed request, by the error code of Node.js. */
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
