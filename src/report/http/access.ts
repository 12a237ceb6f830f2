/** Who may ask, what a client may cost, and how it is refused: limits, reasons, tokens, hosts, headers and errors. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyError } from 'fastify';
import type { Refusals } from '../../system/bounded.ts';
import { hostOf, isLoopback } from '../../text/addresses.ts';
import type { ErrorAnswer, ErrorCode } from '../answers.ts';

export interface HttpLimits {
  /** Maximum number of connections at one time. Event streams have one each, scrapers and pages a few. */
  readonly connections: number;
  /** Maximum number of event streams at one time: some pages, and some that a proxy has forgotten to close. */
  readonly streams: number;
  /** Time between two checks of connections, which may therefore end this much later than the times below say. */
  readonly checkMs: number;
  /** Time that a request may take to arrive. Clients are near, so one that takes longer is not worth its connection. */
  readonly requestMs: number;
  /** Time for which a connection is kept for the next request, which answers announce (Keep-Alive). */
  readonly keepAliveMs: number;
  /** Time that a client may be without a complete answer: since it connected, asked, or had its last one. */
  readonly answerMs: number;
  /**
   * Time after which an event stream is closed whose client has read nothing. When the limit of streams is reached, the
   * oldest stream makes room once it is this old.
   */
  readonly streamMs: number;
  /** Time that nodes may take to say what the account has: less than `answerMs`. */
  readonly balanceMs: number;
  /** Time after which a node is asked again: after an answer, and after none had one. */
  readonly balanceKeptMs: number;
  readonly noBalanceKeptMs: number;
  /** The time between two lines of the log about what was refused. */
  readonly logMs: number;
}

/**
 * Together with `checkMs`, a request has 5 s, and an answer or a stream that is not read keeps its connection for 15 s.
 */
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

/* Why the HTTP server refuses requests and connections. */

/**
 * Most are codes of error answers. Clients are cut off without an answer for `crowded`, `pipelined`, `unread`, and some
 * of `timeout`.
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

/** Digests have equal lengths, so that a comparison takes the same time for every token. */
const digest = (text: string) => createHash('sha256').update(text).digest();

/** @returns a function that says whether an Authorization header carries the token */
export function bearerCheck(token: string): (header: string | undefined) => boolean {
  const expected = digest(token);
  return (header) => {
    const [, given] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

/*
 * Decides which Host headers are accepted. A page of any website can have its name resolved to 127.0.0.1 (DNS
 * rebinding) and then read what is served there as if it were its own. The Host header reveals this, because the
 * website's name is in it.
 */

interface HostRule {
  /** The host that is listened on. */
  readonly host: string;
  /** The machine's own name. */
  readonly hostname: string;
}

/**
 * A server that other machines reach requires a token, and may be asked under any address, because addresses cannot be
 * rebound. The port is ignored: a tunnel may have another one.
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
 * Whether another website's page makes the request: browsers say so. Without this check a page could pause a miner on
 * its visitor's machine, though it could not read the answer. Following a link to the miner is fine.
 */
export function isForeign({ method, host, origin, site, mode }: AskedBy): boolean {
  if (origin !== undefined) return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
  if (method === 'GET' && mode === 'navigate') return false;
  return site === 'cross-site' || site === 'same-site';
}

/* Headers of every answer: nothing may be loaded from another site, kept, or framed. */

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
  // Figures are those of this moment. An answer that may be kept overrides this.
  'cache-control': 'no-store',
};

/* Every error has one shape: `{"error": {"code", "message"}}`. */

export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly code: ErrorCode;

  /** @param message says what to do */
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

/** What fastify says about a request may be sent to the client. An internal fault may not: it belongs in the log. */
export function asHttpError(fault: unknown): HttpError {
  if (fault instanceof HttpError) return fault;
  const { statusCode = 500, message } = fault as Partial<FastifyError>;
  if (statusCode < 400 || statusCode >= 500)
    return new HttpError(500, 'internal', 'something went wrong; the log says what');
  return new HttpError(statusCode, CODES[statusCode] ?? 'bad-request', message ?? 'bad request');
}

/** The status for something that is not a request, by the code that Node.js gives it. */
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
