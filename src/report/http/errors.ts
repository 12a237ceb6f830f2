/** Every error has one shape: `{"error": {"code", "message"}}`. */

import type { FastifyError } from 'fastify';

export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly code: string;

  /** @param code for programs; the message says what to do */
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  get body(): { error: { code: string; message: string } } {
    return errorBody(this.code, this.message);
  }
}

function errorBody(code: string, message: string): { error: { code: string; message: string } } {
  return { error: { code, message } };
}

const CODES: Readonly<Record<number, string>> = {
  400: 'bad_request',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'timeout',
  413: 'body_too_large',
  414: 'path_too_long',
  415: 'not_json',
  431: 'headers_too_large',
  503: 'unavailable',
};

/** What fastify says about a request may be told to the client. An internal fault may not: it belongs in the log. */
export function asHttpError(fault: unknown): HttpError {
  if (fault instanceof HttpError) return fault;
  const { statusCode = 500, message } = fault as Partial<FastifyError>;
  if (statusCode < 400 || statusCode >= 500)
    return new HttpError(500, 'internal', 'something went wrong; the log says what');
  return new HttpError(statusCode, CODES[statusCode] ?? 'bad_request', message ?? 'bad request');
}

/** The status for something that is not a request, by the code that Node.js gives it. */
function statusOfClientError(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

export function codeOfClientError(code: string | undefined): string {
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
