/** The lines that a pool sends: answers to our requests, and calls of its own. Pure. */

import { z } from 'zod';

/** An answer. Nothing is known of its values yet. */
export interface Answer {
  readonly result: unknown;
  /** Undefined when the pool reported no error. */
  readonly error: unknown;
}

export type Message =
  | ({ readonly kind: 'answer'; readonly id: unknown } & Answer)
  | { readonly kind: 'call'; readonly id: unknown; readonly method: string; readonly params: readonly unknown[] };

const Line = z.looseObject({
  /** Ids of other types exist nowhere, and an answer would have to repeat them. */
  id: z.union([z.string(), z.number()]).nullish().catch(null),
  method: z.string().max(128).nullish(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

/** @returns the message of a line; undefined when the line is none */
export function parseMessage(line: string): Message | undefined {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { success, data } = Line.safeParse(json);
  if (!success) return undefined;
  const { id, method, params, result, error } = data;
  if (typeof method === 'string') return { kind: 'call', id, method, params: Array.isArray(params) ? params : [] };
  if (!('result' in data) && !('error' in data)) return undefined;
  return { kind: 'answer', id, result, error: isError(error) ? error : undefined };
}

/** Some servers write the absence of an error as an empty list or object, or as `false`, 0 or an empty text. */
function isError(error: unknown): boolean {
  return typeof error === 'object' && error !== null ? Object.keys(error).length > 0 : Boolean(error);
}

/** @returns a line with a request. `params` are JSON */
export function requestLine(id: number, method: string, params: readonly unknown[]): string {
  return `${JSON.stringify({ id, method, params })}\n`;
}

/** @returns a line with the answer to a call. `id` is the call's */
export function answerLine(id: unknown, result: unknown, error: unknown = null): string {
  return `${JSON.stringify({ id, result, error })}\n`;
}

/** The message of an error, and its code. Pools send `[code, message, …]`, `{ code, message }` or a text. */
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
  if (typeof error !== 'object' || error === null) return [];
  const { code, message } = error as { code?: unknown; message?: unknown };
  return [code, message];
}

const Job = z.tuple([z.union([z.string().min(1).max(128), z.number()]), z.string().max(4096)]).rest(z.unknown());

/** A job as `mining.notify` tells it. */
export interface Notice {
  /** The pool's name for the job, which a share repeats. */
  readonly job: string | number;
  readonly header: string;
  /** Whether all earlier jobs are worthless now; undefined when the pool does not say. */
  readonly clean: boolean | undefined;
}

/** @returns undefined when the parameters are not those of a job */
export function parseNotice(params: readonly unknown[]): Notice | undefined {
  const { success, data } = Job.safeParse(params);
  if (!success) return undefined;
  const [job, header, clean] = data;
  return { job, header, clean: typeof clean === 'boolean' ? clean : undefined };
}

const Port = z.coerce.number().int().min(1).max(65_535);
const Reconnect = z
  .tuple([])
  .rest(z.unknown())
  .transform(([host, port, wait]) => ({
    host: typeof host === 'string' && /^[\w.:-]{1,253}$/.test(host) ? host : undefined,
    port: Port.safeParse(port).data,
    waitMs: typeof wait === 'number' && wait > 0 ? wait * 1000 : 0,
  }));

/** @returns what `client.reconnect` asks for. Where it names no host or no port, they stay the same */
export function parseReconnect(params: readonly unknown[]): { host?: string; port?: number; waitMs: number } {
  const { host, port, waitMs } = Reconnect.parse(params);
  return { ...(host !== undefined && { host }), ...(port !== undefined && { port }), waitMs };
}
