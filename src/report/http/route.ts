/** One thing that can be asked for: from a list of these come the server and the OpenAPI document. */

import type { FastifyReply } from 'fastify';
import type { z } from 'zod';

/** The media type of an answer that goes on as long as it is read (HTML Standard §9.2). */
export const EVENT_STREAM = 'text/event-stream';

export interface Ask {
  /** Checked against the route's schemas. */
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown>;
  readonly ifNoneMatch: string | undefined;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** For people. */
  readonly summary: string;
  /** Needs no token. */
  readonly open?: true;
  /** Changes something: has to be allowed. */
  readonly controls?: true;
  readonly query?: z.ZodType<Record<string, unknown>>;
  readonly body?: z.ZodType<Record<string, unknown>>;
  /** What is answered, by status: a JSON schema's origin, or a media type; undefined for nothing. */
  readonly answers: Readonly<Record<number, z.ZodType | string | undefined>>;
  /** @returns what is answered as JSON; undefined when `reply` was used */
  answer(ask: Ask, reply: FastifyReply): unknown;
}

/** The type of a JSON answer is its schema's. */
export function json<Schema extends z.ZodType>(
  path: string,
  summary: string,
  schema: Schema,
  answer: (ask: Ask) => z.infer<Schema>,
): Route {
  return { method: 'GET', path, summary, answers: { 200: schema }, answer };
}
