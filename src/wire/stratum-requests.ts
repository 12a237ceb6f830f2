/**
 * What a stratum client asks and what a server says: one JSON object a line. `stratum.ts` has the numbers in these messages.
 * Pure.
 */

import { z } from 'zod';

/** A request's parameters. Clients send lists; what is no list counts as an empty one. */
const Request = z.object({
  /** It is echoed whatever its type is. */
  id: z.unknown().optional(),
  method: z.string().max(64),
  params: z.array(z.unknown()).catch([]),
});

export interface Request {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a line of a client is: a request, an answer to something that the server said, or neither. */
export type ClientLine =
  | { readonly kind: 'request'; readonly request: Request }
  | { readonly kind: 'answer' }
  | { readonly kind: 'junk'; readonly id: unknown };

export function parseClientLine(line: string): ClientLine {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return { kind: 'junk', id: null };
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return { kind: 'junk', id: null };
  const { success, data } = Request.safeParse(message);
  if (success) return { kind: 'request', request: { ...data, id: data.id ?? null } };
  if (!('method' in message) && ('result' in message || 'error' in message)) return { kind: 'answer' };
  return { kind: 'junk', id: 'id' in message ? message.id : null };
}

/**
 * The error codes of stratum. Pools disagree about 21 to 23; these are Bitcoin's, with 21 also for stale shares.
 * The words tell `stale` from `job not found`.
 */
export const STRATUM_ERROR = {
  other: 20,
  jobNotFound: 21,
  duplicate: 22,
  lowDifficulty: 23,
  unauthorized: 24,
  notSubscribed: 25,
} as const;

/** @returns a line, with its end */
export function formatResult(id: unknown, result: unknown): string {
  return `${JSON.stringify({ result, error: null, id })}\n`;
}

/** @returns a line, with its end */
export function formatError(id: unknown, code: number, words: string): string {
  return `${JSON.stringify({ result: null, error: [code, words, null], id })}\n`;
}

/** @param targetHex 64 hex digits, big-endian @returns a line, with its end */
export function formatSetTarget(targetHex: string): string {
  return `${JSON.stringify({ method: 'mining.set_target', params: [targetHex], id: null })}\n`;
}

/**
 * @param headerHex 572 hex digits
 * @param clean whether the client shall drop its earlier jobs
 * @returns a line, with its end
 */
export function formatNotify(jobId: string, headerHex: string, clean: boolean): string {
  return `${JSON.stringify({ method: 'mining.notify', params: [jobId, headerHex, clean], id: null })}\n`;
}
