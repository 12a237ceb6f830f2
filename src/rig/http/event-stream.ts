/**
 * Server-sent events (HTML Standard §9.2): the events of `--json` as they happen, and a `status` every second; without
 * clients, nothing is computed. Clients that read too slowly are dropped. A client that never reads is detected only
 * after the system has buffered megabytes for it. So a new client at the limit of streams replaces the oldest stream;
 * browsers connect again.
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
/** Time between SSE comments, which keep the connection alive even when a status is late. */
const HEARTBEAT_MS = 15_000;
/** Maximum of unread bytes beside the system's own buffers: minutes of events. */
const MOST_UNREAD_BYTES = 256 * 1024;
/** Time after which a browser connects again. */
const RETRY_MS = 3_000;

interface Client {
  readonly joinedMs: number;
  /** Last time at which no data was waiting to be sent to the client. */
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

  /** @throws HttpError when all streams are in use, and none is old enough to make room */
  join(reply: FastifyReply): FastifyReply {
    const nowMs = this.#clock.monotonicMs();
    if (this.#clients.size >= this.#limits.streams) this.#makeRoom(nowMs);
    reply.hijack();
    const client = reply.raw;
    client.writeHead(200, {
      ...HEADERS,
      'content-type': `${EVENT_STREAM}; charset=utf-8`,
      // Without this, some proxies hold the stream back until it ends.
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
