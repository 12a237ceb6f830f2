/** The errors of the API: one kind for each reaction that makes sense. */

import { z } from 'zod';
import { LedgerFormatError, parseExactJson } from '../../ledger/json.ts';
import { NodeError, quote } from '../errors.ts';
import type { AnyAnswer } from '../http.ts';

export type ApiErrorKind =
  /** 400: the request itself is wrong, or what it asks for is not allowed. */
  | 'bad request'
  /** 401: the node does not let us do this. */
  | 'unauthorized'
  /** 404: what was asked for is not there, or the node serves nothing at this path. */
  | 'not found'
  /** 406: the node cannot answer in the format that was asked for. */
  | 'not acceptable'
  /** 408, or no answer came in time. */
  | 'timed out'
  /** 429. */
  | 'too many requests'
  /** 5xx, or the connection broke. */
  | 'failed'
  /** Another status that is not 2xx. */
  | 'refused'
  /** No connection was made. */
  | 'unreachable'
  /** The answer is not what the specification says, or what was asked for. */
  | 'not understood'
  /** The answer is about another network than the one that was asked for. */
  | 'other network'
  /** The URL of the side of the node that serves this was not given. */
  | 'no such side';

export interface ApiErrorDetails extends ErrorOptions {
  readonly status?: number | undefined;
  readonly text?: string;
  readonly key?: string | undefined;
  readonly reason?: string | undefined;
  readonly network?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly retryable?: boolean;
  readonly mayHaveBeenTaken?: boolean;
}

export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly kind: ApiErrorKind;
  /** The status of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** What the node said, at most 16,384 characters. Foreign: make it safe before showing it. The message is safe. */
  readonly text: string;
  /** Of a 404: what was not found, if the node said so (document 1, "Not-found body"). Foreign, as the reason. */
  readonly key: string | undefined;
  readonly reason: string | undefined;
  /** Of `other network`: the one that the node serves. Foreign. */
  readonly network: string | undefined;
  /** The pause that the node has asked for (`retry-after`). */
  readonly retryAfterMs: number | undefined;
  /** Whether the same request may succeed a moment later. The client has then sent it several times already. */
  readonly retryable: boolean;
  /** Whether the node may have carried out the request all the same, or an earlier attempt of it. */
  mayHaveBeenTaken: boolean;

  constructor(kind: ApiErrorKind, message: string, details: ApiErrorDetails = {}) {
    super(message, details);
    this.kind = kind;
    this.status = details.status;
    this.text = details.text ?? '';
    this.key = details.key;
    this.reason = details.reason;
    this.network = details.network;
    this.retryAfterMs = details.retryAfterMs;
    this.retryable = details.retryable ?? false;
    this.mayHaveBeenTaken = details.mayHaveBeenTaken ?? false;
  }
}

/** What each kind of status means, as it follows the node's name in a message. */
const WORDS = {
  'bad request': 'cannot do what was asked for',
  unauthorized: 'does not let us do this',
  'not found': 'has nothing there',
  'not acceptable': 'cannot answer in the format that was asked for',
  'timed out': 'has waited too long',
  'too many requests': 'gets too many requests',
  failed: 'failed',
  refused: 'refuses the request',
} as const;

const KINDS: ReadonlyMap<number, keyof typeof WORDS> = new Map([
  [400, 'bad request'],
  [401, 'unauthorized'],
  [404, 'not found'],
  [406, 'not acceptable'],
  [408, 'timed out'],
  [429, 'too many requests'],
]);

/** The statuses besides 5xx that may be another one a moment later, as the reference client has them. */
const PASSING: ReadonlySet<number> = new Set([408, 423, 425, 429]);

const MAX_TEXT = 16_384;
const NotFound = z.object({ key: z.string().optional(), reason: z.string().optional() });

/**
 * @param where for people: the URL of the request, shortened
 * @param hide removes from a text what must not be shown
 */
export function statusError(answer: AnyAnswer, where: string, hide: (text: string) => string): ApiError {
  const { status, byNode, retryAfterMs } = answer;
  const kind = KINDS.get(status) ?? (status >= 500 ? 'failed' : 'refused');
  const text = textOf(answer.body);
  const { key, reason } = status === 404 ? notFound(text) : {};
  const said = text === '' ? '' : `: "${quote(hide(text))}"`;
  // Real nodes refuse clients that ask too often before they add their headers.
  const isOfNode = byNode || status === 429 || status >= 500;
  const hint = isOfNode ? '' : ' The headers of a node are missing: is the URL right?';
  return new ApiError(kind, `${where} ${WORDS[kind]} (${status}${said}).${hint}`, {
    status,
    text,
    key,
    reason,
    retryAfterMs,
    retryable: status >= 500 || PASSING.has(status),
    mayHaveBeenTaken: status >= 500 || status === 408,
  });
}

/** @param where for people: the URL of the request, shortened */
export function transportError(error: unknown, where: string): ApiError {
  if (!(error instanceof NodeError)) throw error;
  const { fault, message, mayHaveBeenTaken } = error;
  const about = { cause: error, mayHaveBeenTaken };
  switch (fault) {
    case 'unreachable':
      return new ApiError('unreachable', message, about);
    case 'no answer':
      return new ApiError('timed out', `${where} did not answer in time.`, { ...about, retryable: true });
    case 'broken':
      return new ApiError('failed', message, { ...about, retryable: true });
    default:
      return new ApiError('not understood', message, about);
  }
}

/** @param error from reading the answer; other errors than a LedgerFormatError are thrown */
export function notUnderstood(error: unknown, answer: AnyAnswer, where: string): ApiError {
  if (!(error instanceof LedgerFormatError)) throw error;
  const hint = answer.byNode ? '' : ' The headers of a node are missing: is there a proxy in between?';
  const message = `The answer of ${where} is not understood: ${quote(error.message)}.${hint}`;
  return new ApiError('not understood', message, { cause: error, status: answer.status, mayHaveBeenTaken: true });
}

/** Some texts come as a JSON string, and some bare. */
function textOf(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, 4 * MAX_TEXT)).slice(0, MAX_TEXT);
  const json = /^\s*"/.test(text) ? jsonOf(text) : undefined;
  return typeof json === 'string' ? json : text.trim();
}

function notFound(text: string): { key?: string | undefined; reason?: string | undefined } {
  return NotFound.safeParse(jsonOf(text)).data ?? {};
}

function jsonOf(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof LedgerFormatError) return undefined;
    throw error;
  }
}
