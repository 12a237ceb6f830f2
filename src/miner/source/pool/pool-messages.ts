/** Reads the lines of a pool, writes the lines to it, and describes the errors of a connection. Pure. */

import { z } from 'zod';
import { rootOf, speaksNoTls, whyUnreachable } from '../../../base/net/connecting.ts';
import type { PoolAddress } from '../../../base/text/addresses.ts';
import { jsonOrUndefined, oneLine } from '../../../base/text/plain-text.ts';
import { MOST_MESSAGES, MOST_SHOWN } from './pool-limits.ts';

/** An answer to a request. Its values are not checked. */
export interface Answer {
  readonly result: unknown;
  /** Undefined if the pool reported no error. */
  readonly error: unknown;
}

export type Message =
  | ({ readonly kind: 'answer'; readonly id: unknown } & Answer)
  | { readonly kind: 'call'; readonly id: unknown; readonly method: string; readonly params: readonly unknown[] };

const Line = z.looseObject({
  /** An id of another type does not occur. It is read as null, so that no answer has to repeat it. */
  id: z.union([z.string(), z.number()]).nullish().catch(null),
  method: z.string().max(128).nullish(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

/** @returns undefined if the line is not a message */
export function parseMessage(line: string): Message | undefined {
  const { success, data } = Line.safeParse(jsonOrUndefined(line));
  if (!success) return undefined;
  const { id, method, params, result, error } = data;
  if (typeof method === 'string') return { kind: 'call', id, method, params: Array.isArray(params) ? params : [] };
  // A line with an id, but without a result and an error, may come from a broken server. It counts as an answer that
  // neither accepts nor refuses.
  if (!('result' in data) && !('error' in data) && (id === null || id === undefined)) return undefined;
  return { kind: 'answer', id, result, error: isError(error) ? error : undefined };
}

/** Some servers write the absence of an error as an empty list or object, or as `false`, 0 or an empty text. */
function isError(error: unknown): boolean {
  return typeof error === 'object' && error !== null ? Object.keys(error).length > 0 : Boolean(error);
}

export function requestLine(id: number, method: string, params: readonly unknown[]): string {
  return `${JSON.stringify({ id, method, params })}\n`;
}

export function answerLine(id: unknown, result: unknown, error: unknown = null): string {
  return `${JSON.stringify({ id, result, error })}\n`;
}

/** An error's message and code. Pools send `[code, message, …]`, `{ code, message }` or a text. */
export interface Complaint {
  readonly code: number | undefined;
  readonly text: string;
}

export function complaintOf(error: unknown): Complaint {
  if (typeof error === 'string') return { code: undefined, text: error };
  const [code, text] = Array.isArray(error) ? error : partsOf(error);
  return { code: typeof code === 'number' ? code : undefined, text: typeof text === 'string' ? text : '' };
}

function partsOf(error: unknown): unknown[] {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return [code, message];
}

const Job = z.tuple([z.union([z.string().min(1).max(128), z.number()]), z.string().max(4096)]).rest(z.unknown());

interface Notice {
  /** The pool's name for the job, which a share repeats. */
  readonly job: string | number;
  readonly header: string;
  /** Whether all earlier jobs are worthless now; undefined if the message has no such flag. */
  readonly clean: boolean | undefined;
}

/** @returns undefined if the parameters are not those of a job */
export function parseNotice(params: readonly unknown[]): Notice | undefined {
  const { success, data } = Job.safeParse(params);
  if (!success) return undefined;
  const [job, header, clean] = data;
  return { job, header, clean: typeof clean === 'boolean' ? clean : undefined };
}

const Port = z.coerce.number().int().min(1).max(65_535);
const RECONNECT = z
  .tuple([])
  .rest(z.unknown())
  .transform(([host, port, wait]) => ({
    host: typeof host === 'string' && /^[\w.:-]{1,253}$/.test(host) ? host : undefined,
    port: Port.safeParse(port).data,
    waitMs: typeof wait === 'number' && wait > 0 ? wait * 1000 : 0,
  }));

/** @returns what `client.reconnect` asks for. If the host or the port is absent or invalid, the present one is kept */
export function parseReconnect(params: readonly unknown[]): { host?: string; port?: number; waitMs: number } {
  const { host, port, waitMs } = RECONNECT.parse(params);
  return { ...(host !== undefined && { host }), ...(port !== undefined && { port }), waitMs };
}

/**
 * `network`: a new connection may work soon. `refused`: something must be changed, or a ban must run out. `intended`:
 * pickaxe closed the connection, or the pool asked for a new one, so nothing is wrong.
 */
export type PoolFault = 'network' | 'refused' | 'intended';

export class PoolError extends Error {
  override readonly name = 'PoolError';
  readonly fault: PoolFault;
  /** The fingerprint of the pool's certificate, if the certificate is not trusted. */
  readonly fingerprint: string | undefined;
  /** The new connection that the pool asks for, if it asks for one. */
  readonly next: Reconnect | undefined;

  constructor(fault: PoolFault, message: string, more: { fingerprint?: string | undefined; next?: Reconnect } = {}) {
    super(message);
    this.fault = fault;
    this.fingerprint = more.fingerprint;
    this.next = more.next;
  }
}

/** Thrown for a message that cannot be read. The message is skipped. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

export interface Reconnect {
  readonly address: PoolAddress;
  /** Whether the next address must be public. It must if the pool that asks for the connection has a public address. */
  readonly mustBePublic: boolean;
  readonly waitMs: number;
}

/**
 * @param url the pool's URL
 * @param isNew whether the error occurred while the connection was being opened
 * @returns an error with a message for people
 */
export function connectionError(cause: unknown, url: string, isNew = false): PoolError {
  if (cause instanceof PoolError) return cause;
  const { code, name: kind, message } = rootOf(cause);
  const why = kind === 'TimeoutError' ? whyUnreachable('ETIMEDOUT', 'pool') : whyUnreachable(code, 'pool');
  if (why !== undefined) return new PoolError('network', `cannot reach ${url}${code && ` (${code})`}: ${why}`);
  if (speaksNoTls(code)) {
    return new PoolError('refused', 'the pool does not speak TLS: use stratum+tcp:// instead of stratum+ssl://.');
  }
  const mayBePlain = isNew && url.startsWith('stratum+ssl:');
  const hint = mayBePlain
    ? ' Does this port speak TLS? If it does not, use stratum+tcp:// instead of stratum+ssl://.'
    : '';
  return new PoolError('network', `the connection to ${url} broke (${quote(code === '' ? message : code)}).${hint}`);
}

/** @param why a sentence without its full stop */
export function unusable(why: string): PoolError {
  return new PoolError('refused', `the pool cannot be used: ${why}.`);
}

/** @returns a pool's text as one short, printable line */
export function quote(text: string): string {
  return oneLine(text, MOST_SHOWN);
}

/** @returns a pool's JSON as one short, printable line */
export function quoteJson(value: unknown): string {
  try {
    return quote(JSON.stringify(value) ?? '');
  } catch {
    // JSON.parse accepts thousands of nested levels, but JSON.stringify exceeds the stack with them.
    return 'something that is nested too deep';
  }
}

/** Whether the text is about a ban of this miner. */
function isAboutBan(text: string): boolean {
  return /\bbann(ed|ing)\b|\bban\b|black-?list|\bblocked\b/i.test(text);
}

/** Shows a limited number of a pool's messages to people, and keeps the pool's last text about a ban. */
export class PoolNotices {
  readonly #show: (text: string) => void;
  #last = '';
  #shown = 0;
  #ban: string | undefined;

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  /** The pool's last text about a ban; undefined if there was none. */
  get ban(): string | undefined {
    return this.#ban;
  }

  /** Shows a text, unless it is empty or the same as the last shown text, or `MOST_MESSAGES` texts were shown. */
  show(text: unknown): void {
    if (typeof text !== 'string') return;
    this.note(text);
    const line = quote(text);
    if (line === '' || line === this.#last || this.#shown === MOST_MESSAGES) return;
    this.#last = line;
    this.#shown += 1;
    this.#show(`the pool says: “${line}”`);
  }

  note(text: string): void {
    if (isAboutBan(text)) this.#ban = quote(text);
  }
}
