/**
 * The server's connections, and what each may cost. Node.js bounds how long a request takes to arrive. This bounds what a
 * client costs that asks again before it has its answer (pipelining, RFC 9112 §9.3.2, which no browser and no scraper
 * does), does not read its answer, or keeps a connection open without using it. It is disconnected without an answer,
 * because the answer would wait, too.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../system/clock.ts';
import type { HttpLimits } from './limits.ts';
import type { HttpRefusals, Reason } from './refusals.ts';

/** The parser gets bytes in pieces of this length: a client that is cut off costs no more than the requests in one piece. */
const PIECE_BYTES = 512;

interface Connection {
  /** The client must have read its next answer by then. */
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

  /** Watches the server from its start to its end. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.#add(socket));
    server.once('listening', () => {
      const timer = setInterval(() => this.#check(), this.#limits.checkMs).unref();
      server.once('close', () => clearInterval(timer));
    });
  }

  /** @returns whether a request may be answered; if not, its connection has been cut off */
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

  /** Exempts a connection whose answer is an event stream, which has rules of its own. */
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

  /** Cuts off the connection that has gone without an answer for the longest time, so that a new client can ask. */
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
    // A socket that is not writable any more was cut off, or has got its last answer.
    for (let at = 0; at < bytes.length && socket.writable; at += PIECE_BYTES) {
      parse.call(socket, bytes.subarray(at, at + PIECE_BYTES));
    }
  });
}
