/**
 * The connections of the HTTP server. Node.js limits the time in which a request must arrive. `Connections` disconnects
 * clients that do not read their answer, leave a connection unused, or send a request before they have the previous
 * answer (pipelining, RFC 9112 §9.3.2, which no browser and no scraper uses). It sends them no error, because they
 * might not read that, either.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/system/clock.ts';
import type { HttpLimits, HttpRefusals, Reason } from './http-access.ts';

/** Length of the pieces that the parser gets. After a client is cut off, at most the rest of one piece is parsed. */
const PIECE_BYTES = 512;

interface Connection {
  /** Deadline for reading the next answer, on the clock's `monotonicMs`. */
  deadlineMs: number;
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

  /** Call this before the server listens. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.#add(socket));
    server.once('listening', () => {
      const timer = setInterval(() => this.#check(), this.#limits.checkMs).unref();
      server.once('close', () => clearInterval(timer));
    });
  }

  /** Call this at each request. @returns false when the connection has been cut off: do not serve the request */
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

  /** Exempts an event stream from the deadline: event-stream.ts limits it. */
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

  /** Cuts off the connection with the earliest deadline, in favour of a new client. */
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
    // A socket stops being writable when it is cut off or has its last answer.
    for (let at = 0; at < bytes.length && socket.writable; at += PIECE_BYTES) {
      parse.call(socket, bytes.subarray(at, at + PIECE_BYTES));
    }
  });
}
