/**
 * Limits for the connections of the HTTP server. Node.js limits the time in which a request must arrive. `Connections`
 * cuts off clients that do not read an answer, leave a connection unused, or send a request before the previous answer
 * is complete (pipelining, RFC 9112 §9.3.2, which browsers and scrapers do not use). When there are too many
 * connections, `Connections` cuts off the connection with the earliest deadline. Clients that are cut off get no error,
 * because they might not read it.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/system/clock.ts';
import type { HttpLimits, HttpRefusals, Reason } from './http-access.ts';

/**
 * Received bytes are given to the HTTP parser in pieces of this length. After a client has been cut off, no further
 * piece is parsed.
 */
const PIECE_BYTES = 512;

interface Connection {
  /**
   * Time at which the connection is cut off, in ms of the clock's `monotonicMs`. Each request and the end of each
   * answer set a new deadline.
   */
  deadlineMs: number;
  /** Whether a request has arrived whose answer is not complete. */
  answering: boolean;
}

export class Connections {
  readonly #clock: Clock;
  readonly #limits: HttpLimits;
  readonly #refusals: HttpRefusals;
  readonly #all = new Map<Socket, Connection>();

  constructor(clock: Clock, limits: HttpLimits, refusals: HttpRefusals) {
    this.#clock = clock;
    this.#limits = limits;
    this.#refusals = refusals;
  }

  /** Applies the limits to a server. Call this before the server listens. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.#add(socket));
    server.once('listening', () => {
      const timer = setInterval(() => this.#check(), this.#limits.checkMs).unref();
      server.once('close', () => clearInterval(timer));
    });
  }

  /** Call this at each request. @returns false if the connection has been cut off; then do not serve the request */
  begin({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#all.get(socket);
    if (!connection) return false;
    if (connection.answering) {
      this.#cutOff(socket, 'pipelined');
      return false;
    }
    connection.answering = true;
    connection.deadlineMs = this.#deadlineMs();
    response.once('close', () => {
      connection.answering = false;
      connection.deadlineMs = this.#deadlineMs();
    });
    return true;
  }

  /** Removes the deadline of a connection with an event stream, because event-stream.ts has its own limits. */
  letStream(socket: Socket): void {
    const connection = this.#all.get(socket);
    if (connection) connection.deadlineMs = Number.POSITIVE_INFINITY;
  }

  #add(socket: Socket): void {
    if (this.#all.size >= this.#limits.connections) this.#makeRoom();
    this.#all.set(socket, { deadlineMs: this.#deadlineMs(), answering: false });
    socket.once('close', () => this.#all.delete(socket));
    feedInPieces(socket);
  }

  #deadlineMs(): number {
    return this.#clock.monotonicMs() + this.#limits.answerMs;
  }

  /** Cuts off the connection with the earliest deadline, to make room for a new connection. */
  #makeRoom(): void {
    const [socket] = [...this.#all].reduce((first, each) => (each[1].deadlineMs < first[1].deadlineMs ? each : first));
    this.#cutOff(socket, 'crowded');
  }

  #check(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [socket, { deadlineMs }] of this.#all) if (deadlineMs <= nowMs) this.#cutOff(socket, 'timeout');
  }

  #cutOff(socket: Socket, reason: Reason): void {
    this.#refusals.note(reason, socket.remoteAddress);
    this.#all.delete(socket);
    socket.destroy();
  }
}

function feedInPieces(socket: Socket): void {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
  socket.off('data', parse);
  socket.on('data', (bytes: Buffer) => {
    // A socket is no longer writable after it has been cut off or has had its last answer.
    for (let at = 0; at < bytes.length && socket.writable; at += PIECE_BYTES) {
      parse.call(socket, bytes.subarray(at, at + PIECE_BYTES));
    }
  });
}
