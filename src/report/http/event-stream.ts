/**
 * Server-sent events (HTML Standard §9.2): what `--json` prints, as it happens, and a `status` every second. Nothing is
 * done while nobody listens; who reads too slowly is dropped, and may come again.
 */

import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { Events, MinerEvent } from '../../events/events.ts';
import { JsonLines } from '../json-lines.ts';
import { HttpError } from './errors.ts';
import { HEADERS } from './headers.ts';

const STATUS_MS = 1_000;
/** Proxies and browsers hear from us that often even if a status should be late. */
const HEARTBEAT_MS = 15_000;
/** Some pages, and some that a proxy has forgotten to close. */
const MOST_CLIENTS = 16;
/** What a client may leave unread beside the system's own buffers: minutes of events. */
const MOST_UNREAD_BYTES = 256 * 1024;
/** When a browser comes again after the stream has ended. */
const RETRY_MS = 3_000;

export class EventStream {
  readonly #events: Events;
  readonly #status: () => object;
  readonly #clients = new Set<ServerResponse>();
  readonly #lines: JsonLines;
  #name = '';
  #leave: () => void = () => {};

  constructor(events: Events, clock: Clock, status: () => object) {
    this.#events = events;
    this.#status = status;
    this.#lines = new JsonLines((line) => this.#send(`event: ${this.#name}\ndata: ${line}\n`), clock);
  }

  /** How many listen. */
  get clients(): number {
    return this.#clients.size;
  }

  /** @throws HttpError when too many listen already */
  join(reply: FastifyReply): FastifyReply {
    if (this.#clients.size >= MOST_CLIENTS) {
      throw new HttpError(503, 'too_many_clients', `${MOST_CLIENTS} listen already; close one of them`);
    }
    reply.hijack();
    const client = reply.raw;
    client.writeHead(200, {
      ...HEADERS,
      'content-type': 'text/event-stream; charset=utf-8',
      // Proxies that would hold it back until it ends.
      'x-accel-buffering': 'no',
    });
    client.write(`retry: ${RETRY_MS}\n\n${this.#statusEvent()}`);
    this.#clients.add(client);
    client.on('error', () => {});
    client.once('close', () => this.#part(client));
    if (this.#clients.size === 1) this.#begin();
    return reply;
  }

  close(): void {
    for (const client of this.#clients) client.end();
  }

  #begin(): void {
    const unsubscribe = this.#events.on((event) => this.#tell(event));
    const timers = [
      setInterval(() => this.#send(this.#statusEvent()), STATUS_MS),
      setInterval(() => this.#send(': still here\n\n'), HEARTBEAT_MS),
    ];
    this.#leave = () => {
      unsubscribe();
      for (const timer of timers) clearInterval(timer);
    };
  }

  #part(client: ServerResponse): void {
    this.#clients.delete(client);
    if (this.#clients.size === 0) this.#leave();
  }

  #tell(event: MinerEvent): void {
    this.#name = event.event;
    this.#lines.listen(event);
  }

  #statusEvent(): string {
    return `event: status\ndata: ${JSON.stringify({ event: 'status', ...this.#status() })}\n\n`;
  }

  #send(text: string): void {
    for (const client of this.#clients) {
      if (client.writableLength > MOST_UNREAD_BYTES) client.destroy();
      else client.write(text);
    }
  }
}
