/**
 * Server-sent events (HTML Standard §9.2): the events of `--json` as they happen, and a `status` at once and then every
 * second. Without clients, nothing is computed. A client that reads too slowly is disconnected, but a client that never
 * reads is noticed only after the system has buffered megabytes for it. So, while all streams are in use, a new client
 * replaces the oldest stream if this stream is at least `streamMs` old. Browsers then connect again.
 */

import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../base/system/clock.ts';
import { jsonText } from '../../base/text/plain-text.ts';
import type { Events, MinerEvent } from '../../miner/events/events.ts';
import { JsonLines } from '../log/json-lines.ts';
import type { Status } from '../status/status.ts';
import type { StatusEvent } from './api-answers.ts';
import { HEADERS, HttpError, type HttpLimits, type HttpRefusals, type Reason } from './http-access.ts';
import { EVENT_STREAM } from './route.ts';

const STATUS_MS = 1_000;
/** Time between two SSE comments, which keep a connection alive even if a status is late. */
const HEARTBEAT_MS = 15_000;
/** Maximum number of bytes that wait in this process for a client, in addition to the system's buffers. */
const MOST_UNREAD_BYTES = 256 * 1024;
/** Time after which a browser connects again when its stream has ended. */
const RETRY_MS = 3_000;

interface Client {
  readonly joinedMs: number;
  /** Last time at which no data was waiting for the client, in ms of the clock's `monotonicMs`. */
  readMs: number;
}

export class EventStream {
  readonly #events: Events;
  readonly #clock: Clock;
  readonly #status: () => Status;
  readonly #limits: HttpLimits;
  readonly #refusals: HttpRefusals;
  /** The clients, the oldest first. */
  readonly #clients = new Map<ServerResponse, Client>();
  readonly #lines: JsonLines;
  #name = '';
  #leave: () => void = () => {};

  constructor(
    events: Events,
    clock: Clock,
    status: () => Status,
    { limits, refusals }: { readonly limits: HttpLimits; readonly refusals: HttpRefusals },
  ) {
    this.#events = events;
    this.#clock = clock;
    this.#status = status;
    this.#limits = limits;
    this.#refusals = refusals;
    this.#lines = new JsonLines((line) => this.#send(`event: ${this.#name}\ndata: ${line}\n`), clock);
  }

  /** Starts a stream. @throws HttpError when all streams are in use and the oldest is younger than `streamMs` */
  join(reply: FastifyReply): FastifyReply {
    const nowMs = this.#clock.monotonicMs();
    if (this.#clients.size >= this.#limits.streams) this.#makeRoom(nowMs);
    reply.hijack();
    const client = reply.raw;
    client.writeHead(200, {
      ...HEADERS,
      'content-type': `${EVENT_STREAM}; charset=utf-8`,
      // Without this header, some proxies hold back a stream until it ends.
      'x-accel-buffering': 'no',
    });
    client.write(`retry: ${RETRY_MS}\n\n${this.#statusEvent()}`);
    this.#clients.set(client, { joinedMs: nowMs, readMs: nowMs });
    client.on('error', () => {});
    client.once('close', () => this.#part(client));
    if (this.#clients.size === 1) this.#begin();
    return reply;
  }

  close(): void {
    for (const client of this.#clients.keys()) client.end();
  }

  #begin(): void {
    const unsubscribe = this.#events.on((event) => this.#sendEvent(event));
    const timers = [
      setInterval(() => {
        this.#dropUnread();
        this.#send(this.#statusEvent());
      }, STATUS_MS),
      setInterval(() => this.#send(': still here\n\n'), HEARTBEAT_MS),
    ];
    this.#leave = () => {
      unsubscribe();
      for (const timer of timers) clearInterval(timer);
    };
  }

  #part(client: ServerResponse): void {
    if (this.#clients.delete(client) && this.#clients.size === 0) this.#leave();
  }

  #drop(client: ServerResponse, reason: Reason): void {
    this.#refusals.note(reason, client.socket?.remoteAddress);
    client.destroy();
    this.#part(client);
  }

  #makeRoom(nowMs: number): void {
    const { streams, streamMs } = this.#limits;
    const [[client, { joinedMs }]] = this.#clients;
    if (nowMs - joinedMs < streamMs) {
      throw new HttpError(503, 'too-many-clients', `all ${streams} event streams are in use; close one of them`);
    }
    this.#drop(client, 'crowded');
  }

  #dropUnread(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [client, state] of this.#clients) {
      if (client.writableLength === 0) state.readMs = nowMs;
      else if (nowMs - state.readMs >= this.#limits.streamMs) this.#drop(client, 'unread');
    }
  }

  #sendEvent(event: MinerEvent): void {
    this.#name = event.type;
    this.#lines.listen(event);
  }

  #statusEvent(): string {
    return `event: status\ndata: ${jsonText({ type: 'status', ...this.#status() } satisfies StatusEvent)}\n\n`;
  }

  #send(text: string): void {
    for (const client of this.#clients.keys()) {
      if (client.writableLength > MOST_UNREAD_BYTES) this.#drop(client, 'unread');
      else client.write(text);
    }
  }
}
