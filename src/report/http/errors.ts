/** Every error has one shape: `{"error": {"code", "message"}}`. */

import type { FastifyError } from 'fastify';

/** What went wrong, for programs. */
export const ERROR_CODES = [
  'bad-request',
  'body-too-large',
  'forbidden-host',
  'forbidden-origin',
  'headers-too-large',
  'internal',
  'method-not-allowed',
  'no-node',
  'no-such-device',
  'node-failed',
  'not-found',
  'not-json',
  'path-too-long',
  'read-only',
  'timeout',
  'too-many-clients',
  'unauthorized',
  'unavailable',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

interface ErrorBody {
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

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

  get body(): ErrorBody {
    return errorBody(this.code, this.message);
  }
}

function errorBody(code: ErrorCode, message: string): ErrorBody {
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
