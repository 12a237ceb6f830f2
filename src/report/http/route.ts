/** A route: one thing that can be asked for. The server and the OpenAPI document are made from a list of routes. */

import type { FastifyReply } from 'fastify';
import type { z } from 'zod';

/** The media type of server-sent events (HTML Standard §9.2). */
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
  /** Changes something, which has to be allowed. */
  readonly controls?: true;
  readonly query?: z.ZodType<Record<string, unknown>>;
  readonly body?: z.ZodType<Record<string, unknown>>;
  /** What is answered, by status: a schema for JSON, or a media type; undefined for an empty body. */
  readonly answers: Readonly<Record<number, z.ZodType | string | undefined>>;
  /** @returns what is answered as JSON; undefined when `reply` was used */
  answer(ask: Ask, reply: FastifyReply): unknown;
}

/** A route that answers with JSON of its schema's type. */
export function json<Schema extends z.ZodType>(
  path: string,
  summary: string,
  schema: Schema,
  answer: (ask: Ask) => z.infer<Schema> | Promise<z.infer<Schema>>,
): Route {
  return { method: 'GET', path, summary, answers: { 200: schema }, answer };
}
